# Tmk.h, on top of hearth.h; the lowest file first.
libhearth_core_la_SOURCES += \
  %D%/process.c %D%/process.h \
  %D%/image.c %D%/image.h \
  %D%/area.c %D%/area.h \
  %D%/share.c %D%/share.h \
  %D%/sync.c \
  %D%/start.c
