# The link between clusters, without MPI.
if HAVE_CLUSTERS
if HAVE_CHECK
link_ldadd = tests/harness/libunit.la libhearth_link.la \
  libhearth_base.la $(CHECK_LIBS)

check_PROGRAMS += %D%/link_conf
no_mpi_tests += %D%/link_conf
%C%_link_conf_SOURCES = %D%/link_conf.c
%C%_link_conf_CFLAGS = $(test_cflags)
%C%_link_conf_LDADD = $(link_ldadd)

check_PROGRAMS += %D%/link_reliable_queue
no_mpi_tests += %D%/link_reliable_queue
%C%_link_reliable_queue_SOURCES = %D%/link_reliable_queue.c
%C%_link_reliable_queue_CFLAGS = $(test_cflags)
%C%_link_reliable_queue_LDADD = $(link_ldadd)

link_tests = %D%/link_handshake %D%/link_stranger %D%/link_cut \
  %D%/link_finish \
  %D%/link_again
check_PROGRAMS += $(link_tests)
no_mpi_tests += $(link_tests)
link_ends = %D%/link_ends.c %D%/link_ends.h tests/harness/visitor.h
%C%_link_handshake_SOURCES = %D%/link_handshake.c $(link_ends)
%C%_link_handshake_CFLAGS = $(test_cflags) $(OPENSSL_CFLAGS)
%C%_link_handshake_LDADD = $(link_ldadd)
%C%_link_stranger_SOURCES = %D%/link_stranger.c $(link_ends)
%C%_link_stranger_CFLAGS = $(test_cflags) $(OPENSSL_CFLAGS)
%C%_link_stranger_LDADD = $(link_ldadd)
%C%_link_cut_SOURCES = %D%/link_cut.c $(link_proxy) $(link_ends)
%C%_link_cut_CFLAGS = $(test_cflags)
%C%_link_cut_LDADD = $(link_ldadd)
%C%_link_finish_SOURCES = %D%/link_finish.c $(link_proxy) $(link_ends)
%C%_link_finish_CFLAGS = $(test_cflags)
%C%_link_finish_LDADD = $(link_ldadd)
%C%_link_again_SOURCES = %D%/link_again.c $(link_proxy) $(link_ends)
%C%_link_again_CFLAGS = $(test_cflags)
%C%_link_again_LDADD = $(link_ldadd)
endif

# By hand, and for clusters.tap.
check_PROGRAMS += %D%/rate
%C%_rate_SOURCES = %D%/rate.c
%C%_rate_LDADD = libhearth_link.la libhearth_base.la
endif
