# Tests of the base layer and of hearth-info.
EXTRA_DIST += %D%/info.sh
TESTS += %D%/info.sh

unit_tests += %D%/report %D%/spin %D%/stat %D%/whole

%C%_report_SOURCES = %D%/report.c %D%/harness.h %D%/harness_unit.c
%C%_report_CFLAGS = $(test_cflags)
%C%_report_LDADD = $(unit_ldadd)

%C%_spin_SOURCES = %D%/spin.c %D%/harness.h %D%/harness_unit.c
%C%_spin_CFLAGS = $(test_cflags)
%C%_spin_LDADD = $(unit_ldadd)

%C%_stat_SOURCES = %D%/stat.c %D%/harness.h %D%/harness_unit.c
%C%_stat_CFLAGS = $(test_cflags)
%C%_stat_LDADD = $(unit_ldadd)

%C%_whole_SOURCES = %D%/whole.c %D%/harness.h %D%/harness_unit.c
%C%_whole_CFLAGS = $(test_cflags)
%C%_whole_LDADD = $(unit_ldadd)

# What is written as JSON.
if HAVE_JANSSON
mpi_tests += %D%/stats.mpi
endif
%C%_stats_mpi_SOURCES = %D%/stats.c $(mpi_harness)
%C%_stats_mpi_CFLAGS = $(test_cflags) $(JANSSON_CFLAGS)
%C%_stats_mpi_LDADD = $(mpi_ldadd) $(JANSSON_LIBS)
