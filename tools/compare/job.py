# SPDX-License-Identifier: BSD-2-Clause
"""
One run of a program, and its end.

A run is one job of MPI or several, each a session of its own: a key pressed at
the terminal does not reach it, and when it has to end, all processes of the
session are ended, the launcher's children in groups of their own too.
"""
import contextlib
import glob
import json
import os
import re
import subprocess
import tempfile
import time

from compare.machine import OURS
from compare.plan import HAND
from launch.session import Sessions
from launch.trouble import stop_check

# The line comes before MPI_Finalize, which over TCP now and then never
# returns (see tests/testbed/job); such a run counts, and is not waited for.
AFTER_RESULT = 5
GRACE = 10  # for the other jobs of a run when one has failed


def result_find(output, app):
    """The fields of the result line, or None."""
    lines = re.findall(rf"^(app={re.escape(app)} .*)\n", output, re.MULTILINE)
    if not lines:
        return None
    fields = {}  # an option of the application may be named like another
    for word in lines[-1].split():
        name, _, value = word.partition("=")
        fields.setdefault(name, value)
    try:
        fields["seconds"] = float(fields["seconds"])
        fields["ranks"] = int(fields["ranks"])
        fields["nodes"] = int(fields["nodes"])
    except (KeyError, ValueError):
        return None
    return fields


def stats_read(path):
    """What the library has counted; None if it has not, or not well."""
    try:
        with open(path, encoding="utf-8") as file:
            stats = json.load(file)
    except (OSError, ValueError):
        return None
    finally:
        if os.path.exists(path):
            os.unlink(path)
    return stats if isinstance(stats, dict) else None


class Output:
    """What jobs say: what has come of them, and while they run what their ranks
    have written into the files that run-mpi shows when they have ended."""

    def __init__(self, file, jobs, is_kept):
        self.file = file
        self.jobs = jobs
        self.is_kept = is_kept  # by run-mpi
        self.folders = []

    def read(self):
        self.file.seek(0)
        return self.file.read().decode(errors="replace")

    def read_meanwhile(self):
        if self.is_kept and not self.folders:
            self.folders = self.jobs.variables("MPI_TEST_FILES")
        output = self.read()
        for folder in self.folders:
            for path in self.paths(folder):
                with contextlib.suppress(OSError):  # it is shown now
                    with open(path, encoding="utf-8",
                              errors="replace") as rank:
                        output += "\n" + rank.read()
        return output

    @staticmethod
    def paths(folder):
        """Ranks of a host that has no such folder speak to the launcher."""
        return [os.path.join(folder, "launcher"),
                *glob.glob(os.path.join(glob.escape(folder), "out.*"))]


def output_part(lines):
    """Its first and last lines, which mostly tell the cause."""
    return lines[:4] + lines[4:][-6:]


def jobs_watch(jobs, output, app, timeout, tick):
    """Wait for the end.  Returns what ended it: exit, result or time."""
    began = time.monotonic()
    shown = None  # when the result was
    while True:
        jobs.wait(0.2)
        if not jobs.running or jobs.late():
            return "exit"
        now = time.monotonic()
        if now - began > timeout:
            return "time"
        if shown is None and result_find(output.read_meanwhile(), app):
            shown = now
        if shown is not None and now - shown > AFTER_RESULT:
            return "result"
        stop_check()
        tick(now - began)


def shape_wrong(result, configuration):
    """What is wrong with the ranks and nodes that there were."""
    if result["ranks"] != configuration.ranks:
        return (f"it ran with {result['ranks']} of {configuration.ranks} ranks:"
                " is the launcher that of Hearth's MPI?")
    hosts = configuration.all_hosts()
    if configuration.line() != HAND and result["nodes"] != hosts:
        return (f"it ran on {result['nodes']} of {hosts} hosts:"
                " are they not different ones?")
    return ""


def verdict(ended, status, result, verify, configuration):
    """ok, or how it failed, and why."""
    if ended == "time":
        return "hung", "no end within the time"
    if result is not None and result.get("verify") == "failed":
        return "wrong", "the result is wrong"
    if ended == "exit" and status == 2 and result is None:
        return "refused", "the application refuses that"
    if ended == "exit" and status != 0:
        return "failed", f"exit status {status}"
    if result is None:
        return "failed", "no line with a result"
    if verify and result.get("verify") != "ok":
        return "failed", "the result was not verified"
    why = shape_wrong(result, configuration)
    return ("failed" if why else "ok"), why


def jobs_start(jobs, place, configuration, program, settings, file):
    environment = {name: value for name, value in os.environ.items()
                   if name not in OURS}
    for words, more in place.jobs(configuration, program, settings):
        jobs.add(subprocess.Popen(
            words, env={**environment, **settings, **more},
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            start_new_session=True))


def job_run(place, configuration, program, settings, timeout, tick):
    """Run a program once; returns a record without the configuration."""
    began = time.monotonic()
    jobs = Sessions(GRACE)
    with tempfile.TemporaryFile() as file:
        output = Output(file, jobs, place.by_run_mpi)
        try:
            jobs_start(jobs, place, configuration, program, settings, file)
            ended = jobs_watch(jobs, output, configuration.app, timeout, tick)
        finally:
            jobs.end()
            place.end()
        output = output.read()
    result = result_find(output, configuration.app)
    status, why = verdict(ended, jobs.status, result,
                          "--verify" in program, configuration)
    record = {"status": status, "why": why, "ended": ended, "result": result,
              "seconds": result["seconds"] if status == "ok" else None,
              "wall": round(time.monotonic() - began, 3)}
    if status != "ok":
        record["output"] = output_part(output.splitlines())
    return record
