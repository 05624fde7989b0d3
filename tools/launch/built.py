# SPDX-License-Identifier: BSD-2-Clause
"""What make knows."""
from typing import NamedTuple


class Built(NamedTuple):
    programs: str  # folder of hearth-NAME
    data: str      # folder of run-mpi and testbed
    version: str
    mpi: str       # openmpi, mpich or unknown
    launcher: str
    helpers: str   # folder of programs that tools start
