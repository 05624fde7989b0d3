# What one of many ranks spends: a few here, up to 64 by hand.
tap_tests += %D%/scale.tap
check_PROGRAMS += %D%/scale %D%/rest
%C%_rest_SOURCES = %D%/rest.c
%C%_rest_LDADD = libhearth.la
%C%_rest_DEPENDENCIES = libhearth.offers
%C%_scale_SOURCES = %D%/scale.c tests/harness/seen.h
%C%_scale_CFLAGS = $(harness_cflags)
%C%_scale_LDADD = libhearth_core.la
EXTRA_DIST += %D%/law.py
