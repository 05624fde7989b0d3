# Files of checkpoints, each of their bits changed.  MPI is linked, not started.
unit_tests += %D%/image
%C%_image_SOURCES = %D%/image.c
%C%_image_CFLAGS = $(test_cflags)
%C%_image_LDADD = $(core_ldadd)

# A program that is killed and restarted.
tap_tests += %D%/survive.tap %D%/folders.tap %D%/again.tap
EXTRA_DIST += %D%/surviving
check_PROGRAMS += %D%/survivor
%C%_survivor_SOURCES = %D%/survivor.c
%C%_survivor_CFLAGS = $(harness_cflags)
%C%_survivor_LDADD = libhearth_core.la
