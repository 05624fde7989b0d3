# Ranks that go away.
tap_tests += %D%/ends.tap %D%/one_by_one.tap

# Calls of the system that fail, one in each run.
tap_tests += %D%/short.tap
check_PROGRAMS += %D%/short
%C%_short_SOURCES = %D%/short.c $(short)
%C%_short_CFLAGS = $(harness_cflags)
%C%_short_LDFLAGS = $(short_wraps)
%C%_short_LDADD = libhearth_core.la

# Ranks that wait for each other: what all of them have told, and jobs.
unit_tests += %D%/wait_graph
%C%_wait_graph_SOURCES = %D%/wait_graph.c
%C%_wait_graph_CFLAGS = $(test_cflags)
%C%_wait_graph_LDADD = $(core_ldadd)
tap_tests += %D%/deadlock.tap
check_PROGRAMS += %D%/deadlock
%C%_deadlock_SOURCES = %D%/deadlock.c
%C%_deadlock_CFLAGS = $(lines_cflags)
%C%_deadlock_LDADD = libhearth.la
