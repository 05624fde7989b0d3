# Write notices, page sets, diffs and logs: pure data.
unit_tests += %D%/diff %D%/coalesce %D%/notice_store %D%/run_coarsen \
  %D%/notice %D%/pageset \
  %D%/ring

%C%_diff_SOURCES = %D%/diff.c
%C%_diff_CFLAGS = $(test_cflags)
%C%_diff_LDADD = $(unit_ldadd)

%C%_notice_store_SOURCES = %D%/notice_store.c %D%/notice_store.h \
  %D%/notice_store_list.c %D%/notice_store_merged.c
%C%_notice_store_CFLAGS = $(test_cflags)
%C%_notice_store_LDADD = $(unit_ldadd)

%C%_coalesce_SOURCES = %D%/coalesce.c
%C%_coalesce_CFLAGS = $(test_cflags)
%C%_coalesce_LDADD = $(unit_ldadd)

%C%_notice_SOURCES = %D%/notice.c
%C%_notice_CFLAGS = $(test_cflags)
%C%_notice_LDADD = $(unit_ldadd)

%C%_run_coarsen_SOURCES = %D%/run_coarsen.c
%C%_run_coarsen_CFLAGS = $(test_cflags)
%C%_run_coarsen_LDADD = $(unit_ldadd)

%C%_pageset_SOURCES = %D%/pageset.c
%C%_pageset_CFLAGS = $(test_cflags)
%C%_pageset_LDADD = $(unit_ldadd)

%C%_ring_SOURCES = %D%/ring.c
%C%_ring_CFLAGS = $(test_cflags)
%C%_ring_LDADD = $(unit_ldadd)

unit_tests += %D%/log
%C%_log_SOURCES = %D%/log.c %D%/log.h %D%/log_history.c
%C%_log_CFLAGS = $(test_cflags)
%C%_log_LDADD = $(unit_ldadd)

unit_tests += %D%/word_split
%C%_word_split_SOURCES = %D%/word_split.c
%C%_word_split_CFLAGS = $(test_cflags)
%C%_word_split_LDADD = $(unit_ldadd)
