# Locks, flags, conditions, and pages that move.
mpi_tests += %D%/locks.mpi
%C%_locks_mpi_SOURCES = %D%/locks.c %D%/atomics.c %D%/adds.c %D%/teams.c %D%/tries.c %D%/flags.c \
  %D%/flags.h %D%/flag_log.c %D%/log_places.c %D%/full.c %D%/conds.c %D%/crowd.c \
  %D%/delegation.c %D%/delegation_barrier.c $(delay) $(half)
%C%_locks_mpi_CFLAGS = $(test_cflags)
%C%_locks_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/rwlocks.mpi
%C%_rwlocks_mpi_SOURCES = %D%/rwlocks.c %D%/rwlocks.h %D%/rwlocks_seen.c \
  %D%/rwlocks_fair.c $(delay)
%C%_rwlocks_mpi_CFLAGS = $(test_cflags)
%C%_rwlocks_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/migrate.mpi
%C%_migrate_mpi_SOURCES = %D%/migrate.c %D%/migrate.h %D%/migrate_beside.c \
  %D%/migrate_first.c %D%/migrate_new.c %D%/migrate_seam.c
%C%_migrate_mpi_CFLAGS = $(test_cflags)
%C%_migrate_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/lock_names.mpi
%C%_lock_names_mpi_SOURCES = %D%/lock_names.c $(delay)
%C%_lock_names_mpi_CFLAGS = $(test_cflags)
%C%_lock_names_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/range_sync.mpi
%C%_range_sync_mpi_SOURCES = %D%/range_sync.c
%C%_range_sync_mpi_CFLAGS = $(test_cflags)
%C%_range_sync_mpi_LDADD = $(mpi_ldadd)
