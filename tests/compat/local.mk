# Other systems' words: jia.h, Tmk.h, PARMACS, argo.hpp.
# Programs as users of Tmk.h, of PARMACS and of ArgoDSM write them.
tap_tests += %D%/ways.tap
EXTRA_DIST += %D%/tmk_calls.c %D%/tmk_jacobi.c %D%/tmk_tsp.c \
  %D%/parmacs_all.C %D%/parmacs_bad.C %D%/parmacs_loop.C %D%/parmacs_loop.h \
  %D%/parmacs_splash3.C %D%/parmacs_work.C %D%/argo_calls.cpp

# Tests of jia.h: its calls, programs as JIAJIA's users write them, bad input.
mpi_tests += %D%/jia.mpi
%C%_jia_mpi_SOURCES = %D%/jia.c %D%/jia_alloc.c %D%/jia_alloc.h
%C%_jia_mpi_CFLAGS = $(test_cflags)
%C%_jia_mpi_LDADD = $(mpi_ldadd)

# Two of them are in the style of their time, without our warnings.
check_PROGRAMS += %D%/jia_sor %D%/jia_anl %D%/jia_bad
%C%_jia_sor_SOURCES = %D%/jia_sor.c
%C%_jia_sor_CFLAGS = $(BASE_CFLAGS)
%C%_jia_sor_LDADD = libhearth_core.la
%C%_jia_anl_SOURCES = %D%/jia_anl.c
%C%_jia_anl_CFLAGS = $(BASE_CFLAGS)
%C%_jia_anl_LDADD = libhearth_core.la
%C%_jia_bad_SOURCES = %D%/jia_bad.c
%C%_jia_bad_LDADD = libhearth_core.la
tap_tests += %D%/jia_start.tap
