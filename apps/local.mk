# The applications: one file or one folder each, over a common part
# (common.h).  --mpi, where it is, is in the same program, with the same
# kernels and compiler flags, so that the ratio of the two compares memory
# systems and not compilers.
#
# -fopenmp-simd makes the kernels' "omp simd" hints count at -O2 too, and
# -ffp-contract=off has every compiler round every product, so that a result
# can be compared bit for bit with a sequential run.
APP_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/%D% -fopenmp-simd -ffp-contract=off

# Nobody reads errno after sqrt(), which is an instruction without it.
APP_SQRT = -fno-math-errno

noinst_LTLIBRARIES += libhearth_apps.la

libhearth_apps_la_SOURCES = \
  %D%/common.c %D%/common.h \
  %D%/file.c %D%/file.h \
  %D%/home.c \
  %D%/options.c %D%/options.h \
  %D%/tasks.c %D%/tasks.h
libhearth_apps_la_CFLAGS = $(APP_CFLAGS)

APP_LIBS = libhearth_apps.la libhearth.la -lm
# Not linked again when only the library's code has changed: see src/local.mk.
APP_NEEDS = libhearth_apps.la libhearth.offers

bin_PROGRAMS += hearth-ep hearth-nqueens hearth-sor

hearth_sor_SOURCES = %D%/sor.c
hearth_sor_CFLAGS = $(APP_CFLAGS)
hearth_sor_LDADD = $(APP_LIBS)
hearth_sor_DEPENDENCIES = $(APP_NEEDS)

hearth_nqueens_SOURCES = %D%/nqueens.c
hearth_nqueens_CFLAGS = $(APP_CFLAGS)
hearth_nqueens_LDADD = $(APP_LIBS)
hearth_nqueens_DEPENDENCIES = $(APP_NEEDS)

hearth_ep_SOURCES = %D%/ep.c %D%/npb.h
hearth_ep_CFLAGS = $(APP_CFLAGS)
hearth_ep_LDADD = $(APP_LIBS)
hearth_ep_DEPENDENCIES = $(APP_NEEDS)

include apps/barnes/local.mk
include apps/cholesky/local.mk
include apps/climate/local.mk
include apps/em3d/local.mk
include apps/ft/local.mk
include apps/is/local.mk
include apps/lu/local.mk
include apps/mg/local.mk
include apps/mm/local.mk
include apps/ocean/local.mk
include apps/octree/local.mk
include apps/radiosity/local.mk
include apps/raytrace/local.mk
include apps/tsp/local.mk
include apps/water/local.mk
