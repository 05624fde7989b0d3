# Tests named *.mpi run under the launcher, once for each configuration (see
# run-mpi); *.tap are scripts; the others run directly.  All these print TAP.
# Scripts named *.sh answer with their exit status.
#
#   make check                                      the whole matrix
#   make check TEST_NP=4 TEST_NODES='1 2'           one corner of it
#   make check TEST_TRANSPORT=udp                   all of it over datagrams
#   make check TEST_TRANSPORT=shm                   without MPI's RMA
#   make check TESTS=tests/litmus/litmus.mpi        one test
#   make check TESTS=tests/random/random.mpi TEST_RANDOM=600
TEST_NP = 1 2 3 4
TEST_NODES = 1 2 0
TEST_CONSISTENCY = release scope
TEST_TRANSPORT = mpi udp shm
TEST_THREADS = multiple funneled
TEST_PROTECT = auto mprotect
TEST_TIMEOUT = 120
# Seconds for a test program with all its runs.
TEST_LIMIT = 3600
TEST_RANDOM = 10
# Or short or corner: see ./check.
TEST_MATRIX = whole
# A folder where the same was built with another MPI.
TEST_OTHER_BUILD =
# yes where tests run side by side: ranks that poll in MPICH sleep.
TEST_IDLE =

EXTRA_DIST += %D%/README.md %D%/again %D%/chance.py %D%/chance.sh \
  %D%/counted %D%/counters.py %D%/halves %D%/jobs %D%/limited %D%/pick \
  %D%/places %D%/ports %D%/small-group %D%/small-shm %D%/tap %D%/verdicts
TEST_EXTENSIONS = .mpi .sh .tap

# Looking for fabrics that ranks of one machine do not use takes Open MPI half
# of the time of a start.
AM_TESTS_ENVIRONMENT = \
  OMPI_MCA_mtl="$${OMPI_MCA_mtl-^ofi,psm,psm2}"; \
  OMPI_MCA_btl="$${OMPI_MCA_btl-^ofi,openib,usnic}"; \
  export OMPI_MCA_mtl OMPI_MCA_btl; \
  MPIEXEC='$(MPIEXEC)' MPI_FLAVOUR='$(MPI_FLAVOUR)' \
  TEST_NP='$(TEST_NP)' TEST_NODES='$(TEST_NODES)' \
  TEST_CONSISTENCY='$(TEST_CONSISTENCY)' TEST_THREADS='$(TEST_THREADS)' \
  TEST_TRANSPORT='$(TEST_TRANSPORT)' TEST_MATRIX='$(TEST_MATRIX)' \
  TEST_TIMEOUT='$(TEST_TIMEOUT)' TEST_RANDOM='$(TEST_RANDOM)' \
  TEST_PROTECT='$(TEST_PROTECT)' TEST_OTHER_BUILD='$(TEST_OTHER_BUILD)' \
  NM='$(NM)' API_PAGES='$(api_pages)' CK_DEFAULT_TIMEOUT=60; \
  MPI_TEST_IDLE='$(TEST_IDLE:yes=$(abs_builddir)/%D%/harness/.libs/libucx_idle.so)'; \
  export CK_DEFAULT_TIMEOUT MPI_TEST_IDLE; \
  export MPIEXEC MPI_FLAVOUR TEST_NP TEST_NODES TEST_CONSISTENCY; \
  export TEST_TRANSPORT TEST_THREADS TEST_TIMEOUT TEST_RANDOM TEST_MATRIX; \
  export TEST_PROTECT TEST_OTHER_BUILD; \
  export NM API_PAGES;

tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) \
  $(top_srcdir)/build-aux/tap-driver.sh
limited = $(SHELL) $(top_srcdir)/%D%/limited $(TEST_LIMIT)
LOG_DRIVER = $(tap_driver)
LOG_COMPILER = $(limited)
SH_LOG_COMPILER = $(limited) $(SHELL)
MPI_LOG_DRIVER = $(tap_driver)
MPI_LOG_COMPILER = $(limited) $(SHELL) $(top_srcdir)/%D%/run-mpi
TAP_LOG_DRIVER = $(tap_driver)
TAP_LOG_COMPILER = $(limited) $(SHELL)

# Those that have nothing to do with MPI, as have unit tests and those that ask
# of the kernel how many mappings there can be, those whose jobs MPI only starts,
# and all others: for where the first have been run with another.
no_mpi_tests = %D%/chance.sh
kernel_tests = %D%/page/mappings.mpi %D%/page/scattered.mpi
started_tests = %D%/report/report.tap %D%/checkpoint/folders.tap \
  %D%/compat/ways.tap
started_programs = %D%/report/slow # which no other test has
list-mpi-tests:
	@for t in $(TESTS); do \
	  case " $(no_mpi_tests) $(unit_tests) $(kernel_tests) $(started_tests) " in \
	  *" $$t "*) ;; *) echo $$t ;; esac; done
list-mpi-programs:
	@for p in $(check_PROGRAMS); do \
	  case "$$p $(unit_tests) $(kernel_tests) $(started_programs) " in \
	  *" $$p "*) ;; %D%/model/* | %D%/fuzz/* | %D%/order/*) ;; \
	  *) echo $$p ;; esac; done
# What takes longest of all that runs side by side (./check), and begins first.
# What a test looks for there is its own, ports and networks too.  Those in which a
# rank may be silent for some seconds do not begin together.
long_tests = %D%/api/badinput.tap %D%/page/threads.mpi %D%/races/races.tap \
  %D%/coherence/locks.mpi %D%/clusters/clusters.tap %D%/malloc/malloc.mpi \
  %D%/page/mappings.mpi %D%/hosts/trouble.tap %D%/page/scattered.mpi \
  %D%/tools/configure.tap %D%/liveness/ends.tap %D%/fuzz/fuzz.sh \
  %D%/apps/apps.tap %D%/transport/mpi/am_mailbox.mpi %D%/liveness/deadlock.tap \
  %D%/api/languages.tap %D%/transport/udp/udp.tap %D%/report/report.tap \
  %D%/tools/cluster.tap %D%/compat/ways.tap %D%/transport/mpi/registered.tap \
  %D%/checkpoint/survive.tap %D%/page/frames.mpi %D%/page/ahead.mpi \
  %D%/tools/info.sh %D%/intercept/bindings.tap %D%/compat/jia_start.tap
# Ranks that poll over TCP, two on two cores, take 2 s, and 40 s or more beside two
# processes that compute.  The models' walks compute on both cores.  The others
# have bounds in seconds, or what is measured, and whether a helper leaves a rank
# its core, is to be seen where nobody else takes it; one compiles (--whole).
alone_tests = %D%/hosts/hosts.tap %D%/hosts/links.tap %D%/model/model.sh \
  %D%/tools/demo.tap %D%/base/yield_timer %D%/base/stat \
  %D%/liveness/one_by_one.tap %D%/transport/mpi/progress.mpi \
  %D%/transport/udp/measures.tap %D%/tools/machines.tap \
  %D%/tools/recipes.sh %D%/memory/heap.mpi
# Those that have bounds in seconds, too, and sleep nearly all of their time: side
# by side.
asleep_tests = $(link_tests) %D%/hang.tap %D%/tools/compare.tap
list-asleep-tests: listed = $(asleep_tests)
list-alone-tests: listed = $(alone_tests)
list-asleep-tests list-alone-tests:
	@for t in $(TESTS); do \
	  case " $(listed) " in *" $$t "*) echo $$t ;; esac; done
list-beside-tests:
	@for t in $(long_tests); do \
	  case " $(TESTS) " in *" $$t "*) echo $$t ;; esac; done; \
	for t in $(TESTS); do \
	  case " $(long_tests) $(asleep_tests) $(alone_tests) " in \
	  *" $$t "*) ;; *) echo $$t ;; esac; done
list-unit-tests:
	@for t in $(unit_tests) $(no_mpi_tests); do \
	  case $$t in *.sh | *.tap) ;; *) echo $$t ;; esac; done
list-tests:
	@for t in $(TESTS); do echo $$t; done
.PHONY: list-tests list-unit-tests list-mpi-tests list-mpi-programs \
  list-alone-tests list-asleep-tests list-beside-tests

# One test, or a folder of them, and only what it needs:
#   make test T=page/overwrite
#   make test T=notice TEST_NP=2 TEST_MATRIX=short
T =
test_goals = $(lib_LTLIBRARIES) $(bin_PROGRAMS) $(bin_SCRIPTS) \
  $(pkglibexec_PROGRAMS) $(check_PROGRAMS) $(check_LTLIBRARIES)
if HAVE_DOXYGEN
test_goals += man/doxygen.stamp
endif
test: $(BUILT_SOURCES)
	@tests=`$(SHELL) $(top_srcdir)/%D%/pick tests '$(T)' $(TESTS)` && \
	  goals=`srcdir=$(srcdir) $(SHELL) $(top_srcdir)/%D%/pick needs \
	    "$$tests" $(test_goals)` && \
	  { test -z "$$goals" || $(MAKE) $(AM_MAKEFLAGS) $$goals; } && \
	  $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$tests" \
	    check_PROGRAMS= check_LTLIBRARIES=
.PHONY: test

TESTS = $(no_mpi_tests)
unit_tests =
mpi_tests =
tap_tests = %D%/hang.tap
if HAVE_CHECK
check_PROGRAMS += $(unit_tests) $(mpi_tests)
TESTS += $(unit_tests) $(mpi_tests) $(tap_tests)
endif

# Linked with the convenience libraries: tests may reach hearthi_ symbols, and
# the programs are real binaries (gdb and valgrind work), not libtool scripts.
harness_cflags = $(AM_CFLAGS) -I$(top_srcdir)/tests/harness
test_cflags = $(harness_cflags) $(CHECK_CFLAGS)
# Of a program whose lines a script looks for: with debugging information always.
lines_cflags = $(CFLAGS) -g
unit_ldadd = tests/harness/libunit.la libhearth_base.la $(CHECK_LIBS)
core_ldadd = tests/harness/libunit.la libhearth_core.la $(CHECK_LIBS)
mpi_ldadd = tests/harness/libmpi.la libhearth_core.la $(CHECK_LIBS)

# A folder for each layer, lowest first, and one for each kind of run: see
# README.md.
EXTRA_DIST += $(tap_tests)
include tests/harness/local.mk
include tests/sources/local.mk
include tests/base/local.mk
include tests/notice/local.mk
include tests/memory/local.mk
include tests/liveness/local.mk
include tests/node/local.mk
include tests/transport/sync/local.mk
include tests/transport/mpi/local.mk
include tests/transport/udp/local.mk
include tests/transport/clusters/local.mk
include tests/transport/link/local.mk
include tests/page/local.mk
include tests/home/local.mk
include tests/coherence/local.mk
include tests/malloc/local.mk
include tests/checkpoint/local.mk
include tests/report/local.mk
include tests/races/local.mk
include tests/api/local.mk
include tests/compat/local.mk
include tests/intercept/local.mk
include tests/apps/local.mk
include tests/tools/local.mk
include tests/litmus/local.mk
include tests/random/local.mk
include tests/clusters/local.mk
include tests/testbed/local.mk
include tests/hosts/local.mk
include tests/fuzz/local.mk
include tests/model/local.mk
include tests/broken/local.mk
include tests/order/local.mk
include tests/scale/local.mk
include tests/soak/local.mk
include tests/ways/local.mk
