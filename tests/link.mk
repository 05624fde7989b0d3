# The link between clusters, without MPI.
if HAVE_CLUSTERS
if HAVE_CHECK
link_ldadd = libhearth_link.la libhearth_base.la $(CHECK_LIBS)

check_PROGRAMS += %D%/link_conf
no_mpi_tests += %D%/link_conf
%C%_link_conf_SOURCES = %D%/link_conf.c %D%/harness.h %D%/harness_unit.c
%C%_link_conf_CFLAGS = $(test_cflags)
%C%_link_conf_LDADD = $(link_ldadd)

check_PROGRAMS += %D%/link_post
no_mpi_tests += %D%/link_post
%C%_link_post_SOURCES = %D%/link_post.c %D%/property.h \
  %D%/harness.h %D%/harness_unit.c
%C%_link_post_CFLAGS = $(test_cflags)
%C%_link_post_LDADD = $(link_ldadd)

link_tests = %D%/link_meet %D%/link_stranger %D%/link_cut %D%/link_finish \
  %D%/link_again
check_PROGRAMS += $(link_tests)
no_mpi_tests += $(link_tests)
link_ends = %D%/link_ends.c %D%/link_ends.h %D%/visitor.h %D%/harness.h %D%/harness_unit.c
%C%_link_meet_SOURCES = %D%/link_meet.c $(link_ends)
%C%_link_meet_CFLAGS = $(test_cflags) $(OPENSSL_CFLAGS)
%C%_link_meet_LDADD = $(link_ldadd)
%C%_link_stranger_SOURCES = %D%/link_stranger.c $(link_ends)
%C%_link_stranger_CFLAGS = $(test_cflags) $(OPENSSL_CFLAGS)
%C%_link_stranger_LDADD = $(link_ldadd)
%C%_link_cut_SOURCES = %D%/link_cut.c %D%/link_proxy.c %D%/link_proxy.h \
  %D%/property.h $(link_ends)
%C%_link_cut_CFLAGS = $(test_cflags)
%C%_link_cut_LDADD = $(link_ldadd)
%C%_link_finish_SOURCES = %D%/link_finish.c %D%/link_proxy.c \
  %D%/link_proxy.h %D%/property.h $(link_ends)
%C%_link_finish_CFLAGS = $(test_cflags)
%C%_link_finish_LDADD = $(link_ldadd)
%C%_link_again_SOURCES = %D%/link_again.c %D%/link_proxy.c \
  %D%/link_proxy.h %D%/property.h $(link_ends)
%C%_link_again_CFLAGS = $(test_cflags)
%C%_link_again_LDADD = $(link_ldadd)

# MPI is linked, not started.
check_PROGRAMS += %D%/company
no_mpi_tests += %D%/company
%C%_company_SOURCES = %D%/company.c %D%/harness.h %D%/harness_unit.c
%C%_company_CFLAGS = $(test_cflags)
%C%_company_LDADD = libhearth_core.la $(CHECK_LIBS)

check_PROGRAMS += %D%/far
no_mpi_tests += %D%/far
%C%_far_SOURCES = %D%/far.c %D%/harness.h %D%/harness_unit.c
%C%_far_CFLAGS = $(test_cflags)
%C%_far_LDADD = libhearth_core.la $(CHECK_LIBS)

check_PROGRAMS += %D%/channel
no_mpi_tests += %D%/channel
%C%_channel_SOURCES = %D%/channel.c %D%/harness.h %D%/harness_unit.c
%C%_channel_CFLAGS = $(test_cflags)
%C%_channel_LDADD = libhearth_core.la $(CHECK_LIBS)

endif
no_mpi_tests += %D%/gateway.sh

# By hand, and for clusters.tap.
check_PROGRAMS += %D%/clustering/rate %D%/caller
%C%_clustering_rate_SOURCES = %D%/clustering/rate.c
%C%_clustering_rate_LDADD = libhearth_link.la libhearth_base.la
%C%_caller_SOURCES = %D%/caller.c %D%/visitor.h
%C%_caller_LDADD = libhearth_link.la libhearth_base.la
endif
EXTRA_DIST += %D%/gateway.sh
