# SPDX-License-Identifier: BSD-2-Clause
"""All that run, until they have ended."""
import sys

from cluster.output import Output
from launch.session import Sessions
from launch.trouble import stop_check


def say(text):
    try:
        print(f"hearth-cluster: {text}", file=sys.stderr, flush=True)
    except OSError:
        pass  # nobody listens


class Jobs(Sessions):
    def __init__(self, options):
        super().__init__(options.grace)
        self.label = options.label
        self.output = Output()
        self.names = {}  # of a process: its cluster

    def start(self, job, clusters, file):
        process = job.start(clusters, file)
        self.add(process)
        self.names[process] = job.cluster.name
        label = f"{job.cluster.name}: " if self.label else ""
        self.output.add(process, label)

    def note_ended(self):
        first = self.failed()
        if first is None:
            return
        self.output.pass_on(0)  # what it said of it comes first
        say(f"cluster {self.names[first]} has ended with status {self.status}"
            + (f"; the others get {self.grace:g} s" if self.running else ""))

    def wait(self, check):
        """Returns the status.  check() raises when there is other trouble."""
        while self.running:
            self.output.pass_on(0.05)
            self.note_ended()
            stop_check()
            check()
            if self.late():
                for process in self.running:
                    say(f"cluster {self.names[process]} is ended")
                self.end()
        return self.status
