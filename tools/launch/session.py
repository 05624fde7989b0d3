# SPDX-License-Identifier: BSD-2-Clause
"""
The end of jobs that are sessions of their own.

Not all of its processes are in the group of its first: a launcher's children
may be in groups of their own.
"""
import os
import signal
import subprocess
import time

TO_END = 5  # seconds between asking a job to end and ending it


def session_members(session):
    members = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii",
                      errors="replace") as file:
                state, _, _, sid = file.read().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        if int(sid) == session and state != "Z":
            members.append(int(entry))
    return members


def variable_read(pid, name):
    """The value in the environment that the process was started with, or None."""
    try:
        with open(f"/proc/{pid}/environ", encoding="utf-8",
                  errors="surrogateescape") as file:
            variables = file.read().split("\0")
    except OSError:
        return None
    return dict(v.partition("=")[::2] for v in variables).get(name)


def session_signal(session, number):
    for pid in session_members(session):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def sessions_end(processes):
    """End the sessions that the processes lead."""
    leaders = [process.pid for process in processes]
    for leader in leaders:
        session_signal(leader, signal.SIGTERM)
    until = time.monotonic() + TO_END
    while (any(session_members(leader) for leader in leaders) and
           time.monotonic() < until):
        for process in processes:
            process.poll()
        time.sleep(0.05)
    for process in processes:
        session_signal(process.pid, signal.SIGKILL)
        process.wait()


class Sessions:
    """Jobs that belong together.  The status of the first that fails is that
    of all, and the others get some seconds to end by themselves."""

    def __init__(self, grace):
        self.grace = grace
        self.running = []  # none of them is seen to have ended
        self.leaders = []  # of sessions that may have processes
        self.status = 0
        self.patience = None

    def add(self, process):
        self.running.append(process)
        self.leaders.append(process)

    def variables(self, name):
        """The values that the processes of these jobs have, each once."""
        return list({value for leader in self.leaders
                     for pid in session_members(leader.pid)
                     if (value := variable_read(pid, name)) is not None})

    def failed(self):
        """Look at them.  Returns that which is the first to fail, once."""
        for process in list(self.running):
            status = process.poll()
            if status is None:
                continue
            self.running.remove(process)
            # The number of a session without processes may be another's soon.
            if not session_members(process.pid):
                self.leaders.remove(process)
            if status != 0 and self.status == 0:
                self.status = status if status > 0 else 128 - status
                self.patience = time.monotonic() + self.grace
                return process
        return None

    def wait(self, seconds):
        """Look at them when the first has ended, or so long has gone by."""
        try:
            self.running[0].wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        self.failed()

    def late(self):
        return (bool(self.running) and self.patience is not None and
                time.monotonic() > self.patience)

    def end(self):
        sessions_end(self.leaders)
        self.running = []
        self.leaders = []
