# The heap, its frames, and what a core dump has of it.
mpi_tests += %D%/dump.mpi
%C%_dump_mpi_SOURCES = %D%/dump.c
%C%_dump_mpi_CFLAGS = $(test_cflags)
%C%_dump_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/heap.mpi
%C%_heap_mpi_SOURCES = %D%/heap.c tests/harness/made_up.h
%C%_heap_mpi_CFLAGS = $(test_cflags)
%C%_heap_mpi_LDADD = $(mpi_ldadd)

# Free frames.  MPI is linked, not started.
unit_tests += %D%/pool
%C%_pool_SOURCES = %D%/pool.c
%C%_pool_CFLAGS = $(test_cflags)
%C%_pool_LDADD = $(core_ldadd)
