# The transport over MPI-3 RMA.
mpi_tests += %D%/windows.mpi
%C%_windows_mpi_SOURCES = %D%/windows.c %D%/windows.h %D%/windows_freed.c
%C%_windows_mpi_CFLAGS = $(test_cflags)
%C%_windows_mpi_LDADD = $(mpi_ldadd)

# What a fabric owes, alone.
mpi_tests += %D%/fabric.mpi
%C%_fabric_mpi_SOURCES = %D%/fabric.c
%C%_fabric_mpi_CFLAGS = $(test_cflags)
%C%_fabric_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/am_mailbox.mpi
%C%_am_mailbox_mpi_SOURCES = %D%/am_mailbox.c
%C%_am_mailbox_mpi_CFLAGS = $(test_cflags)
%C%_am_mailbox_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/diff_aggregate.mpi
%C%_diff_aggregate_mpi_SOURCES = %D%/diff_aggregate.c
%C%_diff_aggregate_mpi_CFLAGS = $(test_cflags)
%C%_diff_aggregate_mpi_LDADD = $(mpi_ldadd)

# A network card that cannot page, below tests of the core.
tap_tests += %D%/registered.tap
check_LTLIBRARIES += %D%/registered.la
%C%_registered_la_SOURCES = %D%/registered.c
%C%_registered_la_LDFLAGS = -module -avoid-version -rpath /nowhere

mpi_tests += %D%/progress.mpi
%C%_progress_mpi_SOURCES = %D%/progress.c %D%/gets.c %D%/gets.h %D%/grants.c \
  %D%/grants.h
%C%_progress_mpi_CFLAGS = $(test_cflags)
%C%_progress_mpi_LDADD = $(mpi_ldadd)

# What stands in active messages.
unit_tests += %D%/am_buffer
%C%_am_buffer_SOURCES = %D%/am_buffer.c
%C%_am_buffer_CFLAGS = $(test_cflags)
%C%_am_buffer_LDADD = $(unit_ldadd)
