# The transport over datagrams.
# Datagrams that are lost, doubled, late and small.
tap_tests += %D%/udp.tap %D%/measures.tap
check_PROGRAMS += %D%/burst.mpi %D%/replay.mpi %D%/torn.mpi
%C%_burst_mpi_SOURCES = %D%/burst.c
%C%_burst_mpi_CFLAGS = $(test_cflags)
%C%_burst_mpi_LDADD = $(mpi_ldadd)
%C%_replay_mpi_SOURCES = %D%/replay.c %D%/replay.h %D%/replay_overheard.c
%C%_replay_mpi_CFLAGS = $(test_cflags)
%C%_replay_mpi_LDADD = $(mpi_ldadd)
%C%_torn_mpi_SOURCES = %D%/torn.c
%C%_torn_mpi_CFLAGS = $(test_cflags)
%C%_torn_mpi_LDADD = $(mpi_ldadd)

# The decoder of the udp transport's datagrams.
unit_tests += %D%/wire
%C%_wire_SOURCES = %D%/wire.c %D%/wire.h
%C%_wire_CFLAGS = $(test_cflags)
%C%_wire_LDADD = $(unit_ldadd)

# Its time-outs and windows.
unit_tests += %D%/congestion
%C%_congestion_SOURCES = %D%/congestion.c
%C%_congestion_CFLAGS = $(test_cflags)
%C%_congestion_LDADD = $(core_ldadd)

# Its seal, and its sockets.  MPI is linked, not started.
unit_tests += %D%/mac %D%/datagram_rx
%C%_mac_SOURCES = %D%/mac.c
%C%_mac_CFLAGS = $(test_cflags)
%C%_mac_LDADD = $(core_ldadd)
%C%_datagram_rx_SOURCES = %D%/datagram_rx.c
%C%_datagram_rx_CFLAGS = $(test_cflags)
%C%_datagram_rx_LDADD = $(core_ldadd)
