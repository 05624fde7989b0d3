# jia.h, on top of hearth.h.
libhearth_core_la_SOURCES += \
  %D%/alloc.c \
  %D%/message.c \
  %D%/start.c \
  %D%/sync.c \
  %D%/tune.c \
  %D%/layer.h
