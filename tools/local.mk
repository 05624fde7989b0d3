bin_PROGRAMS += hearth-info
hearth_info_SOURCES = %D%/hearth-info.c %D%/info.h %D%/info_fabric.c \
  %D%/info_probe.c %D%/info_recipe.c %D%/info_verdict.c
hearth_info_CFLAGS = $(AM_CFLAGS) $(LIBFABRIC_CFLAGS)
hearth_info_LDADD = libhearth_base.la $(LIBFABRIC_LIBS)
