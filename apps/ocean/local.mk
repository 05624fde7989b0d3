bin_PROGRAMS += hearth-ocean
hearth_ocean_SOURCES = %D%/ocean.c %D%/grid.c %D%/grid.h %D%/model.c \
  %D%/model.h %D%/solve.c %D%/solve.h \
  %D%/transfer.c %D%/transfer.h
hearth_ocean_CFLAGS = $(APP_CFLAGS)
hearth_ocean_LDADD = $(APP_LIBS)
hearth_ocean_DEPENDENCIES = $(APP_NEEDS)
