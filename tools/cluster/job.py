# SPDX-License-Identifier: BSD-2-Clause
"""The job of a cluster: its launcher, program and variables."""
import os
import subprocess

from cluster.needs import launcher_find, program_find
from launch.clusters import handler_ranks


class Job:
    def __init__(self, built, options, number, cluster):
        self.cluster = cluster
        self.per = options.ranks_per_host[number]
        self.mpi = options.mpi[number]
        self.launcher = launcher_find(built, self.mpi)
        self.program = [program_find(built, options, self.mpi)]
        self.program += options.arguments
        self.given = {name: value for member, name, value in options.env
                      if member in (None, cluster.name)}
        self.more = handler_ranks({**os.environ, **self.given})

    def ranks(self):
        return self.cluster.hosts * self.per

    def start(self, clusters, file):
        """A session of its own."""
        environment = {**os.environ, **clusters.files(),
                       **self.cluster.member(file), **self.given,
                       **self.cluster.environment(self.launcher, self.more)}
        return subprocess.Popen(
            self.cluster.bed.command(self.mpi, self.cluster.hosts, self.per,
                                     self.program),
            env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
