# The applications.  Each is one file over a common part; --mpi, where it is, is in the
# same program, with the same kernels and compiler flags, so that the ratio of
# the two compares memory systems and not compilers.
#
# -fopenmp-simd makes the kernels' "omp simd" hints count at -O2 too, and
# -ffp-contract=off has every compiler round every product, so that a result
# can be compared bit for bit with a sequential run.
APP_CFLAGS = $(AM_CFLAGS) -fopenmp-simd -ffp-contract=off

# Nobody reads errno after sqrt(), which is an instruction without it.
APP_SQRT = -fno-math-errno

bin_PROGRAMS += hearth-sor hearth-mm hearth-lu hearth-nqueens
bin_PROGRAMS += hearth-ep hearth-is hearth-em3d hearth-tsp hearth-mg hearth-ft
bin_PROGRAMS += hearth-water hearth-barnes hearth-ocean hearth-climate
noinst_LTLIBRARIES += libhearth_apps.la

libhearth_apps_la_SOURCES = \
  %D%/common.c %D%/common.h \
  %D%/options.c %D%/options.h
libhearth_apps_la_CFLAGS = $(APP_CFLAGS)

APP_LIBS = libhearth_apps.la libhearth.la -lm

hearth_sor_SOURCES = %D%/sor.c
hearth_sor_CFLAGS = $(APP_CFLAGS)
hearth_sor_LDADD = $(APP_LIBS)

hearth_mm_SOURCES = %D%/mm.c %D%/gemm.c %D%/gemm.h
hearth_mm_CFLAGS = $(APP_CFLAGS)
hearth_mm_LDADD = $(APP_LIBS)

hearth_lu_SOURCES = %D%/lu.c %D%/lu.h %D%/lu_rows.c %D%/lu_verify.c \
  %D%/block.c %D%/block.h
hearth_lu_CFLAGS = $(APP_CFLAGS)
hearth_lu_LDADD = $(APP_LIBS)

hearth_nqueens_SOURCES = %D%/nqueens.c
hearth_nqueens_CFLAGS = $(APP_CFLAGS)
hearth_nqueens_LDADD = $(APP_LIBS)

hearth_ep_SOURCES = %D%/ep.c %D%/npb.h
hearth_ep_CFLAGS = $(APP_CFLAGS)
hearth_ep_LDADD = $(APP_LIBS)

hearth_is_SOURCES = %D%/is.c %D%/is_sort.c %D%/is_sort.h %D%/npb.h
hearth_is_CFLAGS = $(APP_CFLAGS)
hearth_is_LDADD = $(APP_LIBS)

hearth_em3d_SOURCES = %D%/em3d.c
hearth_em3d_CFLAGS = $(APP_CFLAGS)
hearth_em3d_LDADD = $(APP_LIBS)

hearth_tsp_SOURCES = %D%/tsp.c %D%/tsp_verify.c %D%/tsp_verify.h \
  %D%/tsplib.c %D%/tsplib.h
hearth_tsp_CFLAGS = $(APP_CFLAGS)
hearth_tsp_LDADD = $(APP_LIBS)

hearth_mg_SOURCES = %D%/mg.c %D%/mg_cycle.c %D%/mg_cycle.h \
  %D%/mg_grid.c %D%/mg_grid.h %D%/npb.h
hearth_mg_CFLAGS = $(APP_CFLAGS)
hearth_mg_LDADD = $(APP_LIBS)

hearth_ft_SOURCES = %D%/ft.c %D%/ft_heat.c %D%/ft_heat.h \
  %D%/ft_fft.c %D%/ft_fft.h %D%/npb.h
hearth_ft_CFLAGS = $(APP_CFLAGS)
hearth_ft_LDADD = $(APP_LIBS)

hearth_water_SOURCES = %D%/water.c %D%/water_model.c %D%/water_model.h
hearth_water_CFLAGS = $(APP_CFLAGS) $(APP_SQRT)
hearth_water_LDADD = $(APP_LIBS)

hearth_barnes_SOURCES = %D%/barnes.c \
  %D%/barnes_order.c %D%/barnes_order.h \
  %D%/barnes_tree.c %D%/barnes_tree.h
hearth_barnes_CFLAGS = $(APP_CFLAGS) $(APP_SQRT)
hearth_barnes_LDADD = $(APP_LIBS)

hearth_climate_SOURCES = %D%/climate.c %D%/climate_case.c \
  %D%/climate_case.h %D%/climate_core.c %D%/climate_core.h \
  %D%/climate_filter.c %D%/climate_filter.h %D%/climate_grid.c \
  %D%/climate_grid.h
hearth_climate_CFLAGS = $(APP_CFLAGS)
hearth_climate_LDADD = $(APP_LIBS)

hearth_ocean_SOURCES = %D%/ocean.c %D%/ocean_grid.c %D%/ocean_grid.h \
  %D%/ocean_model.c %D%/ocean_model.h %D%/ocean_solve.c %D%/ocean_solve.h
hearth_ocean_CFLAGS = $(APP_CFLAGS)
hearth_ocean_LDADD = $(APP_LIBS)
