# What the ranks of one node do together.
mpi_tests += %D%/blocks.mpi
%C%_blocks_mpi_SOURCES = %D%/blocks.c
%C%_blocks_mpi_CFLAGS = $(test_cflags)
%C%_blocks_mpi_LDADD = $(mpi_ldadd)
