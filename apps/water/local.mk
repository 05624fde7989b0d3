bin_PROGRAMS += hearth-water
hearth_water_SOURCES = %D%/water.c %D%/model.c %D%/model.h
hearth_water_CFLAGS = $(APP_CFLAGS) $(APP_SQRT)
hearth_water_LDADD = $(APP_LIBS)
hearth_water_DEPENDENCIES = $(APP_NEEDS)
