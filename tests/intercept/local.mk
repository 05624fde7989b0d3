# Calls of MPI, the kernel and the C library on heap memory.
# MPI's calls on heap memory.
mpi_tests += %D%/calls.mpi
%C%_calls_mpi_SOURCES = %D%/calls.c %D%/calls.h %D%/calls_collective.c \
  %D%/calls_completion.c %D%/calls_file.c %D%/calls_neighbour.c \
  %D%/calls_newer.c %D%/calls_orphans.c %D%/calls_point.c %D%/calls_region.c %D%/calls_region.h %D%/calls_rma.c %D%/calls_small.c \
  %D%/calls_trial.c %D%/calls_types.c
%C%_calls_mpi_CFLAGS = $(test_cflags)
%C%_calls_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/sigmask.mpi
%C%_sigmask_mpi_SOURCES = %D%/sigmask.c
%C%_sigmask_mpi_CFLAGS = $(test_cflags) -Wno-deprecated-declarations
%C%_sigmask_mpi_LDADD = $(mpi_ldadd) $(RT_LIBS)

mpi_tests += %D%/system.mpi
%C%_system_mpi_SOURCES = %D%/system.c %D%/system.h %D%/system_calls.c \
  %D%/system_small.c %D%/system_tells.c
%C%_system_mpi_CFLAGS = $(test_cflags)
%C%_system_mpi_LDADD = $(mpi_ldadd)

# Python and debuggers.
tap_tests += %D%/beside.tap
EXTRA_DIST += %D%/beside.py

# Profilers, Fortran and Python.
tap_tests += %D%/bindings.tap
EXTRA_DIST += %D%/exchange.c %D%/exchange.f90 %D%/exchange.py \
  %D%/heap_arrays.py %D%/profiler.c %D%/session.c

# Real libraries.
tap_tests += %D%/programs.tap
EXTRA_DIST += %D%/programs/fftw.c %D%/programs/hdf5.c %D%/programs/petsc.c \
  %D%/programs/pnetcdf.c %D%/programs/scalapack.c

EXTRA_DIST += %D%/kernel.sh %D%/mpi_calls.sh
TESTS += %D%/kernel.sh %D%/mpi_calls.sh
