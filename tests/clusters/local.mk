# Over several clusters, by clusters.tap.
check_PROGRAMS += %D%/worlds.mpi
%C%_worlds_mpi_SOURCES = %D%/worlds.c %D%/worlds.h %D%/worlds_remote_io.c \
  %D%/worlds_listener.c %D%/worlds_ahead.c %D%/worlds_node_cache.c \
  %D%/worlds_fault.c %D%/worlds_reset.c \
  $(half) $(levels)
%C%_worlds_mpi_CFLAGS = $(test_cflags)
%C%_worlds_mpi_LDADD = $(mpi_ldadd)

# A handler that is a rank.
check_PROGRAMS += %D%/hidden_rank
%C%_hidden_rank_SOURCES = %D%/hidden_rank.c
%C%_hidden_rank_LDADD = libhearth_core.la
# Several clusters, and those of different kinds.
tap_tests += %D%/clusters.tap %D%/kinds.tap
check_LTLIBRARIES += %D%/large_pages.la
%C%_large_pages_la_SOURCES = %D%/large_pages.c
%C%_large_pages_la_LDFLAGS = -module -avoid-version -rpath /nowhere

if HAVE_CLUSTERS
check_PROGRAMS += %D%/caller
%C%_caller_SOURCES = %D%/caller.c tests/harness/visitor.h
%C%_caller_CFLAGS = $(harness_cflags)
%C%_caller_LDADD = libhearth_link.la libhearth_base.la
endif
