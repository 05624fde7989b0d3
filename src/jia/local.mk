# jia.h, on top of hearth.h; the lowest file first.
libhearth_core_la_SOURCES += \
  %D%/hosts.c %D%/hosts.h \
  %D%/tune.c %D%/tune.h \
  %D%/sync.c %D%/sync.h \
  %D%/message.c %D%/message.h \
  %D%/alloc.c %D%/alloc.h \
  %D%/start.c
