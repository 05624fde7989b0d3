# SPDX-License-Identifier: BSD-2-Clause
"""Hearth for Python: numpy arrays that all ranks share, beside mpi4py.

    from mpi4py import MPI
    import hearth

    hearth.init(MPI.COMM_WORLD)
    a = hearth.alloc((1000, 1000), "f8", hearth.block())
    a[hearth.rank()] = 1
    hearth.barrier()
    print(a.sum())
    hearth.free(a)
    hearth.finalize()

Start with LD_PRELOAD=libhearth.so, so that MPI and files may be given these
arrays.  hearth.h(3) says what each call does; doc/languages.md has more.  What
cannot be done ends the job with one line, as in C.  What C cannot be told, as
a number that does not fit, raises an exception.
"""
import ctypes
import faulthandler
import math
import operator
import os
import signal

import numpy

_size, _int, _pointer = ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p
_ACTION = 256  # bytes, more than struct sigaction has


def _number(kind, value):
    """A number of C's; ctypes would cut off what does not fit."""
    number = kind(operator.index(value))
    if number.value != value:
        raise OverflowError(f"{value} is no {kind.__name__[2:]}")
    return number


class _Size:
    from_param = staticmethod(lambda value: _number(_size, value))


class _Int:
    from_param = staticmethod(lambda value: _number(_int, value))


class Layout(ctypes.Structure):
    _fields_ = [("kind", _int), ("pages", ctypes.c_uint64), ("rank", _int),
                ("clusters", ctypes.c_uint64)]


_ALL_CLUSTERS = (1 << 64) - 1


def block():
    return Layout(0, 1, 0, _ALL_CLUSTERS)


def cyclic(pages):
    return Layout(1, _number(ctypes.c_uint64, pages), 0, _ALL_CLUSTERS)


def on(rank):
    return Layout(2, 1, _number(_int, rank), _ALL_CLUSTERS)


def first_touch():
    return Layout(3, 1, 0, _ALL_CLUSTERS)


def within(layout, clusters):
    """A layout on the ranks of these clusters, given by their numbers."""
    chosen = 0
    for cluster in clusters:
        bit = 1 << operator.index(cluster)
        chosen |= _number(ctypes.c_uint64, bit).value
    return Layout(layout.kind, layout.pages, layout.rank,
                  layout.clusters & chosen)


def on_cluster(cluster):
    return within(block(), [cluster])


def _load():
    """The library: preloaded, LIBHEARTH, where it is installed beside
    this file, or where the loader finds it.  True if it was preloaded."""
    try:
        loaded = ctypes.CDLL(None)
        loaded.hearth_init_f
        return loaded, True
    except AttributeError:
        pass
    prefix = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "..", "..", "..", "lib", "libhearth.so")
    for name in os.environ.get("LIBHEARTH"), prefix:
        if name and os.path.exists(name):
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL), False
    return ctypes.CDLL("libhearth.so", mode=ctypes.RTLD_GLOBAL), False


_hearth, _preloaded = _load()


def _declare(name, result, *arguments):
    call = getattr(_hearth, name)
    checked = {_size: _Size, _int: _Int}
    call.restype = result
    call.argtypes = [checked.get(kind, kind) for kind in arguments]
    return call


_init = _declare("hearth_init_f", None, _int)
_alloc = _declare("hearth_alloc", _pointer, _size, _size, Layout)
_malloc = _declare("hearth_malloc", _pointer, _size)
_malloc_on = _declare("hearth_malloc_on", _pointer, _size, _int)
_aligned_alloc = _declare("hearth_aligned_alloc", _pointer, _size, _size)
_aligned_alloc_on = _declare("hearth_aligned_alloc_on", _pointer, _size, _size,
                             _int)
_try_malloc = _declare("hearth_try_malloc", _pointer, _size)
_usable_size = _declare("hearth_malloc_usable_size", ctypes.c_size_t, _pointer)
_get_malloc_stats = _declare("hearth_get_malloc_stats", None, _pointer, _size)
_free = _declare("hearth_free", None, _pointer)
_home = _declare("hearth_home", _int, _pointer)
_lock_of = _declare("hearth_lock_of", _int, _pointer)
_prefetch = _declare("hearth_prefetch", None, _pointer, _size)
_release = _declare("hearth_release", None, _pointer, _size)
_acquire = _declare("hearth_acquire", None, _pointer, _size)

finalize = _declare("hearth_finalize", None)
initialized = _declare("hearth_initialized", ctypes.c_bool)
rank = _declare("hearth_rank", _int)
size = _declare("hearth_size", _int)
node = _declare("hearth_node", _int)
nodes = _declare("hearth_nodes", _int)
node_of = _declare("hearth_node_of", _int, _int)
cluster = _declare("hearth_cluster", _int)
clusters = _declare("hearth_clusters", _int)
cluster_of = _declare("hearth_cluster_of", _int, _int)
barrier = _declare("hearth_barrier", None)
collect = _declare("hearth_collect", None)
flag_set = _declare("hearth_flag_set", None, _int)
flag_wait = _declare("hearth_flag_wait", None, _int)
flag_reset = _declare("hearth_flag_reset", None, _int)
cond_wait = _declare("hearth_cond_wait", None, _int, _int)
cond_signal = _declare("hearth_cond_signal", None, _int)
cond_broadcast = _declare("hearth_cond_broadcast", None, _int)


# ---- start ----

def _fault_actions(libc):
    found = []
    for number in signal.SIGSEGV, signal.SIGBUS:
        found.append(ctypes.create_string_buffer(_ACTION))
        libc.sigaction(number, None, found[-1])
    return found


def _faulthandler_behind():
    """faulthandler calls the C library past Hearth unless it is preloaded, and
    would take page faults for the program's: put its handler behind Hearth's
    at once."""
    libc, enable = ctypes.CDLL("libc.so.6"), faulthandler.enable

    def enable_behind(*arguments, **named):
        before = _fault_actions(libc)
        enable(*arguments, **named)
        if not initialized():
            return
        numbers = signal.SIGSEGV, signal.SIGBUS
        for number, old, new in zip(numbers, before, _fault_actions(libc)):
            if new.raw != old.raw:
                libc.sigaction(number, old, None)
                _hearth.sigaction(number, new, None)

    faulthandler.enable = enable_behind


def init(comm=None):
    """Start Hearth on a communicator of mpi4py's, MPI.COMM_WORLD if none is
    given.  Collective."""
    if comm is None:
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
    _init(comm.py2f())


if not _preloaded:
    _faulthandler_behind()


# ---- memory ----

def _count(shape):
    """Elements, however many: numpy's product wraps."""
    try:
        extents = [operator.index(n) for n in shape]
    except TypeError:
        extents = [operator.index(shape)]
    if min(extents, default=0) < 0:
        raise ValueError(f"negative extent in {shape}")
    return math.prod(extents)


def at(address, shape, dtype="f8"):
    """The array at an address, which may come from another rank."""
    dtype = numpy.dtype(dtype)
    count = _count(shape)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(memory, dtype, count).reshape(shape)


def address(array):
    """Where an array begins, the same on all ranks."""
    return array.__array_interface__["data"][0]


def _bytes(shape, dtype):
    return _count(shape) * numpy.dtype(dtype).itemsize


def alloc(shape, dtype="f8", layout=None):
    """An array of zeros of all ranks, spread by a layout.  Collective."""
    item = numpy.dtype(dtype).itemsize
    p = _alloc(_count(shape), item, layout or block())
    return at(p, shape, dtype)


def malloc(shape, dtype="f8", rank=None):
    """An array of this rank's making, at home here or on a rank; what is in it
    is undefined.  Local; valid on all ranks."""
    n = _bytes(shape, dtype)
    p = _malloc(n) if rank is None else _malloc_on(n, rank)
    return at(p, shape, dtype)


def aligned_alloc(alignment, shape, dtype="f8"):
    """The same at a multiple of an alignment, a power of two, at home here."""
    return at(_aligned_alloc(alignment, _bytes(shape, dtype)), shape, dtype)


def aligned_alloc_on(alignment, shape, dtype="f8", rank=0):
    """The same at home on a rank."""
    p = _aligned_alloc_on(alignment, _bytes(shape, dtype), rank)
    return at(p, shape, dtype)


def try_malloc(shape, dtype="f8"):
    """As malloc() at home here, or None where there is no memory."""
    p = _try_malloc(_bytes(shape, dtype))
    return None if p is None else at(p, shape, dtype)


def malloc_usable_size(array):
    """Bytes that an array of malloc() has, as many as were asked for or
    more."""
    return _usable_size(address(array))


def get_malloc_stats():
    """What this rank has of objects, by the names of hearth_malloc_stats."""
    names = ("live", "live_bytes", "peak_bytes", "carved_bytes", "to_send",
             "to_take")
    numbers = (ctypes.c_uint64 * len(names))()
    _get_malloc_stats(ctypes.addressof(numbers), ctypes.sizeof(numbers))
    return dict(zip(names, numbers))


def free(array):
    """Give an array back: collective if alloc() made it, else local.  It and
    its views must not be used any more."""
    _free(address(array))


def home(array):
    """Home rank of an array's first byte."""
    return _home(address(array))


def prefetch(array):
    _prefetch(address(array), array.nbytes)


def release(array):
    _release(address(array), array.nbytes)


def acquire(array):
    _acquire(address(array), array.nbytes)


# ---- atomic steps on an element: arrays of int64, int32, and float64 to add --

def _atomic(name, array, index, *values):
    kind = {"i8": ("", ctypes.c_int64), "i4": ("32", ctypes.c_int32),
            "f8": ("_double", ctypes.c_double)}.get(array.dtype.str[1:])
    if (kind is None or not array.dtype.isnative or
            not hasattr(_hearth, name + kind[0])):
        raise TypeError(f"{name} takes no array of {array.dtype}")
    index = index if isinstance(index, tuple) else (index,)
    word = array[(*map(operator.index, index), None)]  # a view, no copy
    if word.size != 1:
        raise IndexError(f"{name} takes one element")
    call = getattr(_hearth, name + kind[0])
    call.restype = kind[1]
    return call(_pointer(address(word)), *map(kind[1], values))


def fetch_add(array, index, value):
    return _atomic("hearth_fetch_add", array, index, value)


def fetch_and(array, index, value):
    return _atomic("hearth_fetch_and", array, index, value)


def fetch_or(array, index, value):
    return _atomic("hearth_fetch_or", array, index, value)


def fetch_xor(array, index, value):
    return _atomic("hearth_fetch_xor", array, index, value)


def swap(array, index, value):
    return _atomic("hearth_swap", array, index, value)


def compare_swap(array, index, expected, desired):
    return _atomic("hearth_compare_swap", array, index, expected, desired)


# ---- locks ----

class Lock:
    """A lock by its number, or the one that belongs to an array."""
    _lock = _declare("hearth_lock", None, _int)
    _try = _declare("hearth_trylock", ctypes.c_bool, _int)
    _unlock = _declare("hearth_unlock", None, _int)

    def __init__(self, number):
        self.number = (_lock_of(address(number))
                       if isinstance(number, numpy.ndarray)
                       else operator.index(number))

    def acquire(self, blocking=True):
        if not blocking:
            return Lock._try(self.number)
        Lock._lock(self.number)
        return True

    def release(self):
        Lock._unlock(self.number)

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *_):
        self.release()


class _Side:
    def __init__(self, enter, number):
        self.enter, self.number = enter, number

    def __enter__(self):
        self.enter(self.number)

    def __exit__(self, *_):
        RWLock._unlock(self.number)


class RWLock:
    """A reader-writer lock: with lock.reading: or with lock.writing:"""
    _read = _declare("hearth_rdlock", None, _int)
    _write = _declare("hearth_wrlock", None, _int)
    _unlock = _declare("hearth_rwunlock", None, _int)

    def __init__(self, number):
        self.reading = _Side(RWLock._read, number)
        self.writing = _Side(RWLock._write, number)
