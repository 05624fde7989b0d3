# What tests of several folders share.  Unit tests have a main() that runs Check,
# tests under MPI one that runs it on all ranks.
if HAVE_CHECK
check_LTLIBRARIES += %D%/libunit.la %D%/libmpi.la
endif
%C%_libunit_la_SOURCES = %D%/harness.h %D%/harness_unit.c %D%/property.h
%C%_libunit_la_CFLAGS = $(test_cflags)
%C%_libmpi_la_SOURCES = %D%/harness.h %D%/harness_mpi.c %D%/fixture.h \
  %D%/fixture.c %D%/seen.h $(split)
%C%_libmpi_la_CFLAGS = $(test_cflags)

# What some programs have besides.
link_proxy = %D%/link_proxy.c %D%/link_proxy.h %D%/property.h
split = %D%/split.h %D%/split.c $(link_proxy) %D%/visitor.h
levels = %D%/levels.c %D%/levels.h %D%/behind.c %D%/behind.h
delay = %D%/delay.c %D%/delay.h
half = %D%/half.c %D%/half.h

# A command without userfaultfd.
check_PROGRAMS += %D%/forbid
%C%_forbid_SOURCES = %D%/forbid.c %D%/forbid.h
