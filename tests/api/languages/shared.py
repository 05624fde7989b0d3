# SPDX-License-Identifier: BSD-2-Clause
"""numpy arrays in the heap; with "after" faulthandler comes after Hearth, and
with "time" a loop beside an array of the program's own."""
import ctypes
import faulthandler
import sys
import time

from mpi4py import MPI
import numpy

import hearth


def seconds(x):
    start = time.perf_counter()
    numpy.multiply(x, 0.999, out=x)
    x += 1
    assert x.sum() > 0
    return time.perf_counter() - start


def loop_time(me):
    here, own = hearth.malloc(1 << 18), numpy.empty(1 << 18)
    here[:], own[:] = 1, 1
    best = [min(pair) for pair in
            zip(*((seconds(here), seconds(own)) for _ in range(300)))]
    if me == 0:
        print(f"languages: numpy loop {best[0] / best[1]:.3f} "
              "of a private array's")
    hearth.free(here)


def refused(kind, call, *arguments):
    try:
        call(*arguments)
    except kind:
        return
    raise AssertionError(f"{call} has taken {arguments}")


def objects_of_other_kinds():
    """Aligned, or None; and what there is of them, when each rank has heard of
    what others have freed before."""
    hearth.collect()
    hearth.barrier()
    hearth.collect()
    before = hearth.get_malloc_stats()
    a = hearth.aligned_alloc(4096, 100)
    b = hearth.aligned_alloc_on(256, 100, "i4", 0)
    assert hearth.address(a) % 4096 == 0 and hearth.address(b) % 256 == 0
    assert hearth.home(b) == 0
    assert hearth.malloc_usable_size(a) >= 800
    assert hearth.get_malloc_stats()["live"] == before["live"] + 2
    assert hearth.try_malloc(1 << 50, "u1") is None
    c = hearth.try_malloc(8)
    for array in a, b, c:
        hearth.free(array)
    hearth.collect()
    assert hearth.get_malloc_stats()["live"] == before["live"]


def what_c_cannot_be_told():
    swapped = hearth.malloc(1, ">i8")
    refused(TypeError, hearth.fetch_add, swapped, 0, 1)
    refused(TypeError, hearth.fetch_add, numpy.zeros(1, "u1"), 0, 1)
    refused(IndexError, hearth.fetch_add, hearth.at(
        hearth.address(swapped), 1, "i8"), 1, 1)
    refused(ctypes.ArgumentError, hearth.malloc, (1 << 32, 1 << 32))
    refused(ctypes.ArgumentError, hearth.Lock((1 << 32) + 1).acquire)
    refused(ctypes.ArgumentError, hearth.flag_set, 1 << 31)
    refused(ValueError, hearth.malloc, -8)
    refused(ValueError, hearth.alloc, (-1, -8))
    refused(OverflowError, hearth.cyclic, -1)
    refused(OverflowError, hearth.on_cluster, 64)
    refused(ValueError, hearth.on_cluster, -1)
    refused(TypeError, hearth.Lock, 1.5)
    hearth.free(swapped)


def held_and_counted(a):
    hearth.hold(a)
    hearth.drop(a)
    hearth.hold(a[0], hearth.WRITE)
    hearth.drop(a[0], hearth.WRITE)
    found = hearth.stats()
    assert found["holds"] >= 2 and found["atomics"] >= 1
    assert "read_faults" in found and len(found) > 40
    hearth.overwrite(a[0])
    for wrong in 0, 1, "block":
        try:
            hearth.alloc(4, "f8", wrong)
        except TypeError as problem:
            assert "layout" in str(problem)
        else:
            raise AssertionError(f"{wrong!r} was taken for a layout")


def main():
    hearth.init(MPI.COMM_WORLD)
    if "after" in sys.argv:
        faulthandler.enable()
    me, ranks = hearth.rank(), hearth.size()
    a = hearth.alloc((ranks * 3, 1000), "f8", hearth.cyclic(1))
    n = hearth.alloc(4, "i8", hearth.on(ranks - 1))
    halves = hearth.alloc(4, "i4", hearth.within(hearth.on(0), [0]))
    sums = hearth.alloc(1, "f8")
    square = n.reshape(2, 2)
    lock, door = hearth.Lock(n), hearth.RWLock(3)
    assert hearth.Lock(numpy.int64(3)).number == 3
    for row in range(me, ranks * 3, ranks):
        a[row] = row
        hearth.fetch_add(n, 0, 1)
        hearth.add(halves, 1, -1)
        (hearth.fetch_add if row % 2 else hearth.add)(sums, 0, 0.5)
        hearth.fetch_or(*((square, (1, 1)) if row % 2 else (n, -1)), 1 << row)
        with lock:
            n[1] += row
        with door.writing:
            n[2] += 1
    rows = ranks * 3
    hearth.atomic_flush()
    assert hearth.wait_until(n, 0, hearth.EQ, rows) == rows
    hearth.barrier()
    hearth.prefetchv([a[::2][0], n[1:]])
    hearth.read_mostly(a)
    private = numpy.zeros(3)
    assert hearth.restarted() == 0 and hearth.checkpoint_done()
    assert not hearth.checkpoint_add(private, "private")
    assert not hearth.checkpoint() and hearth.checkpoint_wait()
    hearth.checkpoint_remove("private")
    assert a.sum() == 1000 * rows * (rows - 1) / 2
    assert list(n) == [rows, rows * (rows - 1) // 2, rows, (1 << rows) - 1]
    assert halves[1] == -rows and halves[0] == halves[2] == 0
    assert sums[0] == rows / 2 and hearth.home(n) == ranks - 1
    with door.reading:
        assert hearth.compare_swap(halves, 2, 1, 5) == 0

    # One rank's own, which the others learn of by its address.
    where = None
    if me == 0:
        mine = hearth.malloc((2, 100), "i4", ranks - 1)
        mine[:] = 7
        where = hearth.address(mine)
    where = MPI.COMM_WORLD.bcast(where)
    hearth.barrier()
    other = hearth.at(where, (2, 100), "i4")
    assert other.sum() == 1400
    hearth.barrier()
    if me == ranks - 1:
        hearth.free(other)
    objects_of_other_kinds()
    what_c_cannot_be_told()
    held_and_counted(a)
    if "time" in sys.argv:
        loop_time(me)
    hearth.barrier()
    for array in sums, halves, n, a:
        hearth.free(array)
    hearth.finalize()
    sys.stdout.write(f"languages: rank {me}: right\n")


main()
