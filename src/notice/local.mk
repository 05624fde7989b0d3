# Pure data: diffs, sets of written pages, logs of notices.  No MPI, no state.
libhearth_base_la_SOURCES += \
  %D%/diff.c %D%/diff.h \
  %D%/notice_table.c %D%/notice_table.h %D%/coalesce.c %D%/coalesce.h \
  %D%/notice_store.c %D%/run_coarsen.c %D%/notice.h %D%/pageset.c %D%/ring.c
