# The public calls, what bad input gets, and other languages.
TESTS += %D%/api-lists.sh
EXTRA_DIST += %D%/api-lists.sh

# What the last release promised; "make abi" writes it anew, at the next.
no_mpi_tests += %D%/abi.sh
EXTRA_DIST += %D%/abi.sh %D%/libhearth.abi
abi: libhearth.la
	srcdir=$(srcdir) $(SHELL) $(srcdir)/%D%/abi.sh write \
	  $(srcdir)/%D%/libhearth.abi
.PHONY: abi

mpi_tests += %D%/api.mpi
%C%_api_mpi_SOURCES = %D%/api.c %D%/alloc.c %D%/alloc.h
%C%_api_mpi_CFLAGS = $(test_cflags)
%C%_api_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/cancel.mpi
%C%_cancel_mpi_SOURCES = %D%/cancel.c
%C%_cancel_mpi_CFLAGS = $(test_cflags)
%C%_cancel_mpi_LDADD = $(mpi_ldadd)

# MPI is linked, not started.
unit_tests += %D%/bounds
%C%_bounds_SOURCES = %D%/bounds.c
%C%_bounds_CFLAGS = $(test_cflags)
%C%_bounds_LDADD = $(core_ldadd)

# Programs for the scripts.
check_PROGRAMS += %D%/badinput %D%/start
%C%_badinput_SOURCES = tests/harness/seen.h %D%/badinput.c %D%/badinput.h \
  tests/harness/forbid.h %D%/badinput_alloc.c %D%/badinput_call.c \
  %D%/badinput_far.c %D%/badinput_malloc.c %D%/badinput_hold.c %D%/badinput_checkpoint.c \
  %D%/badinput_end.c %D%/badinput_lose.c %D%/badinput_fake.c \
  %D%/badinput_touch.c %D%/badinput_apart.c %D%/badinput_mask.c
%C%_badinput_CFLAGS = $(harness_cflags) $(OPENSSL_CFLAGS)
%C%_badinput_LDADD = libhearth_core.la
%C%_start_SOURCES = %D%/start.c
%C%_start_LDADD = libhearth_core.la
tap_tests += %D%/badinput.tap

# The programs of doc/.
tap_tests += %D%/pages.tap

# C++, Fortran, Python, Go, Rust and Julia.
tap_tests += %D%/languages.tap
EXTRA_DIST += %D%/languages/containers.cpp %D%/languages/arrays.f90 \
  %D%/languages/shared.py %D%/languages/goroutines.go

if HAVE_JANSSON
# What is written as JSON.
mpi_tests += %D%/stats.mpi
endif
%C%_stats_mpi_SOURCES = %D%/stats.c
%C%_stats_mpi_CFLAGS = $(test_cflags) $(JANSSON_CFLAGS)
%C%_stats_mpi_LDADD = $(mpi_ldadd) $(JANSSON_LIBS)
