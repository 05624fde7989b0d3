# Tests of diffs and notices, and the model of home pages without cost.
unit_tests += %D%/diff %D%/join %D%/known %D%/merge %D%/notice %D%/pageset %D%/ring

%C%_diff_SOURCES = %D%/diff.c %D%/property.h %D%/harness.h %D%/harness_unit.c
%C%_diff_CFLAGS = $(test_cflags)
%C%_diff_LDADD = $(unit_ldadd)

%C%_known_SOURCES = %D%/known.c %D%/known.h %D%/known_list.c \
  %D%/known_merged.c \
  %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_known_CFLAGS = $(test_cflags)
%C%_known_LDADD = $(unit_ldadd)

%C%_join_SOURCES = %D%/join.c %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_join_CFLAGS = $(test_cflags)
%C%_join_LDADD = $(unit_ldadd)

%C%_notice_SOURCES = %D%/notice.c %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_notice_CFLAGS = $(test_cflags)
%C%_notice_LDADD = $(unit_ldadd)

%C%_merge_SOURCES = %D%/merge.c %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_merge_CFLAGS = $(test_cflags)
%C%_merge_LDADD = $(unit_ldadd)

%C%_pageset_SOURCES = %D%/pageset.c %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_pageset_CFLAGS = $(test_cflags)
%C%_pageset_LDADD = $(unit_ldadd)

%C%_ring_SOURCES = %D%/ring.c %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_ring_CFLAGS = $(test_cflags)
%C%_ring_LDADD = $(unit_ldadd)

# Free frames.  MPI is linked, not started.
unit_tests += %D%/pool
%C%_pool_SOURCES = %D%/pool.c %D%/property.h %D%/harness.h %D%/harness_unit.c
%C%_pool_CFLAGS = $(test_cflags)
%C%_pool_LDADD = libhearth_core.la $(CHECK_LIBS)

# Where pages moved.
unit_tests += %D%/moved
%C%_moved_SOURCES = %D%/moved.c %D%/harness.h %D%/harness_unit.c
%C%_moved_CFLAGS = $(test_cflags)
%C%_moved_LDADD = libhearth_core.la $(CHECK_LIBS)

# What stands in letters.
unit_tests += %D%/letter
%C%_letter_SOURCES = %D%/letter.c %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_letter_CFLAGS = $(test_cflags)
%C%_letter_LDADD = libhearth_core.la $(CHECK_LIBS)

unit_tests += %D%/log
%C%_log_SOURCES = %D%/log.c %D%/log.h %D%/log_history.c %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_log_CFLAGS = $(test_cflags)
%C%_log_LDADD = $(unit_ldadd)

# An exhaustive model needs nothing but C.
check_PROGRAMS += %D%/model/model
%C%_model_model_SOURCES = %D%/model/model.h %D%/model/walk.c \
  %D%/model/state.c %D%/model/sync.c %D%/model/home.c %D%/model/guest.c \
  %D%/model/life.c %D%/model/mate.c %D%/model/rules.c
check_PROGRAMS += %D%/model/chain %D%/model/flag
%C%_model_chain_SOURCES = %D%/model/chain.c %D%/model/chain.h \
  %D%/model/chain_take.c %D%/model/search.c \
  %D%/model/search.h
%C%_model_flag_SOURCES = %D%/model/flag.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/wake
%C%_model_wake_SOURCES = %D%/model/wake.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/gateway
%C%_model_gateway_SOURCES = %D%/model/gateway.c %D%/model/gateway.h \
  %D%/model/gateway_mate.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/names
%C%_model_names_SOURCES = %D%/model/names.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/word
%C%_model_word_SOURCES = %D%/model/word.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/cond
%C%_model_cond_SOURCES = %D%/model/cond.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/stay
%C%_model_stay_SOURCES = %D%/model/stay.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/move
%C%_model_move_SOURCES = %D%/model/move.c %D%/model/move.h \
  %D%/model/move_use.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/mail
%C%_model_mail_SOURCES = %D%/model/mail.c %D%/model/mail.h \
  %D%/model/mail_home.c %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/rw
%C%_model_rw_SOURCES = %D%/model/rw.c %D%/model/rw.h %D%/model/rw_check.c \
  %D%/model/search.c %D%/model/search.h
check_PROGRAMS += %D%/model/epoch
%C%_model_epoch_SOURCES = %D%/model/epoch.c %D%/model/epoch.h \
  %D%/model/epoch_known.c %D%/model/search.c %D%/model/search.h
no_mpi_tests += %D%/model.sh
EXTRA_DIST += %D%/model.sh

# The decoder of the udp transport's datagrams.
unit_tests += %D%/wire
%C%_wire_SOURCES = %D%/wire.c %D%/wire.h %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_wire_CFLAGS = $(test_cflags)
%C%_wire_LDADD = $(unit_ldadd)

unit_tests += %D%/cut
%C%_cut_SOURCES = %D%/cut.c %D%/property.h %D%/harness.h %D%/harness_unit.c
%C%_cut_CFLAGS = $(test_cflags)
%C%_cut_LDADD = $(unit_ldadd)

no_mpi_tests += %D%/fuzz.sh
EXTRA_DIST += %D%/fuzz.sh %D%/wire_fuzz.c

# Its seal, and its sockets.  MPI is linked, not started.
unit_tests += %D%/seal %D%/inbox
%C%_seal_SOURCES = %D%/seal.c %D%/harness.h %D%/harness_unit.c
%C%_seal_CFLAGS = $(test_cflags)
%C%_seal_LDADD = libhearth_core.la $(CHECK_LIBS)
%C%_inbox_SOURCES = %D%/inbox.c %D%/harness.h %D%/harness_unit.c
%C%_inbox_CFLAGS = $(test_cflags)
%C%_inbox_LDADD = libhearth_core.la $(CHECK_LIBS)
