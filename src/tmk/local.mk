# Tmk.h, on top of hearth.h; the lowest file first.
libhearth_core_la_SOURCES += \
  %D%/tmk_area.c %D%/tmk_area.h \
  %D%/tmk_image.c %D%/tmk_image.h \
  %D%/tmk_share.c %D%/tmk_share.h \
  %D%/tmk_sync.c \
  %D%/tmk_sched.c %D%/tmk_sched.h \
  %D%/tmk_start.c
