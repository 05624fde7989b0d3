# SPDX-License-Identifier: BSD-2-Clause
"""mpi4py's own tests, with arrays of the heap as buffers, and windows over heap
memory.

    mpiexec -n 3 python3 heap_arrays.py FOLDER [-p] [MODULE...]

FOLDER is `test` of mpi4py's sources, of the version that is installed.  -p: plain
arrays, to see which tests this MPI fails without Hearth.  Without names all
modules of messages, collectives, windows and files run."""
import ctypes
import importlib
import os
import sys
import unittest
import weakref

import numpy

import hearth
from mpi4py import MPI

MODULES = """test_p2p_buf test_p2p_buf_matched test_p2p_buf_part test_cco_buf
test_cco_buf_inter test_cco_nb_buf test_cco_nb_vec test_cco_ngh_buf
test_cco_pr_buf test_cco_pr_ngh_buf test_cco_pr_vec test_cco_vec
test_cco_vec_inter test_rma test_rma_nb test_win test_pack test_io
test_msgspec""".split()

made = 0


def memory_new(count, rank):
    """Bytes of the heap, at home on a rank, given back with the last view."""
    global made
    made += 1
    array = hearth.malloc(count, "u1", rank)
    memory = (ctypes.c_char * count).from_address(hearth.address(array))
    weakref.finalize(memory, free, array)
    return memory


def free(array):
    if hearth.initialized():
        hearth.free(array)


def heap_arrays(arrayimpl):
    class HeapArray(arrayimpl.ArrayNumPy):
        """An array whose pages are at home on the next rank, and not here."""
        backend = "hearth"

        def __init__(self, arg, typecode, shape=None):
            super().__init__(arg, typecode, shape)
            private = self.array
            if private.size == 0:
                return
            rank = (hearth.rank() + 1) % hearth.size()
            shared = numpy.frombuffer(memory_new(private.nbytes, rank),
                                      private.dtype).reshape(private.shape)
            shared[...] = private
            self.array = shared

    arrayimpl.ArrayBackends[:] = [HeapArray]


def heap_windows():
    """MPI.Alloc_mem gives memory of the heap, which becomes windows."""
    kept = {}

    def alloc_mem(size, info=MPI.INFO_NULL):
        memory = memory_new(max(size, 1), None)
        at = ctypes.addressof(memory)
        kept[at] = memory
        return MPI.memory.fromaddress(at, size)

    def free_mem(mem):
        kept.pop(mem.address)
        mem.release()

    MPI.Alloc_mem, MPI.Free_mem = alloc_mem, free_mem


def world_allow(names):
    """mpi4py leaves out all tests of windows where a window of one process alone
    cannot be made, as with Open MPI 4.1; those of all processes run here."""
    for name in names:
        module = importlib.import_module(name.split(".")[0])
        for word, found in vars(module).items():
            why = getattr(found, "__unittest_skip_why__", "")
            if word.endswith("World") and why.startswith(("mpi-rma", "mpi-win")):
                found.__unittest_skip__ = False


def main():
    folder, *names = sys.argv[1:]
    plain = "-p" in names
    sys.path.insert(0, folder)
    hearth.init(MPI.COMM_WORLD)
    me = hearth.rank()
    import arrayimpl
    if not plain:
        heap_arrays(arrayimpl)
        heap_windows()
    names = [name for name in names if name != "-p"] or MODULES
    world_allow(names)
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    # What a rank says apart is not mixed with another's.
    report = open(f"{os.environ.get('TMPDIR', '/tmp')}/heap_arrays.{os.getpid()}",
                  "w+")
    result = unittest.TextTestRunner(report, verbosity=2, failfast=True
                                     if os.environ.get("FAILFAST") else False
                                     ).run(suite)
    bad = MPI.COMM_WORLD.allreduce(not result.wasSuccessful())
    if bad and me == 0 or not result.wasSuccessful():
        report.seek(0)
        sys.stdout.write(report.read())
    report.close()
    os.remove(report.name)
    hearth.barrier()
    hearth.finalize()
    sys.stdout.write(f"exchange: rank {me}: {'wrong' if bad else 'right'}\n"
                     f"heap_arrays: {result.testsRun} tests, "
                     f"{len(result.skipped)} skipped, {made} arrays\n")
    sys.stdout.flush()
    return bad > 0


sys.exit(main())
