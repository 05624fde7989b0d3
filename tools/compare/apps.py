# SPDX-License-Identifier: BSD-2-Clause
"""The applications: which are there, and what they say of themselves."""
import concurrent.futures
import os
import subprocess
from typing import NamedTuple

from compare.job import output_part
from launch.trouble import Trouble, Wrong

FIRST = ("sor", "mm", "lu", "nqueens")  # Mocha's, before all others
TOOLS = ("checkpoint", "cluster", "compare", "gateway", "info", "perf",
         "report", "run", "wire")
PREFIX = "hearth-"


class App(NamedTuple):
    name: str
    about: str
    by_hand: bool  # the same in plain MPI is in it


def names_find(folder):
    """What may be an application, in the order of the page."""
    try:
        files = os.listdir(folder)
    except OSError as problem:
        raise Wrong(f"--programs {folder}: {problem.strerror}")
    names = sorted(file[len(PREFIX):] for file in files
                   if file.startswith(PREFIX) and "." not in file
                   and file[len(PREFIX):] not in TOOLS
                   and os.access(os.path.join(folder, file), os.X_OK))
    return ([name for name in FIRST if name in names] +
            [name for name in names if name not in FIRST])


def why_not(program, status, lines):
    """What it said is the cause: of MPI, mostly, which could not start it."""
    if status == 0:
        return f"{program} is no application: its --help has no --verify"
    ended = ("did not end within 60 s" if status == 124 else
             f"ended with status {status}")
    said = output_part([line for line in lines if line.strip("- ")])
    return "\n    ".join([f"{program} --help {ended}" +
                          (", and said:" if said else "")] + said)


def app_ask(built, folder, name):
    """From its --help; if that is not an application's, what is wrong, as
    text."""
    environment = {**os.environ, "MPIEXEC": built.launcher,
                   "MPI_FLAVOUR": built.mpi}
    done = subprocess.run(
        ["sh", os.path.join(built.data, "run-mpi"), "--once", "60", "1",
         os.path.join(folder, PREFIX + name), "--help"],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = done.stdout.splitlines()
    if done.returncode != 0 or "--verify" not in done.stdout:
        return why_not(os.path.join(folder, PREFIX + name), done.returncode,
                       lines)
    usage = [n for n, line in enumerate(lines) if line.startswith("Usage:")]
    about = lines[usage[0] + 1] if usage and usage[0] + 1 < len(lines) else ""
    return App(name, about.rstrip("."), any(
        line.split()[:1] == ["--mpi"] for line in lines))


def apps_choose(built, folder, wanted):
    """Those of --apps, which may be all."""
    names = names_find(folder)
    everything = wanted == ["all"]
    unknown = [] if everything else [n for n in wanted if n not in names]
    there = f"there are {', '.join(names)}" if names else "there are none"
    if unknown:
        raise Wrong(f"unknown application '{unknown[0]}'; {there}")
    chosen = names if everything else wanted
    if not chosen:
        raise Trouble(f"no applications in {folder}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        asked = list(pool.map(lambda n: app_ask(built, folder, n), chosen))
    found = [app for app in asked if isinstance(app, App)]
    wrong = [app for app in asked if not isinstance(app, App)]
    if wrong and not (everything and found):
        raise Trouble(wrong[0])
    return found
