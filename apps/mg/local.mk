bin_PROGRAMS += hearth-mg
hearth_mg_SOURCES = %D%/mg.c %D%/cycle.c %D%/cycle.h %D%/grid.c %D%/grid.h \
  apps/npb.h
hearth_mg_CFLAGS = $(APP_CFLAGS)
hearth_mg_LDADD = $(APP_LIBS)
hearth_mg_DEPENDENCIES = $(APP_NEEDS)
