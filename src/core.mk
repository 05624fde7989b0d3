# Everything that may call MPI, lowest layer first.
libhearth_core_la_SOURCES += \
  src/cluster.c src/cluster.h \
  src/world.c src/world.h \
  src/together.c src/together.h \
  src/life/life.c src/life/life.h \
  src/life/heard.c src/life/heard.h \
  src/life/line.c src/life/line.h \
  src/life/call.c src/life/call.h \
  src/life/claim.c src/life/claim.h \
  src/life/locks.c src/life/locks.h \
  src/turn.c src/turn.h \
  src/space/extent.c src/space/extent.h \
  src/space/heap.c src/space/heap.h \
  src/space/pool.c src/space/pool.h \
  src/space/arena.c src/space/arena.h \
  src/space/segment.c src/space/segment.h \
  src/space/files.c src/space/files.h \
  src/page/moved.c src/page/moved.h \
  src/page/place.c src/page/place.h \
  src/page/near.c src/page/near.h \
  src/page/page.c src/page/page.h \
  src/page/table.c \
  src/page/granule.c src/page/granule.h \
  src/page/protect.c src/page/protect.h \
  src/page/watched.c src/page/watched.h \
  src/page/copies.c src/page/copies.h \
  src/page/diffs.c src/page/diffs.h \
  src/page/frames.c src/page/frames.h \
  src/page/replace.c src/page/replace.h \
  src/page/overwrite.c src/page/overwrite.h \
  src/page/steady.c src/page/steady.h \
  src/page/habit.c src/page/habit.h src/page/predict.c src/page/predict.h \
  src/page/stream.c src/page/stream.h \
  src/page/mates.c src/page/mates.h src/page/await.c src/page/word.h \
  src/page/borrow.c src/page/borrow.h \
  src/page/batch.c src/page/batch.h \
  src/page/coming.c src/page/coming.h src/page/fetch.c src/page/fetch.h \
  src/page/tell.c src/page/tell.h \
  src/page/held.c src/page/held.h \
  src/page/past.c src/page/past.h \
  src/page/freeze.c src/page/freeze.h \
  src/page/hold.c src/page/hold.h \
  src/page/fault.c src/page/fault.h src/page/machine.h \
  src/page/altstack.c src/page/altstack.h \
  src/page/serve.c src/page/serve.h \
  src/page/signal.c \
  src/page/bus.c \
  src/home/spare.c src/home/spare.h \
  src/home/layout.c src/home/layout.h \
  src/home/home.c src/home/home.h \
  src/coherence/shared.c src/coherence/shared.h \
  src/coherence/interval.c \
  src/coherence/wish.c src/coherence/wish.h \
  src/coherence/agree.c src/coherence/agree.h \
  src/coherence/asked.c src/coherence/asked.h \
  src/coherence/move.c src/coherence/move.h \
  src/coherence/order.c src/coherence/order.h \
  src/coherence/apply.c \
  src/coherence/atomic.c src/coherence/atomic.h \
  src/coherence/coherence.c src/coherence/coherence.h \
  src/coherence/sync.c src/coherence/learnt.h \
  src/coherence/give.c src/coherence/give.h \
  src/coherence/left.c src/coherence/left.h \
  src/transport/transport.c src/transport/transport.h \
  src/transport/step.h src/transport/cut.h \
  src/transport/area.c src/transport/area.h \
  src/transport/event.c src/transport/event.h \
  src/transport/named.c src/transport/named.h \
  src/transport/words.c src/transport/words.h \
  src/transport/directory.c src/transport/directory.h \
  src/transport/keep.c src/transport/keep.h \
  src/transport/mpi/letter.c src/transport/mpi/letter.h \
  src/transport/mpi/mail.c src/transport/mpi/mail.h \
  src/transport/mpi/mpi.c src/transport/mpi/mpi.h \
  src/transport/mpi/pack.c src/transport/mpi/pack.h \
  src/transport/mpi/transfer.c src/transport/mpi/transfer.h \
  src/transport/mpi/window.c src/transport/mpi/window.h \
  src/transport/mpi/node.c \
  src/transport/mpi/managed.c src/transport/mpi/managed.h \
  src/transport/mpi/chain_places.c src/transport/mpi/chain_places.h \
  src/transport/mpi/chain.c src/transport/mpi/chain.h \
  src/transport/mpi/near.c src/transport/mpi/near.h \
  src/transport/mpi/queue.c src/transport/mpi/queue.h \
  src/transport/mpi/wake.c src/transport/mpi/wake.h \
  src/transport/mpi/sync.c \
  src/transport/mpi/flag.c src/transport/mpi/flag.h \
  src/transport/mpi/cond.c \
  src/transport/mpi/rw.c \
  src/transport/mpi/barrier.c \
  src/transport/mpi/progress.c src/transport/mpi/progress.h \
  src/transport/mpi/requests.c \
  src/transport/mpi/probe.c \
  src/transport/mpi/doorbell.c \
  src/transport/mpi/helper.c \
  src/transport/udp/ack.c src/transport/udp/ack.h \
  src/transport/udp/tree.c src/transport/udp/tree.h \
  src/transport/udp/row.c src/transport/udp/row.h \
  src/transport/udp/hello.c src/transport/udp/hello.h \
  src/transport/udp/meet.c src/transport/udp/meet.h \
  src/transport/udp/address.c src/transport/udp/address.h \
  src/transport/udp/barrier.c src/transport/udp/barrier.h \
  src/transport/udp/client.c src/transport/udp/client.h \
  src/transport/udp/count.c src/transport/udp/count.h \
  src/transport/udp/diff.c src/transport/udp/diff.h \
  src/transport/udp/store.c src/transport/udp/store.h \
  src/transport/udp/gone.c src/transport/udp/gone.h \
  src/transport/udp/flight.c src/transport/udp/flight.h \
  src/transport/udp/home.c src/transport/udp/home.h \
  src/transport/udp/hosts.c src/transport/udp/hosts.h \
  src/transport/udp/inbox.c src/transport/udp/inbox.h \
  src/transport/udp/local.c src/transport/udp/local.h \
  src/transport/udp/news.c src/transport/udp/news.h \
  src/transport/udp/object.c src/transport/udp/object.h \
  src/transport/udp/stay.c src/transport/udp/stay.h \
  src/transport/udp/cond.c src/transport/udp/cond.h \
  src/transport/udp/rw.c src/transport/udp/rw.h \
  src/transport/udp/manager.c src/transport/udp/manager.h \
  src/transport/udp/pace.c src/transport/udp/pace.h \
  src/transport/udp/page.c src/transport/udp/page.h \
  src/transport/udp/seal.c src/transport/udp/seal.h \
  src/transport/udp/server.c src/transport/udp/server.h \
  src/transport/udp/socket.c src/transport/udp/socket.h \
  src/transport/udp/sync.c src/transport/udp/sync.h \
  src/transport/udp/thread.c src/transport/udp/thread.h \
  src/transport/udp/timer.c src/transport/udp/timer.h \
  src/transport/udp/trouble.c src/transport/udp/trouble.h \
  src/transport/udp/udp.c \
  src/transport/udp/watch.c src/transport/udp/watch.h \
  src/transport/udp/job.h \
  src/api/layers.c src/api/layers.h \
  src/api/init.c src/api/api.h \
  src/api/launch.c src/api/launch.h \
  src/malloc/class.h \
  src/malloc/slab.c src/malloc/slab.h \
  src/malloc/ground.c src/malloc/ground.h \
  src/malloc/stock.c src/malloc/stock.h \
  src/malloc/ranges.c src/malloc/ranges.h \
  src/malloc/hand.c src/malloc/hand.h \
  src/malloc/cache.c src/malloc/cache.h \
  src/malloc/malloc.c src/malloc/malloc.h \
  src/api/alloc.c src/api/atomic.c \
  src/api/malloc.c \
  src/api/hold.c src/api/hold.h \
  src/api/through.c src/api/through.h \
  src/api/stats.c src/api/stats.h \
  src/api/stats_json.c \
  src/api/clusters.c \
  src/api/order.c \
  src/api/sync.c \
  src/api/rw.c \
  src/api/lock.c src/api/lock.h \
  src/api/user.c src/api/user.h \
  src/api/farewell.c src/api/farewell.h

# The rule of logs and the decoder of datagrams are pure functions, so they
# are tested as such.  hearth-info asks what userfaultfd can do.
libhearth_base_la_SOURCES += \
  src/space/userfault.c src/space/userfault.h \
  src/transport/log.c src/transport/log.h \
  src/transport/lost.c src/transport/lost.h \
  src/transport/name.c src/transport/name.h \
  src/transport/patch.c src/transport/patch.h \
  src/transport/udp/wire.c src/transport/udp/wire.h

libhearth_core_la_CFLAGS = $(AM_CFLAGS) $(SODIUM_CFLAGS) $(CRYPTO_CFLAGS) \
  $(JANSSON_CFLAGS)
libhearth_core_la_LIBADD += $(SODIUM_LIBS) $(CRYPTO_LIBS) $(JANSSON_LIBS)

# Several clusters, where the link's libraries are.
libhearth_core_la_SOURCES += src/transport/clusters/clusters.h \
  src/transport/clusters/apart.h
if HAVE_CLUSTERS
libhearth_core_la_SOURCES += \
  src/transport/clusters/agree.c src/transport/clusters/agree.h \
  src/transport/clusters/ask.h \
  src/transport/clusters/apart.c \
  src/transport/clusters/attend.c src/transport/clusters/attend.h \
  src/transport/clusters/bytes.c src/transport/clusters/bytes.h \
  src/transport/clusters/channel.c src/transport/clusters/channel.h \
  src/transport/clusters/clusters.c \
  src/transport/clusters/company.c src/transport/clusters/company.h \
  src/transport/clusters/door.c src/transport/clusters/door.h \
  src/transport/clusters/far.c src/transport/clusters/far.h \
  src/transport/clusters/gate.c src/transport/clusters/gate.h \
  src/transport/clusters/guests.c src/transport/clusters/guests.h \
  src/transport/clusters/handler.c src/transport/clusters/handler.h \
  src/transport/clusters/homes.c src/transport/clusters/homes.h \
  src/transport/clusters/inner.c src/transport/clusters/inner.h \
  src/transport/clusters/kept.c src/transport/clusters/kept.h \
  src/transport/clusters/manage.c src/transport/clusters/manage.h \
  src/transport/clusters/over.c \
  src/transport/clusters/pull.c src/transport/clusters/pull.h \
  src/transport/clusters/round.c src/transport/clusters/round.h
libhearth_core_la_LIBADD += libhearth_link.la
else
libhearth_core_la_SOURCES += src/transport/clusters/none.c
endif
