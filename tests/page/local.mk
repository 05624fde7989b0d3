# Faults, copies, protection, prefetching.
mpi_tests += %D%/reuse_prefetch.mpi
%C%_reuse_prefetch_mpi_SOURCES = %D%/reuse_prefetch.c %D%/reuse_prefetch.h \
  %D%/reuse_prefetch_cost.c
%C%_reuse_prefetch_mpi_CFLAGS = $(test_cflags)
%C%_reuse_prefetch_mpi_LDADD = $(mpi_ldadd)
mpi_tests += %D%/node_cache.mpi
%C%_node_cache_mpi_SOURCES = %D%/node_cache.c %D%/node_cache.h \
  %D%/node_cache_ahead.c \
  %D%/node_cache_beside.c %D%/node_cache_old.c
%C%_node_cache_mpi_CFLAGS = $(test_cflags)
%C%_node_cache_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/overwrite.mpi
%C%_overwrite_mpi_SOURCES = %D%/overwrite.c
%C%_overwrite_mpi_CFLAGS = $(test_cflags)
%C%_overwrite_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/ahead.mpi
%C%_ahead_mpi_SOURCES = %D%/ahead.c
%C%_ahead_mpi_CFLAGS = $(test_cflags)
%C%_ahead_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/threads.mpi
%C%_threads_mpi_SOURCES = %D%/threads.c %D%/threads.h %D%/threads_arm.c \
  %D%/threads_in_flight.c \
  %D%/threads_late.c %D%/threads_messages.c %D%/threads_misses.c \
  %D%/threads_seam.c %D%/threads_seam.h %D%/threads_sync.c $(levels)
%C%_threads_mpi_CFLAGS = $(test_cflags)
%C%_threads_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/evict.mpi
%C%_evict_mpi_SOURCES = %D%/evict.c
%C%_evict_mpi_CFLAGS = $(test_cflags)
%C%_evict_mpi_LDADD = $(mpi_ldadd)

# Copies beyond the kernel's mappings.
mpi_tests += %D%/scattered.mpi
%C%_scattered_mpi_SOURCES = %D%/scattered.c %D%/scattered.h \
  tests/harness/forbid.h %D%/hulls.c %D%/scattered_many.c \
  %D%/uffd_pages.c
%C%_scattered_mpi_CFLAGS = $(test_cflags)
%C%_scattered_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/mappings.mpi
%C%_mappings_mpi_SOURCES = %D%/mappings.c
%C%_mappings_mpi_CFLAGS = $(test_cflags)
%C%_mappings_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/frames.mpi
%C%_frames_mpi_SOURCES = %D%/frames.c
%C%_frames_mpi_CFLAGS = $(test_cflags)
%C%_frames_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/pins.mpi
%C%_pins_mpi_SOURCES = %D%/pins.c %D%/pins.h %D%/pins_rules.c \
  %D%/pins_acquires.c %D%/pins_beside.c
%C%_pins_mpi_CFLAGS = $(test_cflags)
%C%_pins_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/signals.mpi
%C%_signals_mpi_SOURCES = %D%/signals.c
%C%_signals_mpi_CFLAGS = $(test_cflags)
%C%_signals_mpi_LDADD = $(mpi_ldadd)

# Where pages moved.
unit_tests += %D%/migrated
%C%_migrated_SOURCES = %D%/migrated.c
%C%_migrated_CFLAGS = $(test_cflags)
%C%_migrated_LDADD = $(core_ldadd)
