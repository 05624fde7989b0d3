# Races that HEARTH_RACES finds, and those that it must not.
unit_tests += %D%/race_order
%C%_race_order_SOURCES = %D%/race_order.c
%C%_race_order_CFLAGS = $(test_cflags)
%C%_race_order_LDADD = $(unit_ldadd)

# Linked as a user's program is, since what Hearth is and what the program is are
# told apart by files.
check_PROGRAMS += %D%/racing
%C%_racing_SOURCES = %D%/racing.c
%C%_racing_CFLAGS = $(lines_cflags)
%C%_racing_LDADD = libhearth.la
tap_tests += %D%/races.tap
