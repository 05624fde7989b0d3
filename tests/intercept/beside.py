# beside.py LIBRARY CASE -- Python that loads libhearth when it runs.
# beside.tap says what is expected.
import ctypes
import faulthandler
import multiprocessing
import sys

PAGE = 4096


def main():
    case = sys.argv[2]
    hearth = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    communicator = world(hearth)

    class Layout(ctypes.Structure):
        _fields_ = [("kind", ctypes.c_int), ("pages", ctypes.c_uint64),
                    ("rank", ctypes.c_int), ("clusters", ctypes.c_uint64)]

    hearth.hearth_init.argtypes = [type(communicator)]
    hearth.hearth_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t, Layout]
    hearth.hearth_alloc.restype = ctypes.c_void_p
    if case == "before":
        faulthandler.enable()
    hearth.hearth_init(communicator)
    me, ranks = hearth.hearth_rank(), hearth.hearth_size()
    p = hearth.hearth_alloc(ranks, PAGE, Layout(1, 1, 0, 2**64 - 1))
    memory = (ctypes.c_char * (ranks * PAGE)).from_address(p)
    memory[me * PAGE] = 1 + me
    hearth.hearth_barrier()
    if case == "after":
        faulthandler.enable()
    for rank in range(ranks):
        assert memory[rank * PAGE] == bytes([1 + rank])
    hearth.hearth_barrier()
    into = memoryview(memory).cast("B")[(me + 1) % ranks * PAGE + 100:][:300]
    with open("/dev/zero", "rb", buffering=0) as zeros:
        assert case != "file" or zeros.readinto(into) == 300
    if case == "workers":
        workers(memory, me, ranks, hearth.hearth_barrier)
    hearth.hearth_barrier()
    hearth.hearth_finalize()
    if me == 0:
        print("done")
    sys.stdout.flush()


def workers(memory, me, ranks, barrier):
    """Children of fork() read what is here, and keep it whatever comes: behind
    a barrier, before which what another rank stores would be seen or not."""
    context = multiprocessing.get_context("fork")
    expected = [1 + rank for rank in range(ranks)]
    here, there = context.Pipe()

    def read(page):
        return [memory[rank * page][0] for rank in range(ranks)]

    def work():
        there.send(read(PAGE))
        there.recv()
        there.send(read(PAGE))

    def answer():
        assert here.poll(30)
        return here.recv()

    assert read(PAGE) == expected  # what is here is what a child has
    worker = context.Process(target=work)
    worker.start()
    assert answer() == expected
    barrier()
    memory[me * PAGE] = 99
    here.send("changed")
    assert answer() == expected
    worker.join()
    assert worker.exitcode == 0
    memory[me * PAGE] = 1 + me


def world(hearth):
    """MPI_COMM_WORLD, which is a number or an address."""
    try:
        return ctypes.c_void_p(ctypes.addressof(
            ctypes.c_char.in_dll(hearth, "ompi_mpi_comm_world")))
    except ValueError:
        return ctypes.c_int(0x44000000)


main()
