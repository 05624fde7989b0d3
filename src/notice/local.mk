# Pure data: diffs, sets of written pages, logs of notices.  No MPI, no state.
libhearth_base_la_SOURCES += \
  %D%/diff.c %D%/diff.h \
  %D%/entries.c %D%/entries.h %D%/join.c %D%/join.h %D%/known.c %D%/merge.c %D%/notice.h %D%/pageset.c %D%/ring.c
