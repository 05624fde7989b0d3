# hearth-perf: measures the library beside plain MPI and bare UDP.
bin_PROGRAMS += hearth-perf
hearth_perf_SOURCES = %D%/hearth-perf.c %D%/perf.h %D%/perf_busy.c \
  %D%/perf_empty.c %D%/perf_fault.c %D%/perf_home.c %D%/perf_idle.c \
  %D%/perf_measure.c %D%/perf_model.c %D%/perf_raw.c %D%/perf_report.c \
  %D%/perf_stream.c %D%/perf_sync.c %D%/perf_trip.c %D%/perf_udp.c \
  %D%/perf_udp.h %D%/perf_udp_ask.c %D%/perf_udp_serve.c
hearth_perf_LDADD = libhearth.la
