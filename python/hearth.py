# SPDX-License-Identifier: BSD-2-Clause
"""Hearth for Python: numpy arrays that all ranks share, beside mpi4py.

    import hearth
    from mpi4py import MPI

    hearth.init(MPI.COMM_WORLD)
    a = hearth.alloc((1000, 1000), "f8", hearth.block())
    a[hearth.rank()] = 1
    hearth.barrier()
    print(a.sum())
    hearth.free(a)
    hearth.finalize()

Imported before mpi4py, so that MPI may be given these arrays; start with
LD_PRELOAD=libhearth.so, so that files may be, too.  hearth.h(3) says what each call does; doc/languages.md has more.  What
cannot be done ends the job with one line, as in C.  What C cannot be told, as
a number that does not fit, raises an exception.
"""
import ctypes
import faulthandler
import glob
import importlib.util
import math
import operator
import os
import signal
import sys
import time

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


# ---- which MPI ----

def _mpi_of_file(path):
    """Which MPI an extension module was built for.  MPI cannot be asked: the
    module's calls may reach another one."""
    with open(path, "rb") as module:
        return ("Open MPI" if b"ompi_mpi_comm_world" in module.read()
                else "MPICH")


def _mpi4py_files():
    """The extension modules of mpi4py of which one is, or will be, MPI."""
    if "mpi4py.MPI" in sys.modules:
        return [sys.modules["mpi4py.MPI"].__file__]
    package = importlib.util.find_spec("mpi4py")
    if package is None or package.origin is None:
        return []
    found = glob.glob(os.path.join(os.path.dirname(package.origin), "MPI*.so"))
    asked = os.environ.get("MPI4PY_MPIABI")
    chosen = [name for name in found
              if asked and os.path.basename(name).startswith(f"MPI.{asked}.")]
    return chosen or found


def _end(line):
    """The job ends with a line of one rank.  MPI cannot be asked which."""
    for name in "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK":
        if os.environ.get(name, "0") != "0":
            time.sleep(1)
            os._exit(1)
    sys.stderr.write(f"hearth: {line}\n")
    sys.stderr.flush()
    os._exit(1)


def _same_mpi(library, name):
    """Two MPI libraries in one process call each other: end before they do."""
    ours = ("Open MPI" if hasattr(library, "ompi_mpi_comm_world")
            else "MPICH")
    files = _mpi4py_files()
    theirs = {_mpi_of_file(path) for path in files}
    if theirs and ours not in theirs:
        _end(f"mpi4py ({files[0]}) is for {theirs.pop()}, libhearth ({name}) "
             f"for {ours}: install an mpi4py for {ours} (of its wheel, "
             f"MPI4PY_MPIABI={ours.replace(' ', '').lower()}), or name "
             f"another libhearth in LIBHEARTH or LD_PRELOAD")


# ---- the library ----

def _find():
    try:
        from hearth_place import library as installed
    except ImportError:  # in the source folder
        installed = None
    for name in os.environ.get("LIBHEARTH"), installed:
        if name and os.path.exists(name):
            return name
    return os.path.basename(installed) if installed else "libhearth.so"


def _load():
    """The library: preloaded, LIBHEARTH, where "make install" has put it, or
    where the loader finds it.  True if it was preloaded."""
    loaded = ctypes.CDLL(None)
    if hasattr(loaded, "hearth_init_f"):
        _same_mpi(loaded, os.environ.get("LD_PRELOAD", "libhearth.so"))
        return loaded, True
    name = _find()
    # Its MPI's names come in front of those of mpi4py's MPI only afterwards.
    _same_mpi(ctypes.CDLL(name, mode=ctypes.RTLD_LOCAL), name)
    return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL), False


_late = "mpi4py.MPI" in sys.modules
_hearth, _preloaded = _load()


def _say_late():
    """mpi4py's module found its MPI before libhearth came.  Where that MPI's
    names are visible to all, libhearth says so itself."""
    first, ours = (ctypes.cast(library.PMPI_Send, _pointer).value
                   for library in (ctypes.CDLL(None), _hearth))
    if (_late and not _preloaded and first == ours and rank() == 0 and
            os.environ.get("HEARTH_INTERPOSE") != "no"):
        sys.stderr.write(
            "hearth: rank 0: mpi4py was imported before hearth, so its calls "
            "do not come through libhearth: they must not be given arrays of "
            "the heap that are not held; import hearth first, or start with "
            "LD_PRELOAD (HEARTH_INTERPOSE=no: no such warning)\n")


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
_hold = _declare("hearth_hold", None, _pointer, _size, _int)
_drop = _declare("hearth_drop", None, _pointer, _size, _int)
_prefetchv = _declare("hearth_prefetchv", None, _pointer, _pointer, _size)
_read_mostly = _declare("hearth_read_mostly", None, _pointer, _size)
_overwrite = _declare("hearth_overwrite", None, _pointer, _size)
_name = _declare("hearth_name", None, _pointer, ctypes.c_char_p)
_counter = _declare("hearth_counter", ctypes.c_uint64, ctypes.c_char_p)
_counter_name = _declare("hearth_counter_name", ctypes.c_char_p, _int)
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
stats_start = _declare("hearth_stats_start", None)
stats_stop = _declare("hearth_stats_stop", None)
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
    from mpi4py import MPI
    if comm is None:
        comm = MPI.COMM_WORLD
    _init(comm.py2f())
    _say_late()


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
    if layout is None:
        layout = block()
    elif not isinstance(layout, Layout):
        raise TypeError(f"a layout is block(), cyclic(), on() or first_touch(), "
                        f"not {layout!r}")
    p = _alloc(_count(shape), item, layout)
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


def read_mostly(array):
    """A hint: read by many, hardly ever written."""
    _read_mostly(address(array), array.nbytes)


def prefetchv(arrays):
    """Several arrays, or parts of arrays, at once."""
    n = len(arrays)
    places = (_pointer * n)(*(address(a) for a in arrays))
    sizes = (_size * n)(*(a.nbytes for a in arrays))
    _prefetchv(ctypes.cast(places, _pointer), ctypes.cast(sizes, _pointer), n)


READ, WRITE = 1, 2  # for hold()


def hold(array, how=READ):
    """Keep an array present, for what reads it, or with WRITE writes it, past
    the processor; until drop() with the same `how`."""
    _hold(address(array), array.nbytes, how)


def drop(array, how=READ):
    _drop(address(array), array.nbytes, how)


def overwrite(array):
    """All of an array will be stored before it is loaded, and before this rank
    synchronises: what was there need not be fetched."""
    _overwrite(address(array), array.nbytes)


def name(array, text):
    """Name an array for the reports of HEARTH_STATS=yes and HEARTH_REPORT."""
    _name(address(array), text.encode())


def release(array):
    _release(address(array), array.nbytes)


def acquire(array):
    _acquire(address(array), array.nbytes)


def stats():
    """What this rank has counted, by the names of hearth-env(7)."""
    counted = {}
    while (name := _counter_name(len(counted))) is not None:
        counted[name.decode()] = _counter(name)
    return counted


# ---- atomic steps on an element: arrays of int64, int32, and float64 to add --

def _element(name, array, index):
    """The call for elements of this type, the type, and where one is."""
    kind = {"i8": ("", ctypes.c_int64), "i4": ("32", ctypes.c_int32),
            "f8": ("_double", ctypes.c_double)}.get(array.dtype.str[1:])
    if (kind is None or not array.dtype.isnative or
            not hasattr(_hearth, name + kind[0])):
        raise TypeError(f"{name} takes no array of {array.dtype}")
    index = index if isinstance(index, tuple) else (index,)
    word = array[(*map(operator.index, index), None)]  # a view, no copy
    if word.size != 1:
        raise IndexError(f"{name} takes one element")
    return getattr(_hearth, name + kind[0]), kind[1], _pointer(address(word))


def _atomic(name, array, index, *values):
    call, kind, word = _element(name, array, index)
    call.restype = kind
    return call(word, *map(kind, values))


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


def add(array, index, value):
    """Add, and do not ask what was there: done at the next synchronisation."""
    call, kind, word = _element("hearth_add", array, index)
    call.restype = None
    call(word, kind(value))


atomic_flush = _declare("hearth_atomic_flush", None)

EQ, NE, GT, GE, LT, LE = range(6)  # for wait_until()


def wait_until(array, index, how, value):
    """Wait until an element of int64 compares so with a value: what it was."""
    call, kind, word = _element("hearth_wait_until", array, index)
    call.restype = kind
    return call(word, _Int.from_param(how), kind(value))


# ---- checkpoints ----

_checkpoint = _declare("hearth_checkpoint", ctypes.c_bool, ctypes.c_char_p)
_checkpoint_add = _declare("hearth_checkpoint_add", ctypes.c_bool, _pointer,
                           _size, ctypes.c_char_p)
_checkpoint_remove = _declare("hearth_checkpoint_remove", None,
                              ctypes.c_char_p)
_checkpoint_read = _declare("hearth_checkpoint_read", None, _int,
                            ctypes.c_char_p, _pointer, _size)
checkpoint_done = _declare("hearth_checkpoint_done", ctypes.c_bool)
checkpoint_wait = _declare("hearth_checkpoint_wait", ctypes.c_bool)
restarted = _declare("hearth_restarted", _int)
_registered = {}


def checkpoint(where=None):
    """Save the run in a folder; without one in HEARTH_CHECKPOINT, if one is
    due.  Collective."""
    return _checkpoint(None if where is None else os.fsencode(where))


def checkpoint_add(array, name):
    """A private array of numpy's that belongs to the checkpoints.  True if it
    was filled from the one that the run was restarted from."""
    if not array.flags.c_contiguous:
        raise ValueError("the array's elements must follow each other")
    filled = _checkpoint_add(address(array), array.nbytes, os.fsencode(name))
    _registered[name] = array
    return filled


def checkpoint_remove(name):
    """Forget a name that this rank gave."""
    _checkpoint_remove(os.fsencode(name))
    del _registered[name]


def checkpoint_read(rank, name, array):
    """What a rank of the run before had under a name, into an array."""
    _checkpoint_read(rank, os.fsencode(name), address(array), array.nbytes)


# ---- teams ----

_team_of = _declare("hearth_team_of_f", _pointer, _int)
_team_alloc = _declare("hearth_team_alloc", _pointer, _pointer, _size, _size)
team_barrier = _declare("hearth_team_barrier", None, _pointer)
team_free = _declare("hearth_team_free", None, _pointer)


def team_of(comm):
    """The ranks of a communicator of mpi4py's.  Collective over it."""
    return _team_of(comm.py2f())


def team_alloc(team, shape, dtype):
    """An array of zeros for a team, at home on one member.  Collective over
    it; one rank frees it."""
    dtype = numpy.dtype(dtype)
    place = _team_alloc(team, _count(shape), dtype.itemsize)
    return at(place, shape, dtype)


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
