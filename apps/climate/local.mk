bin_PROGRAMS += hearth-climate
hearth_climate_SOURCES = %D%/climate.c %D%/case.c %D%/case.h %D%/core.c \
  %D%/core.h %D%/filter.c %D%/filter.h %D%/grid.c %D%/grid.h
hearth_climate_CFLAGS = $(APP_CFLAGS)
hearth_climate_LDADD = $(APP_LIBS)
hearth_climate_DEPENDENCIES = $(APP_NEEDS)
