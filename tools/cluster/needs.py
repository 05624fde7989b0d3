# SPDX-License-Identifier: BSD-2-Clause
"""The launchers and programs, and what the machine has left of others."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

from launch.bed import Bed
from launch.trouble import Wrong

# Names of this process's test hosts, before each cluster's number.
PREFIX = "hcl"
BED = re.compile(rf"({PREFIX}([0-9]+)c[0-9]+h)([0-9]+|sw)")
FOLDER = "hearth-cluster."


def launcher_find(built, mpi):
    """The launcher of that MPI: mpiexec.openmpi, or what Hearth was built
    with."""
    name = f"mpiexec.{mpi}"
    if mpi == built.mpi and built.launcher:
        name = built.launcher
    if shutil.which(name) is None:
        raise Wrong(f"--mpi {mpi}: there is no {name}")
    return name


def program_find(built, options, mpi):
    """The program for that MPI: beside this one if it is there and has no
    folder, as hearth-lu is."""
    name = dict(options.program_for).get(mpi, options.program)
    name = name.replace("%m", mpi)
    beside = os.path.join(built.programs, name)
    if "/" not in name and os.access(beside, os.X_OK):
        return beside
    path = shutil.which(name)
    if path is None:
        raise Wrong(f"there is no program {name}")
    return os.path.abspath(path)


def is_ours(pid):
    """Whether another hearth-cluster is at work under that number."""
    if pid == os.getpid():
        return False
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"hearth-cluster" in file.read()
    except OSError:
        return False


def stale_remove(built):
    """What a launcher has left that was killed, with its guard."""
    # It complains of those that others are about to make or to remove.
    listed = subprocess.run(["ip", "netns", "list"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True,
                            check=False).stdout.split()
    beds = {found.group(1): int(found.group(2))
            for found in map(BED.fullmatch, listed) if found}
    for bed, pid in beds.items():
        if not is_ours(pid):
            Bed(built.data, bed).down()
    for folder in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()),
                                         FOLDER + "[0-9]*.*")):
        pid = os.path.basename(folder).split(".")[1]
        if (pid.isdigit() and not is_ours(int(pid)) and
                os.lstat(folder).st_uid == os.geteuid()):
            shutil.rmtree(folder, ignore_errors=True)
