# Reports: where the time went, and why.
unit_tests += %D%/shares
%C%_shares_SOURCES = %D%/shares.c
%C%_shares_CFLAGS = $(test_cflags)
%C%_shares_LDADD = $(unit_ldadd)

# The five classical faults, and the same programs mended; linked as a user's
# program is, since what Hearth is and what the program is are told apart by
# files.
check_PROGRAMS += %D%/slow
%C%_slow_SOURCES = %D%/slow.c
%C%_slow_CFLAGS = $(lines_cflags)
%C%_slow_LDADD = libhearth.la
tap_tests += %D%/report.tap
EXTRA_DIST += %D%/page.py
