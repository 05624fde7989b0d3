# Options, counters and what is said on stderr; no MPI call.
libhearth_base_la_SOURCES += \
  %D%/cancel.h \
  %D%/clock.c %D%/clock.h \
  %D%/distribution.def \
  %D%/fault_signal.h \
  %D%/alone.c %D%/alone.h %D%/inside.c %D%/inside.h \
  %D%/network.c %D%/network.h \
  %D%/next.c %D%/next.h \
  %D%/option.c %D%/option.def %D%/option.h \
  %D%/option_type.c %D%/option_type.h \
  %D%/bound.h \
  %D%/least.h \
  %D%/random.h \
  %D%/slice.c %D%/slice.h \
  %D%/spin.c %D%/spin.h \
  %D%/report.c %D%/report.h \
  %D%/stat.c %D%/stat.def %D%/stat.h \
  %D%/thread.c %D%/thread.h \
  %D%/timing.h \
  %D%/whole.c %D%/whole.h
