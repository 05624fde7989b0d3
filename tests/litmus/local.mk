# Small programs with one thing to see in each.
mpi_tests += %D%/litmus.mpi
%C%_litmus_mpi_SOURCES = %D%/litmus.c %D%/litmus.h %D%/litmus_page.c \
  %D%/litmus_home.c
%C%_litmus_mpi_CFLAGS = $(test_cflags)
%C%_litmus_mpi_LDADD = $(mpi_ldadd)
