# SPDX-License-Identifier: BSD-2-Clause
"""The whole: from the command line to the exit status."""
import os
import tempfile

from cluster.cluster import Cluster, clusters_file_write
from cluster.jobs import Jobs, say
from cluster.link import Wire
from cluster.needs import FOLDER, machine_check, stale_remove
from cluster.options import options_read
from launch import trouble
from launch.bed import Guard
from launch.trouble import Stopped, Trouble, stop_check


class Clusters:
    """All of them and their link; gone at the end of a with statement."""

    def __init__(self, built, options):
        self.built = built
        self.options = options
        self.all = [Cluster(built, options, number)
                    for number in range(len(options.hosts))]
        self.wire = None
        if len(self.all) > 1:
            self.wire = Wire(built, options, self.all)
        self.jobs = Jobs(options)

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}.")
        self.guard = Guard([cluster.bed for cluster in self.all], self.folder)
        return self

    def __exit__(self, *_):
        self.jobs.end()
        for cluster in self.all:
            cluster.bed.end()
        self.jobs.output.end()
        if self.wire is not None:
            self.wire.down()
        self.guard.end()

    def up(self):
        for cluster in self.all:
            cluster.up()
            stop_check()
        if self.wire is not None:
            self.wire.up()
        else:  # who waits for others at that address finds it there
            self.all[0].join("lo", 32)

    def run(self):
        file = clusters_file_write(self.built, self.folder, self.all)
        for cluster in self.all:
            self.jobs.start(cluster, file, self.folder)
        return self.jobs.wait(self.check)

    def check(self):
        if self.wire is not None:
            self.wire.check()


def clusters_run(built):
    options = options_read(built)
    clusters = Clusters(built, options)
    machine_check(options)
    stale_remove(built)
    with clusters:
        clusters.up()
        return clusters.run()


def main(built):
    trouble.stop_take()
    try:
        return clusters_run(built)
    except Stopped:
        return 128 + trouble.asked_by
    except Trouble as problem:
        say(problem)
        return problem.status
    except OSError as problem:
        say(problem)
        return 1
