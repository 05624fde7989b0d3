# Where pages have their homes.
mpi_tests += %D%/page_map.mpi
%C%_page_map_mpi_SOURCES = %D%/page_map.c
%C%_page_map_mpi_CFLAGS = $(test_cflags)
%C%_page_map_mpi_LDADD = $(mpi_ldadd)
