bin_PROGRAMS += hearth-info
hearth_info_SOURCES = %D%/fabric.c %D%/info.c %D%/info.h %D%/limits.c \
  %D%/machine.c %D%/probe.c %D%/recipe.c %D%/verdict.c
hearth_info_CFLAGS = $(AM_CFLAGS) $(LIBFABRIC_CFLAGS)
hearth_info_LDADD = libhearth_base.la
