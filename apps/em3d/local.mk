bin_PROGRAMS += hearth-em3d
hearth_em3d_SOURCES = %D%/em3d.c %D%/ghosts.c %D%/ghosts.h
hearth_em3d_CFLAGS = $(APP_CFLAGS)
hearth_em3d_LDADD = $(APP_LIBS)
hearth_em3d_DEPENDENCIES = $(APP_NEEDS)
