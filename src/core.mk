# Everything that may call MPI, lowest layer first.
libhearth_core_la_SOURCES += \
  src/cluster.c src/cluster.h \
  src/world.c src/world.h \
  src/collective.c src/collective.h \
  src/life/life.c src/life/life.h \
  src/life/liveness_rx.c src/life/liveness_rx.h \
  src/life/liveness_line.c src/life/liveness_line.h \
  src/life/ring_setup.c src/life/ring_setup.h \
  src/life/report_election.c src/life/report_election.h \
  src/life/abandoned_gather.c src/life/abandoned_gather.h \
  src/window_order.c src/window_order.h \
  src/space/extent.c src/space/extent.h \
  src/space/heap.c src/space/heap.h \
  src/space/pool.c src/space/pool.h \
  src/space/arena.c src/space/arena.h \
  src/space/segment.c src/space/segment.h \
  src/space/files.c src/space/files.h \
  src/page/migrated.c src/page/migrated.h \
  src/page/page_map.c src/page/page_map.h \
  src/page/local_frames.c src/page/local_frames.h \
  src/page/page.c src/page/page.h \
  src/page/page_table.c \
  src/policy/uffd_policy.c src/policy/uffd_policy.h \
  src/page/protect.c src/page/protect.h \
  src/page/uffd_pages.c src/page/uffd_pages.h \
  src/page/copies.c src/page/copies.h \
  src/page/diffs.c src/page/diffs.h \
  src/page/frames.c src/page/frames.h \
  src/page/evict.c src/page/evict.h \
  src/page/overwrite.c src/page/overwrite.h \
  src/policy/sticky_home.c src/policy/sticky_home.h \
  src/policy/reuse_predictor.c src/policy/reuse_predictor.h src/page/reuse_prefetch.c src/page/reuse_prefetch.h \
  src/policy/stride_prefetch.c src/policy/stride_prefetch.h \
  src/page/node_cache.c src/page/node_cache.h src/page/fetch_coalesce.c src/page/node_tag.h \
  src/page/node_copy.c src/page/node_copy.h \
  src/page/fetch_round.c src/page/fetch_round.h \
  src/page/page_in_flight.c src/page/page_in_flight.h src/page/fetch.c src/page/fetch.h \
  src/page/sharer_notify.c src/page/sharer_notify.h \
  src/page/pin_count.c src/page/pin_count.h \
  src/page/home_write_guard.c src/page/home_write_guard.h \
  src/page/migration_freeze.c src/page/migration_freeze.h \
  src/page/pin.c src/page/pin.h \
  src/page/fault.c src/page/fault.h src/page/fault_arch.h \
  src/page/altstack.c src/page/altstack.h \
  src/page/fault_dispatch.c src/page/fault_dispatch.h \
  src/page/signal.c \
  src/page/fault_report.c \
  src/home/migration_frames.c src/home/migration_frames.h \
  src/home/home_layout.c src/home/home_layout.h \
  src/home/home.c src/home/home.h \
  src/coherence/sharer_flags.c src/coherence/sharer_flags.h \
  src/coherence/interval.c \
  src/coherence/migrate_request.c src/coherence/migrate_request.h \
  src/coherence/migrate_agree.c src/coherence/migrate_agree.h \
  src/coherence/migrate_vote.c src/coherence/migrate_vote.h \
  src/coherence/migrate.c src/coherence/migrate.h \
  src/coherence/range_sync.c src/coherence/range_sync.h \
  src/coherence/apply.c \
  src/coherence/home_atomic.c src/coherence/home_atomic.h \
  src/coherence/coherence.c src/coherence/coherence.h \
  src/coherence/lock_sync.c src/coherence/known_notices.h \
  src/coherence/lock_recall.c src/coherence/lock_recall.h \
  src/coherence/lock_idle.c src/coherence/lock_idle.h \
  src/transport/transport.c src/transport/transport.h \
  src/transport/atomic_op.h src/transport/word_split.h \
  src/node/shm_area.c src/node/shm_area.h \
  src/node/event.c src/node/event.h \
  src/node/lock_names.c src/node/lock_names.h \
  src/transport/remote_word.c src/transport/remote_word.h \
  src/transport/lock_directory.c src/transport/lock_directory.h \
  src/node/lock_delegation.c src/node/lock_delegation.h \
  src/transport/mpi/am_buffer.c src/transport/mpi/am_buffer.h \
  src/transport/mpi/am_mailbox.c src/transport/mpi/am_mailbox.h \
  src/transport/mpi/mpi.c src/transport/mpi/mpi.h \
  src/transport/mpi/diff_aggregate.c src/transport/mpi/diff_aggregate.h \
  src/transport/mpi/transfer.c src/transport/mpi/transfer.h \
  src/transport/mpi/mpi_fabric_window.c src/transport/mpi/mpi_fabric_window.h \
  src/node/node.c \
  src/transport/mpi/rma_object.c src/transport/mpi/rma_object.h \
  src/transport/mpi/mcs_nodes.c src/transport/mpi/mcs_nodes.h \
  src/transport/mpi/mcs_lock.c src/transport/mpi/mcs_lock.h \
  src/node/node_lock.c src/node/node_lock.h \
  src/transport/mpi/flag_ticket.c src/transport/mpi/flag_ticket.h \
  src/transport/mpi/wait_slot.c src/transport/mpi/wait_slot.h \
  src/transport/mpi/sync.c \
  src/transport/mpi/flag.c src/transport/mpi/flag.h \
  src/transport/mpi/cond.c \
  src/transport/mpi/rw.c \
  src/transport/mpi/barrier.c \
  src/transport/mpi/progress.c src/transport/mpi/progress.h \
  src/transport/mpi/mpi_fabric_wait.c \
  src/transport/mpi/mpi_fabric_probe.c \
  src/transport/mpi/doorbell.c \
  src/transport/mpi/helper.c \
  src/transport/udp/ack.c src/transport/udp/ack.h \
  src/transport/udp/barrier_tree.c src/transport/udp/barrier_tree.h \
  src/transport/udp/pipeline.c src/transport/udp/pipeline.h \
  src/transport/udp/udp_hello.c src/transport/udp/udp_hello.h \
  src/transport/udp/peer_handshake.c src/transport/udp/peer_handshake.h \
  src/transport/udp/udp_address.c src/transport/udp/udp_address.h \
  src/transport/udp/barrier.c src/transport/udp/barrier.h \
  src/transport/udp/client.c src/transport/udp/client.h \
  src/transport/udp/count.c src/transport/udp/count.h \
  src/transport/udp/udp_diff.c src/transport/udp/udp_diff.h \
  src/transport/udp/gateway_store.c src/transport/udp/gateway_store.h \
  src/transport/udp/peer_failure.c src/transport/udp/peer_failure.h \
  src/transport/udp/send_window.c src/transport/udp/send_window.h \
  src/transport/udp/udp_home.c src/transport/udp/udp_home.h \
  src/transport/udp/host_acl.c src/transport/udp/host_acl.h \
  src/transport/udp/datagram_rx.c src/transport/udp/datagram_rx.h \
  src/node/shm_channel.c src/node/shm_channel.h \
  src/transport/udp/barrier_notices.c src/transport/udp/barrier_notices.h \
  src/transport/udp/sync_object.c src/transport/udp/sync_object.h \
  src/transport/udp/udp_delegation.c src/transport/udp/udp_delegation.h \
  src/transport/udp/cond.c src/transport/udp/cond.h \
  src/transport/udp/rw.c src/transport/udp/rw.h \
  src/transport/udp/sync_manager.c src/transport/udp/sync_manager.h \
  src/transport/udp/flow_control.c src/transport/udp/flow_control.h \
  src/transport/udp/udp_page.c src/transport/udp/udp_page.h \
  src/transport/udp/mac.c src/transport/udp/mac.h \
  src/transport/udp/server.c src/transport/udp/server.h \
  src/transport/udp/socket.c src/transport/udp/socket.h \
  src/transport/udp/sync.c src/transport/udp/sync.h \
  src/transport/udp/socket_thread.c src/transport/udp/socket_thread.h \
  src/transport/udp/timer.c src/transport/udp/timer.h \
  src/transport/udp/fault_injection.c src/transport/udp/fault_injection.h \
  src/transport/udp/udp.c \
  src/transport/udp/liveness_probe.c src/transport/udp/liveness_probe.h \
  src/transport/udp/udp_job.h \
  src/api/layers.c src/api/layers.h \
  src/api/init.c src/api/api.h \
  src/api/launch_check.c src/api/launch_check.h \
  src/malloc/size_class.h \
  src/malloc/slab.c src/malloc/slab.h \
  src/malloc/arena_map.c src/malloc/arena_map.h \
  src/malloc/owner_cache.c src/malloc/owner_cache.h \
  src/malloc/vacant.c src/malloc/vacant.h \
  src/malloc/central_freelist.c src/malloc/central_freelist.h \
  src/malloc/freelist_state.h \
  src/malloc/guard.c src/malloc/guard.h \
  src/malloc/large.c src/malloc/large_resize.c \
  src/malloc/purge.c src/malloc/purge.h \
  src/malloc/remote_free_overflow.c src/malloc/remote_free_overflow.h \
  src/malloc/remote_free_owner.c \
  src/malloc/remote_free.c src/malloc/remote_free.h \
  src/malloc/tcache.c src/malloc/tcache.h \
  src/malloc/malloc_take.c \
  src/malloc/malloc.c src/malloc/malloc.h \
  src/api/api_alloc.c src/api/api_atomic.c \
  src/api/api_malloc.c \
  src/api/api_pin.c src/api/api_pin.h \
  src/api/write_through.c src/api/write_through.h \
  src/api/stats.c src/api/stats.h \
  src/api/stats_json.c \
  src/api/api_clusters.c \
  src/api/api_order.c \
  src/api/api_sync.c \
  src/api/api_rw.c \
  src/api/lock.c src/api/lock.h \
  src/api/thread_state.c src/api/thread_state.h \
  src/api/compat_exit.c src/api/compat_exit.h

# The rule of logs and the decoder of datagrams are pure functions, so they
# are tested as such.  hearth-info asks what userfaultfd can do.
libhearth_base_la_SOURCES += \
  src/space/userfault.c src/space/userfault.h \
  src/transport/log.c src/transport/log.h \
  src/transport/abandoned_locks.c src/transport/abandoned_locks.h \
  src/transport/lock_key.c src/transport/lock_key.h \
  src/transport/patch.c src/transport/patch.h \
  src/transport/udp/wire.c src/transport/udp/wire.h

libhearth_core_la_CFLAGS = $(AM_CFLAGS) $(SODIUM_CFLAGS) $(CRYPTO_CFLAGS) \
  $(JANSSON_CFLAGS)
libhearth_core_la_LIBADD += $(SODIUM_LIBS) $(CRYPTO_LIBS) $(JANSSON_LIBS)

# Several clusters, where the link's libraries are.
libhearth_core_la_SOURCES += src/transport/clusters/clusters.h \
  src/transport/clusters/explicit_remote_io.h
if HAVE_CLUSTERS
libhearth_core_la_SOURCES += \
  src/transport/clusters/config_check.c src/transport/clusters/config_check.h \
  src/transport/clusters/wan_message.h \
  src/transport/clusters/explicit_remote_io.c \
  src/transport/clusters/hidden_rank.c src/transport/clusters/hidden_rank.h \
  src/transport/clusters/message_stream.c src/transport/clusters/message_stream.h \
  src/transport/clusters/gateway_channel.c src/transport/clusters/gateway_channel.h \
  src/transport/clusters/clusters.c \
  src/transport/clusters/batching.c src/transport/clusters/batching.h \
  src/transport/clusters/rank_listener.c src/transport/clusters/rank_listener.h \
  src/transport/clusters/remote_request.c src/transport/clusters/remote_request.h \
  src/transport/clusters/gateway_server.c src/transport/clusters/gateway_server.h \
  src/transport/clusters/gateway_clients.c src/transport/clusters/gateway_clients.h \
  src/transport/clusters/gateway_thread.c src/transport/clusters/gateway_thread.h \
  src/transport/clusters/gateway_homes.c src/transport/clusters/gateway_homes.h \
  src/transport/clusters/local_transport.c src/transport/clusters/local_transport.h \
  src/transport/clusters/gateway_cache.c src/transport/clusters/gateway_cache.h \
  src/transport/clusters/gateway_manager.c src/transport/clusters/gateway_manager.h \
  src/transport/clusters/wan_transport.c \
  src/transport/clusters/remote_fetch.c src/transport/clusters/remote_fetch.h \
  src/transport/clusters/global_collective.c src/transport/clusters/global_collective.h
libhearth_core_la_LIBADD += libhearth_link.la
else
libhearth_core_la_SOURCES += src/transport/clusters/wan_stub.c
endif
