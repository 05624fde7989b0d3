# What the macros of m4/hearth.m4 call, on top of hearth.h; the lowest file
# first.
libhearth_core_la_SOURCES += \
  %D%/parmacs_part.c %D%/parmacs_part.h \
  %D%/parmacs_memory.c %D%/parmacs_memory.h \
  %D%/parmacs_entry.c %D%/parmacs_entry.h \
  %D%/parmacs_sync.c \
  %D%/parmacs_input.c %D%/parmacs_input.h \
  %D%/parmacs_process.c %D%/parmacs_process.h \
  %D%/parmacs_start.c

hearthdatadir = $(datadir)/hearth
dist_hearthdata_DATA = m4/hearth.m4
