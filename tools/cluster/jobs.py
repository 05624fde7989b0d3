# SPDX-License-Identifier: BSD-2-Clause
"""All that run, until they have ended."""
import sys
import time

from cluster.output import Output
from launch.session import sessions_end
from launch.trouble import stop_check


def say(text):
    try:
        print(f"hearth-cluster: {text}", file=sys.stderr, flush=True)
    except OSError:
        pass  # nobody listens


class Jobs:
    def __init__(self, options):
        self.label = options.label
        self.grace = options.grace
        self.running = {}  # a process: its cluster
        self.output = Output()
        self.status = 0    # of the first that failed
        self.patience = None

    def start(self, job, clusters, file):
        process = job.start(clusters, file)
        self.running[process] = job.cluster
        label = f"{job.cluster.name}: " if self.label else ""
        self.output.add(process, label)

    def note_ended(self):
        for process, cluster in list(self.running.items()):
            status = process.poll()
            if status is None:
                continue
            del self.running[process]
            if status == 0 or self.status != 0:
                continue
            self.status = status if status > 0 else 128 - status
            self.patience = time.monotonic() + self.grace
            self.output.pass_on(0)  # what it said of it comes first
            say(f"cluster {cluster.name} has ended with status {self.status}" +
                (f"; the others get {self.grace:g} s" if self.running else ""))

    def wait(self, check):
        """Returns the status.  check() raises when there is other trouble."""
        while self.running:
            self.output.pass_on(0.05)
            self.note_ended()
            stop_check()
            check()
            if (self.running and self.patience is not None and
                    time.monotonic() > self.patience):
                for cluster in self.running.values():
                    say(f"cluster {cluster.name} is ended")
                self.end()
        return self.status

    def end(self):
        sessions_end(list(self.running))
        self.running = {}
