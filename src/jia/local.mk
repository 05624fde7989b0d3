# jia.h, on top of hearth.h; the lowest file first.
libhearth_core_la_SOURCES += \
  %D%/jia_hosts.c %D%/jia_hosts.h \
  %D%/jia_tune.c %D%/jia_tune.h \
  %D%/jia_sync.c %D%/jia_sync.h \
  %D%/jia_message.c %D%/jia_message.h \
  %D%/jia_alloc.c %D%/jia_alloc.h \
  %D%/jia_start.c
