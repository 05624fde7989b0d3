# The base layer: options, counters, clock, report, files.
unit_tests += %D%/option
%C%_option_SOURCES = %D%/option.c
%C%_option_CFLAGS = $(test_cflags)
%C%_option_LDADD = $(unit_ldadd)

unit_tests += %D%/report %D%/yield_timer %D%/stat %D%/atomic_file
%C%_report_SOURCES = %D%/report.c
%C%_report_CFLAGS = $(test_cflags)
%C%_report_LDADD = $(unit_ldadd)

%C%_yield_timer_SOURCES = %D%/yield_timer.c
%C%_yield_timer_CFLAGS = $(test_cflags)
%C%_yield_timer_LDADD = $(unit_ldadd)

%C%_stat_SOURCES = %D%/stat.c
%C%_stat_CFLAGS = $(test_cflags)
%C%_stat_LDADD = $(unit_ldadd)

unit_tests += %D%/mpi_library
%C%_mpi_library_SOURCES = %D%/mpi_library.c
%C%_mpi_library_CFLAGS = $(test_cflags)
%C%_mpi_library_LDADD = $(unit_ldadd)

%C%_atomic_file_SOURCES = %D%/atomic_file.c
%C%_atomic_file_CFLAGS = $(test_cflags)
%C%_atomic_file_LDADD = $(unit_ldadd)

unit_tests += %D%/cgroup
%C%_cgroup_SOURCES = %D%/cgroup.c tests/harness/made_up.h
%C%_cgroup_CFLAGS = $(test_cflags)
%C%_cgroup_LDADD = $(unit_ldadd)
