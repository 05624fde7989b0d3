# SPDX-License-Identifier: BSD-2-Clause
"""
The end of jobs that are sessions of their own.

Not all of its processes are in the group of its first: a launcher's children
may be in groups of their own.
"""
import os
import signal
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
