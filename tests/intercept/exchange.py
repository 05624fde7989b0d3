# SPDX-License-Identifier: BSD-2-Clause
"""Each rank sends from a numpy array over heap memory at home on its right
neighbour and receives into one there, by mpi4py; libhearth is preloaded, or
imported first (exchange.py first)."""
import ctypes
import sys

import numpy
if sys.argv[1:] == ["first"]:
    import hearth
from mpi4py import MPI

N = 20000


class Layout(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("pages", ctypes.c_uint64),
                ("rank", ctypes.c_int), ("clusters", ctypes.c_uint64)]


hearth = ctypes.CDLL(None)  # the names that all see
handle = ctypes.c_void_p if MPI._sizeof(MPI.Comm) == 8 else ctypes.c_int
hearth.hearth_init.argtypes = [handle]
hearth.hearth_init.restype = None
hearth.hearth_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t, Layout]
hearth.hearth_alloc.restype = ctypes.c_void_p

comm = MPI.COMM_WORLD
hearth.hearth_init(handle.from_address(MPI._addressof(comm)))
me, ranks = comm.rank, comm.size
to, back = (me + 1) % ranks, (me - 1) % ranks
memory = hearth.hearth_alloc(2 * N * ranks, 8, Layout(0, 1, 0, 2**64 - 1))
a = numpy.frombuffer((ctypes.c_double * (2 * N * ranks)).from_address(memory))
a = a.reshape(ranks, 2, N)
a[me, 0] = me * N + numpy.arange(N)
hearth.hearth_barrier()

comm.Sendrecv(a[to, 0], to, 0, a[to, 1], back, 0)
right = bool((a[to, 1] == me * N + numpy.arange(N)).all())
hearth.hearth_barrier()
request = comm.Irecv(a[to, 1], to, 1)
comm.Send(a[to, 0], back, 1)
request.Wait()
right &= bool((a[to, 1] == (to + 1) % ranks * N + numpy.arange(N)).all())
comm.Allreduce(MPI.IN_PLACE, a[to, 1])
right &= a[to, 1, 7] == N * ranks * (ranks - 1) / 2 + 7 * ranks
del request
hearth.hearth_finalize()
# One write a line: print writes its end apart where Python does not buffer,
# and the lines of two ranks run into each other.
sys.stdout.write("exchange: rank %d: %s\n" % (me, "right" if right else "wrong"))
sys.exit(not right)
