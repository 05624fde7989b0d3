# Programs over TCP between test hosts, and the udp transport in all sorts of
# trouble.
tap_tests += %D%/hosts.tap %D%/links.tap %D%/trouble.tap %D%/slurm.tap
check_PROGRAMS += %D%/trouble %D%/intruder
%C%_trouble_SOURCES = %D%/trouble.c
%C%_trouble_LDADD = libhearth_core.la
%C%_intruder_SOURCES = %D%/intruder.c
