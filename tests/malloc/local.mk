# Objects without collective calls.
mpi_tests += %D%/malloc.mpi
%C%_malloc_mpi_SOURCES = %D%/malloc.c %D%/malloc.h %D%/malloc_calls.c %D%/malloc_found.c \
  %D%/malloc_resized.c %D%/malloc_reused.c %D%/malloc_threads.c
%C%_malloc_mpi_CFLAGS = $(test_cflags)
%C%_malloc_mpi_LDADD = $(mpi_ldadd)

# Blocks of small objects.  MPI is linked, not started.
unit_tests += %D%/slab
%C%_slab_SOURCES = %D%/slab.c
%C%_slab_CFLAGS = $(test_cflags)
%C%_slab_LDADD = $(core_ldadd)
