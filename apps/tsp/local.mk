bin_PROGRAMS += hearth-tsp
hearth_tsp_SOURCES = %D%/tsp.c %D%/pool.c %D%/pool.h %D%/tsplib.c \
  %D%/tsplib.h %D%/verify.c %D%/verify.h
hearth_tsp_CFLAGS = $(APP_CFLAGS)
hearth_tsp_LDADD = $(APP_LIBS)
hearth_tsp_DEPENDENCIES = $(APP_NEEDS)
