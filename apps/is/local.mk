bin_PROGRAMS += hearth-is
hearth_is_SOURCES = %D%/is.c %D%/sort.c %D%/sort.h apps/npb.h
hearth_is_CFLAGS = $(APP_CFLAGS)
hearth_is_LDADD = $(APP_LIBS)
hearth_is_DEPENDENCIES = $(APP_NEEDS)
