# What the macros of m4/hearth.m4 call, on top of hearth.h; the lowest file
# first.
libhearth_core_la_SOURCES += \
  %D%/parmacs_part.c %D%/parmacs_part.h \
  %D%/parmacs_program.c %D%/parmacs_program.h \
  %D%/parmacs_private.c %D%/parmacs_private.h \
  %D%/parmacs_main.c %D%/parmacs_main.h \
  %D%/parmacs_sync.c \
  %D%/parmacs_process.c \
  %D%/parmacs_start.c

hearthdatadir = $(datadir)/hearth
dist_hearthdata_DATA = m4/hearth.m4
