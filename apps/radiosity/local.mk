bin_PROGRAMS += hearth-radiosity
hearth_radiosity_SOURCES = %D%/radiosity.c %D%/room.c %D%/room.h \
  %D%/light.c %D%/light.h
hearth_radiosity_CFLAGS = $(APP_CFLAGS) $(APP_SQRT)
hearth_radiosity_LDADD = $(APP_LIBS)
hearth_radiosity_DEPENDENCIES = $(APP_NEEDS)
