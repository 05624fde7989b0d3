# The transport between clusters, without a network.
if HAVE_CLUSTERS
if HAVE_CHECK
# MPI is linked, not started.
check_PROGRAMS += %D%/batching
no_mpi_tests += %D%/batching
%C%_batching_SOURCES = %D%/batching.c
%C%_batching_CFLAGS = $(test_cflags)
%C%_batching_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/remote_request
no_mpi_tests += %D%/remote_request
%C%_remote_request_SOURCES = %D%/remote_request.c
%C%_remote_request_CFLAGS = $(test_cflags)
%C%_remote_request_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/connection_replay
no_mpi_tests += %D%/connection_replay
%C%_connection_replay_SOURCES = %D%/connection_replay.c \
  tests/harness/property.h
%C%_connection_replay_CFLAGS = $(test_cflags)
%C%_connection_replay_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/gateway_channel
no_mpi_tests += %D%/gateway_channel
%C%_gateway_channel_SOURCES = %D%/gateway_channel.c tests/harness/visitor.h
%C%_gateway_channel_CFLAGS = $(test_cflags)
%C%_gateway_channel_LDADD = $(core_ldadd)
endif
endif
