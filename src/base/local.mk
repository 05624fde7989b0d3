# Options, counters and what is said on stderr; no MPI call.
libhearth_base_la_SOURCES += \
  %D%/assert.h %D%/cancel.h \
  %D%/clock.c %D%/clock.h \
  %D%/crowd.c %D%/crowd.h \
  %D%/distribution.def \
  %D%/format.c %D%/format.h \
  %D%/hash.h \
  %D%/mpi_call.c %D%/mpi_call.h \
  %D%/network.c %D%/network.h \
  %D%/dlsym_next.c %D%/dlsym_next.h \
  %D%/option.c %D%/option.def %D%/option.h \
  %D%/option_type.c %D%/option_type.h \
  %D%/test_limits.h \
  %D%/min.h \
  %D%/mutex.c %D%/mutex.def %D%/mutex.h \
  %D%/report.c %D%/report.h \
  %D%/stat.c %D%/stat.def %D%/stat.h \
  %D%/tasks.c \
  %D%/thread.c %D%/thread.h \
  %D%/timing.h \
  %D%/atomic_file.c %D%/atomic_file.h
