# The applications, and what runs them without Hearth: a shared library,
# which libtool makes of one that says where it is to be.
tap_tests += %D%/apps.tap
check_LTLIBRARIES += %D%/plain.la
%C%_plain_la_SOURCES = %D%/plain.c
%C%_plain_la_LDFLAGS = -module -avoid-version -rpath /nowhere
EXTRA_DIST += %D%/bodies/cloud150.txt %D%/scenes/ring.geo \
  %D%/matrices/grid36.psa %D%/matrices/grid38.mtx \
  %D%/matrices/grid49.rsa %D%/tsplib/burma14.tsp %D%/tsplib/gr17.tsp \
  %D%/tsplib/ulysses16.tsp
