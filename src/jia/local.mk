# jia.h, on top of hearth.h; the lowest file first.
libhearth_core_la_SOURCES += \
  %D%/jia_hosts.c %D%/jia_hosts.h \
  %D%/jia_sync.c \
  %D%/jia_message.c \
  %D%/jia_alloc.c \
  %D%/jia_arguments.c \
  %D%/jia_start.c %D%/jia_start.h
