# hearth-perf: measures the library beside plain MPI and bare UDP.
bin_PROGRAMS += hearth-perf
hearth_perf_SOURCES = %D%/atomic.c %D%/beside.c %D%/busy.c %D%/empty.c %D%/far.c %D%/fault.c %D%/heap.c %D%/home.c \
  %D%/idle.c %D%/lock.c %D%/malloc.c %D%/measure.c %D%/model.c %D%/pattern.c %D%/perf.c %D%/perf.h \
  %D%/raw.c %D%/report.c %D%/scatter.c %D%/stores.c %D%/stream.c %D%/stream.h \
  %D%/sync.c %D%/trip.c %D%/udp.c %D%/udp.h %D%/udp_ask.c %D%/udp_serve.c %D%/words.c
hearth_perf_LDADD = libhearth.la libhearth_base.la
hearth_perf_DEPENDENCIES = libhearth.offers libhearth_base.la
