# Tests of the base layer and of hearth-info.
EXTRA_DIST += %D%/info.sh
TESTS += %D%/info.sh

unit_tests += %D%/report %D%/stat

%C%_report_SOURCES = %D%/report.c %D%/harness.h %D%/harness_unit.c
%C%_report_CFLAGS = $(test_cflags)
%C%_report_LDADD = $(unit_ldadd)

%C%_stat_SOURCES = %D%/stat.c %D%/harness.h %D%/harness_unit.c
%C%_stat_CFLAGS = $(test_cflags)
%C%_stat_LDADD = $(unit_ldadd)
