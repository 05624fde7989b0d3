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
short = %D%/short.c %D%/short.h %D%/short.def

# What tests/liveness/short is linked with: the calls of short.def.
short_wraps = \
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=mmap \
  -Wl,--wrap=memfd_create -Wl,--wrap=ftruncate -Wl,--wrap=mprotect \
  -Wl,--wrap=madvise -Wl,--wrap=open -Wl,--wrap=pthread_create \
  -Wl,--wrap=sigaltstack -Wl,--wrap=getifaddrs -Wl,--wrap=eventfd \
  -Wl,--wrap=socket -Wl,--wrap=bind -Wl,--wrap=listen -Wl,--wrap=accept4 \
  -Wl,--wrap=connect -Wl,--wrap=setsockopt -Wl,--wrap=getsockopt \
  -Wl,--wrap=getsockname -Wl,--wrap=send -Wl,--wrap=sendto \
  -Wl,--wrap=sendmsg -Wl,--wrap=sendmmsg -Wl,--wrap=recv \
  -Wl,--wrap=recvfrom -Wl,--wrap=recvmsg -Wl,--wrap=recvmmsg \
  -Wl,--wrap=poll -Wl,--wrap=ppoll

# For ranks that run beside others under an MPI that only polls (run-mpi).
if HAVE_CHECK
check_LTLIBRARIES += %D%/libucx_idle.la
endif
%C%_libucx_idle_la_SOURCES = %D%/ucx_idle.c
%C%_libucx_idle_la_LDFLAGS = -module -avoid-version -rpath /nowhere

# A command without userfaultfd.
check_PROGRAMS += %D%/forbid
%C%_forbid_SOURCES = %D%/forbid.c %D%/forbid.h
