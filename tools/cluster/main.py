# SPDX-License-Identifier: BSD-2-Clause
"""The whole: from the command line to the exit status."""
import os

from cluster.job import Job
from cluster.jobs import Jobs, say
from cluster.needs import FOLDER, PREFIX, stale_remove
from cluster.options import options_read
from launch import trouble
from launch.clusters import Cluster, Clusters, machine_check
from launch.trouble import Stopped, Trouble


class Run:
    """The clusters and their jobs; gone at the end of a with statement."""

    def __init__(self, built, options):
        bed = f"{PREFIX}{os.getpid()}"
        members = [Cluster(built, bed, name, number, hosts, options.lan)
                   for number, (name, hosts) in enumerate(
                       zip(options.names, options.hosts))]
        self.all = [Job(built, options, number, cluster)
                    for number, cluster in enumerate(members)]
        self.clusters = Clusters(built, members, options.link, options.cut)
        self.jobs = Jobs(options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.jobs.end()
        self.clusters.end()
        self.jobs.output.end()
        self.clusters.down()

    def run(self):
        self.clusters.up(FOLDER)
        file = self.clusters.file_write([job.ranks() for job in self.all])
        for job in self.all:
            self.jobs.start(job, self.clusters, file)
        return self.jobs.wait(self.clusters.check)


def clusters_run(built):
    options = options_read(built)
    whole = Run(built, options)
    machine_check(options.mpi, len(options.hosts))
    stale_remove(built)
    with whole:
        return whole.run()


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
