# What the macros of m4/hearth.m4 call, on top of hearth.h; the lowest file
# first.
libhearth_core_la_SOURCES += \
  %D%/part.c %D%/part.h \
  %D%/memory.c %D%/memory.h \
  %D%/entry.c %D%/entry.h \
  %D%/sync.c \
  %D%/input.c %D%/input.h \
  %D%/process.c %D%/process.h \
  %D%/start.c

hearthdatadir = $(datadir)/hearth
dist_hearthdata_DATA = m4/hearth.m4
