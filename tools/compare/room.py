# SPDX-License-Identifier: BSD-2-Clause
"""
Room on disks, looked for before anything runs.

A file without a name is given its blocks: they are held while it is open, and
are free again however this process ends.
"""
import os
import tempfile

from launch.trouble import Trouble

MIB = 1 << 20
# What MPI wants for the files of a job (Open MPI hangs with less than 10 MiB
# for four ranks), and what a program says.
TEMPORARY = 16 * MIB
PAGE = 64 << 10      # without runs
PICTURES = 16 << 10  # of a configuration
RUN = 6 << 10        # in all files, without what is counted for each rank
RANK = 6 << 10


class Room:
    def __init__(self, folder, size, remedy):
        self.file = None
        try:
            self.file = tempfile.TemporaryFile(dir=folder)
            os.posix_fallocate(self.file.fileno(), 0, size)
        except OSError as problem:
            self.free()
            raise Trouble(f"{folder}: {problem.strerror}, and"
                          f" {-(-size // 1024)} KiB are wanted there: {remedy}")

    def free(self):
        if self.file is not None:
            self.file.close()
        self.file = None


def temporary_check():
    """TMPDIR by its name: tempfile would go elsewhere where that is full, but
    MPI does not."""
    folder = os.environ.get("TMPDIR") or tempfile.gettempdir()
    Room(folder, TEMPORARY, "make room, or set TMPDIR to a folder that has"
         " it").free()


def page_room(folder, plan):
    """What the runs and the page will need."""
    size = PAGE
    for c in plan.configurations:
        size += PICTURES + plan.repeat * (RUN + RANK * c.ranks)
    return Room(folder, size, "make room, or name another --out")
