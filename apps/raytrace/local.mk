bin_PROGRAMS += hearth-raytrace
hearth_raytrace_SOURCES = %D%/raytrace.c %D%/scene.c %D%/scene.h \
  %D%/geometry.c %D%/geometry.h \
  %D%/trace.c %D%/trace.h
hearth_raytrace_CFLAGS = $(APP_CFLAGS) $(APP_SQRT)
hearth_raytrace_LDADD = $(APP_LIBS)
hearth_raytrace_DEPENDENCIES = $(APP_NEEDS)
