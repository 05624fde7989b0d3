# Everything that may call MPI, lowest layer first.
libhearth_core_la_SOURCES += \
  src/cluster.c src/cluster.h \
  src/world.c src/world.h \
  src/collective.c src/collective.h \
  src/rendezvous.c src/rendezvous.h \
  src/life/life.c src/life/life.h \
  src/life/liveness_rx.c \
  src/life/liveness_line.c src/life/liveness_line.h \
  src/life/ring_setup.c src/life/ring_setup.h \
  src/life/line_reconnect.c src/life/line_reconnect.h \
  src/life/report_election.c src/life/report_election.h \
  src/life/collective_watch.c src/life/collective_watch.h \
  src/life/stalled.c src/life/stalled.h \
  src/life/deadlock.c src/life/deadlock.h \
  src/life/wait_graph.c src/life/wait_graph.h \
  src/life/wait_text.c \
  src/space/address_bits.c src/space/address_bits.h \
  src/space/extent.c src/space/extent.h \
  src/space/heap.c src/space/heap.h \
  src/space/heap_arena.c src/space/segment_data.c \
  src/space/pool.c src/space/pool.h \
  src/space/segment.c src/space/segment.h src/space/segment_sizes.c \
  src/space/files.c src/space/files.h \
  src/space/foreign.c src/space/foreign.h \
  src/node/shm_area.c src/node/shm_area.h \
  src/node/event.c src/node/event.h \
  src/node/relax.c src/node/relax.h \
  src/node/shm_channel.c src/node/shm_channel.h \
  src/node/lock_names.c src/node/lock_names.h \
  src/node/lock_numbers.c src/node/lock_numbers.h \
  src/node/lock_delegation.c src/node/lock_delegation.h \
  src/node/node.c src/node/node.h \
  src/node/node_lock.c src/node/node_barrier.c src/node/node_sync.c \
  src/profile/allocations.c src/profile/allocations.h \
  src/profile/caller.c src/profile/caller.h \
  src/profile/profile.c src/profile/profile.h src/profile/profile_sync.c \
  src/races/race_history.c src/races/race_history.h \
  src/races/race_places.c \
  src/policy/reuse_predictor.c src/policy/reuse_predictor.h \
  src/policy/sticky_home.c src/policy/sticky_home.h \
  src/policy/stride_prefetch.c src/policy/stride_prefetch.h \
  src/policy/uffd_policy.c src/policy/uffd_policy.h \
  src/page/migrated.c src/page/migrated.h \
  src/page/page_map.c src/page/page_map.h \
  src/page/local_frames.c \
  src/page/page.c src/page/page.h \
  src/page/page_table.c src/page/protect.c src/page/states.c \
  src/page/uffd_pages.c src/page/uffd_pages.h \
  src/page/copies.c src/page/copies.h \
  src/page/diffs.c src/page/diffs.h \
  src/page/twins.c src/page/twins.h \
  src/page/fork_child.c src/page/fork_child.h \
  src/page/frames.c src/page/frames.h \
  src/page/freed_frames.c src/page/freed_frames.h \
  src/page/evict.c src/page/evict.h \
  src/page/overwrite.c src/page/overwrite.h \
  src/page/read_mostly.c src/page/read_mostly.h src/page/written_row.h \
  src/page/reuse_prefetch.c src/page/reuse_prefetch.h \
  src/page/node_cache.c src/page/node_cache.h src/page/fetch_coalesce.c \
  src/page/node_tag.h \
  src/page/fetch_round.c src/page/fetch_round.h \
  src/page/page_in_flight.c src/page/page_in_flight.h \
  src/page/fetch.c src/page/fetch.h src/page/fetch_range.c \
  src/page/sharer_notify.c src/page/sharer_notify.h \
  src/page/hull.h src/page/pin_count.c src/page/pin_count.h \
  src/page/home_write_guard.c src/page/home_write_guard.h \
  src/page/migration_freeze.c src/page/migration_freeze.h \
  src/page/pin.c src/page/pin.h \
  src/page/signal.c src/page/fault.c src/page/fault.h \
  src/page/fault_arch.h src/page/fault_in_mpi.c src/page/fault_report.c \
  src/page/altstack.c src/page/altstack.h \
  src/home/migration_frames.c src/home/migration_frames.h \
  src/home/home_layout.c src/home/home_layout.h \
  src/home/home.c src/home/home.h \
  src/coherence/sharer_flags.c \
  src/coherence/interval.c \
  src/coherence/migrate_request.c src/coherence/migrate_request.h \
  src/coherence/migrate_vote.c \
  src/coherence/migrate.c src/coherence/migrate.h \
  src/coherence/range_sync.c src/coherence/range_sync.h \
  src/coherence/apply.c \
  src/coherence/home_add.c src/coherence/home_add.h \
  src/coherence/home_atomic.c src/coherence/home_atomic.h \
  src/coherence/coherence.c src/coherence/coherence.h \
  src/coherence/lock_sync.c src/coherence/known_notices.h \
  src/coherence/race_sync.c src/coherence/race_sync.h \
  src/coherence/lock_recall.c src/coherence/lock_recall.h \
  src/transport/transport.c src/transport/transport.h \
  src/transport/loopback.c \
  src/transport/one_node.c src/transport/one_node.h \
  src/transport/collective_ops.h src/transport/data_ops.h \
  src/transport/sync_ops.h \
  src/transport/atomic_op.h src/transport/word_split.h \
  src/transport/remote_word.c src/transport/remote_word.h \
  src/transport/lock_directory.c src/transport/lock_directory.h \
  src/transport/mpi/am_mailbox.c src/transport/mpi/am_mailbox.h \
  src/transport/mpi/mpi.c src/transport/mpi/mpi.h \
  src/transport/mpi/diff_aggregate.c src/transport/mpi/diff_aggregate.h \
  src/transport/mpi/transfer.c src/transport/mpi/transfer.h \
  src/transport/mpi/fabric.c src/transport/mpi/fabric.h \
  src/transport/mpi/mpi_fabric_window.c src/transport/mpi/mpi_fabric.h \
  src/transport/mpi/mpi_fabric_batch.c \
  src/transport/mpi/mpi_fabric_wait.c \
  src/transport/mpi/mpi_fabric_atomic.c \
  src/transport/mpi/mpi_fabric_exchange.c \
  src/transport/mpi/mpi_fabric_peek.c \
  src/transport/mpi/mpi_fabric_probe.c \
  src/transport/mpi/shm_fabric.c \
  src/transport/mpi/rma_object.c src/transport/mpi/rma_object.h \
  src/transport/mpi/mcs_nodes.c src/transport/mpi/mcs_nodes.h \
  src/transport/mpi/mcs_grant.c src/transport/mpi/mcs_grant.h \
  src/transport/mpi/mcs_lock.c src/transport/mpi/mcs_lock.h \
  src/transport/mpi/wait_slot.c src/transport/mpi/wait_slot.h \
  src/transport/mpi/sync.c \
  src/transport/mpi/flag.c src/transport/mpi/flag.h \
  src/transport/mpi/cond.c \
  src/transport/mpi/rw.c \
  src/transport/mpi/barrier.c \
  src/transport/mpi/progress.c src/transport/mpi/progress.h \
  src/transport/mpi/doorbell.c \
  src/transport/mpi/helper.c \
  src/transport/udp/barrier_tree.c \
  src/transport/udp/pipeline.c src/transport/udp/pipeline.h \
  src/transport/udp/udp_hello.c src/transport/udp/udp_hello.h \
  src/transport/udp/peer_handshake.c src/transport/udp/peer_handshake.h \
  src/transport/udp/udp_address.c \
  src/transport/udp/barrier.c \
  src/transport/udp/client.c src/transport/udp/client.h \
  src/transport/udp/udp_diff.c \
  src/transport/udp/peer_failure.c src/transport/udp/peer_failure.h \
  src/transport/udp/send_window.c src/transport/udp/send_window.h \
  src/transport/udp/udp_home.c \
  src/transport/udp/host_acl.c \
  src/transport/udp/datagram_rx.c src/transport/udp/datagram_rx.h \
  src/transport/udp/shm_message.c src/transport/udp/shm_message.h \
  src/transport/udp/barrier_notices.c src/transport/udp/barrier_notices.h \
  src/transport/udp/udp_delegation.c \
  src/transport/udp/sync_manager.c \
  src/transport/udp/flow_control.c src/transport/udp/flow_control.h \
  src/transport/udp/udp_page.c \
  src/transport/udp/mac.c \
  src/transport/udp/server.c src/transport/udp/server.h \
  src/transport/udp/socket.c src/transport/udp/socket.h \
  src/transport/udp/sync.c \
  src/transport/udp/timer.c src/transport/udp/timer.h \
  src/transport/udp/fault_injection.c \
  src/transport/udp/udp.c src/transport/udp/udp.h \
  src/transport/udp/liveness_probe.c \
  src/transport/udp/udp_job.h \
  src/api/layers.c \
  src/api/init.c src/api/init.h src/api/query.c src/api/api.h \
  src/api/launch_check.c \
  src/api/leave.c \
  src/api/ending.c \
  src/malloc/size_class.h \
  src/malloc/slab.c src/malloc/slab.h \
  src/malloc/arena_map.c src/malloc/arena_map.h \
  src/malloc/owner_cache.c src/malloc/owner_cache.h \
  src/malloc/vacant.c src/malloc/vacant.h \
  src/malloc/central_freelist.c src/malloc/central_freelist.h \
  src/malloc/freelist_state.h \
  src/malloc/guard.c src/malloc/guard.h \
  src/malloc/large.c src/malloc/large_resize.c \
  src/malloc/need.c src/malloc/need.h \
  src/malloc/background_thread.c src/malloc/background_thread.h \
  src/malloc/purge.c src/malloc/purge.h \
  src/malloc/remote_free_overflow.c src/malloc/remote_free_overflow.h \
  src/malloc/remote_free_owner.c \
  src/malloc/remote_free.c src/malloc/remote_free.h \
  src/malloc/tcache.c src/malloc/tcache.h \
  src/malloc/malloc_take.c \
  src/malloc/malloc.c src/malloc/malloc.h \
  src/malloc/malloc_image.c src/malloc/malloc_image.h \
  src/checkpoint/image.c src/checkpoint/image.h \
  src/checkpoint/checksum.c src/checkpoint/checksum.h \
  src/checkpoint/meta.c src/checkpoint/meta.h \
  src/checkpoint/folder.c src/checkpoint/folder.h src/checkpoint/folder_open.c \
  src/checkpoint/registered.c src/checkpoint/due.c \
  src/checkpoint/pages.c src/checkpoint/save.c \
  src/checkpoint/checkpoint_progress.c \
  src/checkpoint/checkpoint.c src/checkpoint/checkpoint.h \
  src/checkpoint/job_folder.c src/checkpoint/job_folder.h \
  src/checkpoint/restart.c \
  src/checkpoint/restart_file.c \
  src/checkpoint/restore.c \
  src/report/advice.c src/report/advice.h src/report/advising.h \
  src/report/advice_calls.c src/report/advice_memory.c \
  src/report/advice_pattern.c src/report/site_words.c \
  src/report/cost.c src/report/fold.c \
  src/report/pair_index.c src/report/pair_index.h \
  src/report/html.c src/report/html.h src/report/html_json.c \
  src/report/html_map.c src/report/html_memory.c src/report/html_style.c src/report/html_table.c \
  src/report/job_report.c src/report/job_report.h \
  src/report/merged.c src/report/merged.h \
  src/report/part.c src/report/part.h src/report/part_calls.c \
  src/report/part_layout.c \
  src/report/race_pack.c \
  src/report/race_report.c src/report/race_report.h \
  src/report/race_text.c \
  src/report/race_words.c src/report/race_words.h \
  src/report/rank_memory.c src/report/resolve.c \
  src/api/api_alloc.c src/api/api_atomic.c src/api/api_wait.c \
  src/api/api_prefetch.c src/api/api_checkpoint.c src/api/api_team.c src/api/team.h \
  src/api/api_malloc.c \
  src/api/races.c \
  src/api/api_pin.c src/api/api_pin.h \
  src/api/stats.c src/api/stats.h \
  src/api/stats_json.c \
  src/api/api_clusters.c \
  src/api/api_sync.c \
  src/api/api_rw.c \
  src/api/lock.c src/api/lock.h \
  src/api/thread_state.c src/api/thread_state.h \
  src/api/thread_waits.c src/api/thread_place.c \
  src/api/compat_exit.c src/api/compat_exit.h

# The rule of logs, managed objects, the decoder of datagrams, and what is said of
# the time that was spent are pure functions, so they are tested as such.  hearth-info asks what userfaultfd can do.
libhearth_base_la_SOURCES += \
  src/races/race_order.c src/races/race_order.h \
  src/races/race_compare.c src/races/race_compare.h \
  src/report/shares.c src/report/shares.h \
  src/report/terminal.c src/report/terminal.h \
  src/space/memfile.c src/space/memfile.h \
  src/space/userfault.c src/space/userfault.h \
  src/transport/log.c src/transport/log.h \
  src/transport/sync/managed_object.c src/transport/sync/managed_object.h \
  src/transport/sync/managed_event.c \
  src/transport/abandoned_locks.c \
  src/transport/lock_key.c src/transport/lock_key.h \
  src/transport/patch.c src/transport/patch.h \
  src/transport/udp/congestion.c src/transport/udp/congestion.h \
  src/transport/udp/wire.c src/transport/udp/wire.h \
  src/transport/udp/wire_diff.c src/transport/udp/wire_diff.h

libhearth_core_la_CFLAGS = $(AM_CFLAGS) $(SODIUM_CFLAGS) $(CRYPTO_CFLAGS) \
  $(JANSSON_CFLAGS) $(LIBDW_CFLAGS)
libhearth_core_la_LIBADD += $(SODIUM_LIBS) $(CRYPTO_LIBS) $(JANSSON_LIBS)

# Several clusters, where the link's libraries are.
libhearth_core_la_SOURCES += src/transport/clusters/clusters.h \
  src/transport/clusters/hear.h

if HAVE_CLUSTERS
libhearth_core_la_SOURCES += \
  src/transport/clusters/config_check.c \
  src/transport/clusters/wan_message.h \
  src/transport/clusters/explicit_remote_io.c \
  src/transport/clusters/hidden_rank.c src/transport/clusters/hidden_rank.h \
  src/transport/clusters/message_stream.c \
  src/transport/clusters/message_stream.h \
  src/transport/clusters/gateway_channel.c \
  src/transport/clusters/gateway_channel.h \
  src/transport/clusters/connection_replay.c \
  src/transport/clusters/connection_replay.h \
  src/transport/clusters/rank_connection.c \
  src/transport/clusters/rank_connection.h \
  src/transport/clusters/clusters.c \
  src/transport/clusters/batching.c \
  src/transport/clusters/rank_listener.c \
  src/transport/clusters/rank_listener.h \
  src/transport/clusters/gateway_connect.c \
  src/transport/clusters/remote_request.c \
  src/transport/clusters/remote_request.h \
  src/transport/clusters/wan_validate.c src/transport/clusters/wan_validate.h \
  src/transport/clusters/gateway_server.c \
  src/transport/clusters/gateway_server.h \
  src/transport/clusters/gateway_clients.c \
  src/transport/clusters/gateway_client.c \
  src/transport/clusters/gateway_client.h \
  src/transport/clusters/gateway_strangers.c \
  src/transport/clusters/gateway_thread.c \
  src/transport/clusters/gateway_thread.h \
  src/transport/clusters/hear.c \
  src/transport/clusters/gateway_homes.c \
  src/transport/clusters/local_transport.c \
  src/transport/clusters/wan_transport.h \
  src/transport/clusters/gateway_cache.c \
  src/transport/clusters/gateway_cache.h \
  src/transport/clusters/gateway_manager.c \
  src/transport/clusters/wan_transport.c \
  src/transport/clusters/remote_atomic.c \
  src/transport/clusters/remote_fetch.c \
  src/transport/clusters/global_collective.c

libhearth_core_la_LIBADD += libhearth_link.la
else
libhearth_core_la_SOURCES += src/transport/clusters/wan_stub.c
endif
