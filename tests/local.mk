# Tests named *.mpi run under the launcher, once for each configuration (see
# run-mpi); *.tap are scripts; the others run directly.  All these print TAP.
# Scripts named *.sh answer with their exit status.
#
#   make check                                      the whole matrix
#   make check TEST_NP=4 TEST_NODES='1 2'           one corner of it
#   make check TEST_TRANSPORT=udp                   all of it over datagrams
#   make check TESTS=tests/litmus.mpi               one test
#   make check TESTS=tests/random.mpi TEST_RANDOM=600
TEST_NP = 1 2 3 4
TEST_NODES = 1 2 0
TEST_CONSISTENCY = release scope
TEST_TRANSPORT = mpi udp
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

EXTRA_DIST += %D%/again %D%/api-lists.sh %D%/chance.py %D%/chance.sh \
  %D%/counted %D%/counters.py %D%/halves %D%/installed %D%/limited %D%/places \
  %D%/sources/words.sh %D%/sources/words.retired %D%/verdicts
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
  export CK_DEFAULT_TIMEOUT; \
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

# Those that have nothing to do with MPI, as have unit tests, and all others:
# for where the first have been run with another.
no_mpi_tests = %D%/chance.sh %D%/sources/words.sh
list-mpi-tests:
	@for t in $(TESTS); do \
	  case " $(no_mpi_tests) $(unit_tests) " in *" $$t "*) ;; \
	  *) echo $$t ;; esac; done
# Those that mostly wait for jobs to fail, or leave MPI alone, and can run one
# after the other beside the rest: they use no network of their own, what they
# look for is theirs alone, and none has a bound in seconds.
aside_tests = %D%/fuzz.sh %D%/badinput.tap %D%/trouble.tap \
  %D%/ways.tap %D%/languages.tap %D%/jia_start.tap %D%/switches.tap \
  %D%/bindings.tap %D%/ends.tap %D%/beside.tap %D%/registered.tap
# Ranks that poll over TCP, two on two cores, take 2 s, and 40 s beside two
# processes that compute.  The models' walks compute on both cores.  The others
# have bounds in seconds.
alone_tests = %D%/hosts.tap %D%/model.sh %D%/compare.tap %D%/spin %D%/stat \
  $(link_tests)
list-aside-tests:
	@for t in $(TESTS); do \
	  case " $(aside_tests) " in *" $$t "*) echo $$t ;; esac; done
list-alone-tests:
	@for t in $(TESTS); do \
	  case " $(alone_tests) " in *" $$t "*) echo $$t ;; esac; done
list-other-tests:
	@for t in $(TESTS); do \
	  case " $(aside_tests) $(alone_tests) " in *" $$t "*) ;; \
	  *) echo $$t ;; esac; done
.PHONY: list-mpi-tests list-alone-tests list-aside-tests list-other-tests

TESTS = %D%/api-lists.sh $(no_mpi_tests)
unit_tests =
mpi_tests =
tap_tests =
if HAVE_CHECK
check_PROGRAMS += $(unit_tests) $(mpi_tests)
TESTS += $(unit_tests) $(mpi_tests) $(tap_tests)
endif

# Linked with the convenience libraries: tests may reach hearthi_ symbols, and
# the programs are real binaries (gdb and valgrind work), not libtool scripts.
test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
unit_ldadd = libhearth_base.la $(CHECK_LIBS)
mpi_ldadd = libhearth_core.la $(CHECK_LIBS)

unit_tests += %D%/option
%C%_option_SOURCES = %D%/option.c %D%/harness.h %D%/harness_unit.c
%C%_option_CFLAGS = $(test_cflags)
%C%_option_LDADD = $(unit_ldadd)

# MPI tests.
split_more = %D%/link_proxy.c %D%/link_proxy.h %D%/visitor.h %D%/property.h
mpi_harness = %D%/seen.h %D%/harness.h %D%/harness_mpi.c %D%/fixture.h %D%/fixture.c %D%/split.h %D%/split.c $(split_more)

mpi_tests += %D%/api.mpi
%C%_api_mpi_SOURCES = %D%/api.c %D%/alloc.c %D%/alloc.h $(mpi_harness)
%C%_api_mpi_CFLAGS = $(test_cflags)
%C%_api_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/windows.mpi
%C%_windows_mpi_SOURCES = %D%/windows.c %D%/windows.h \
  %D%/windows_freed.c $(mpi_harness)
%C%_windows_mpi_CFLAGS = $(test_cflags)
%C%_windows_mpi_LDADD = $(mpi_ldadd)

levels = %D%/levels.c %D%/levels.h %D%/behind.c %D%/behind.h

# Over several clusters, by clusters.tap.
check_PROGRAMS += %D%/worlds.mpi
%C%_worlds_mpi_SOURCES = %D%/worlds.c %D%/worlds.h %D%/worlds_apart.c \
  %D%/worlds_door.c %D%/worlds_ahead.c %D%/worlds_mates.c \
  %D%/worlds_fault.c %D%/half.c %D%/half.h $(levels) $(mpi_harness)
%C%_worlds_mpi_CFLAGS = $(test_cflags)
%C%_worlds_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/place.mpi
%C%_place_mpi_SOURCES = %D%/place.c $(mpi_harness)
%C%_place_mpi_CFLAGS = $(test_cflags)
%C%_place_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/litmus.mpi
%C%_litmus_mpi_SOURCES = %D%/litmus.c %D%/litmus.h %D%/litmus_page.c %D%/litmus_home.c \
  $(mpi_harness)
%C%_litmus_mpi_CFLAGS = $(test_cflags)
%C%_litmus_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/locks.mpi
%C%_locks_mpi_SOURCES = %D%/locks.c %D%/atomics.c %D%/tries.c %D%/flags.c %D%/flags.h \
  %D%/flag_log.c %D%/full.c %D%/conds.c %D%/stay.c %D%/stay_barrier.c \
  %D%/delay.c %D%/delay.h %D%/half.c %D%/half.h \
  $(mpi_harness)
%C%_locks_mpi_CFLAGS = $(test_cflags)
%C%_locks_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/blocks.mpi
%C%_blocks_mpi_SOURCES = %D%/blocks.c $(mpi_harness)
%C%_blocks_mpi_CFLAGS = $(test_cflags)
%C%_blocks_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/rwlocks.mpi
%C%_rwlocks_mpi_SOURCES = %D%/rwlocks.c %D%/rwlocks.h %D%/rwlocks_seen.c \
  %D%/rwlocks_fair.c %D%/delay.c %D%/delay.h $(mpi_harness)
%C%_rwlocks_mpi_CFLAGS = $(test_cflags)
%C%_rwlocks_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/migrate.mpi
%C%_migrate_mpi_SOURCES = %D%/migrate.c %D%/migrate.h \
  %D%/migrate_beside.c %D%/migrate_first.c %D%/migrate_new.c \
  %D%/migrate_seam.c $(mpi_harness)
%C%_migrate_mpi_CFLAGS = $(test_cflags)
%C%_migrate_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/predict.mpi
%C%_predict_mpi_SOURCES = %D%/predict.c %D%/predict.h %D%/predict_cost.c \
  $(mpi_harness)
%C%_predict_mpi_CFLAGS = $(test_cflags)
%C%_predict_mpi_LDADD = $(mpi_ldadd)
mpi_tests += %D%/mates.mpi
%C%_mates_mpi_SOURCES = %D%/mates.c %D%/mates.h %D%/mates_ahead.c \
  %D%/mates_beside.c %D%/mates_old.c $(mpi_harness)
%C%_mates_mpi_CFLAGS = $(test_cflags)
%C%_mates_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/malloc.mpi
%C%_malloc_mpi_SOURCES = %D%/malloc.c %D%/malloc.h %D%/malloc_reused.c \
  %D%/malloc_threads.c $(mpi_harness)
%C%_malloc_mpi_CFLAGS = $(test_cflags)
%C%_malloc_mpi_LDADD = $(mpi_ldadd)

# Blocks of small objects.  MPI is linked, not started.
unit_tests += %D%/slab
%C%_slab_SOURCES = %D%/slab.c %D%/property.h %D%/harness.h %D%/harness_unit.c
%C%_slab_CFLAGS = $(test_cflags)
%C%_slab_LDADD = libhearth_core.la $(CHECK_LIBS)

mpi_tests += %D%/overwrite.mpi
%C%_overwrite_mpi_SOURCES = %D%/overwrite.c $(mpi_harness)
%C%_overwrite_mpi_CFLAGS = $(test_cflags)
%C%_overwrite_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/ahead.mpi
%C%_ahead_mpi_SOURCES = %D%/ahead.c $(mpi_harness)
%C%_ahead_mpi_CFLAGS = $(test_cflags)
%C%_ahead_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/named.mpi
%C%_named_mpi_SOURCES = %D%/named.c %D%/delay.c %D%/delay.h $(mpi_harness)
%C%_named_mpi_CFLAGS = $(test_cflags)
%C%_named_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/order.mpi
%C%_order_mpi_SOURCES = %D%/order.c $(mpi_harness)
%C%_order_mpi_CFLAGS = $(test_cflags)
%C%_order_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/threads.mpi
%C%_threads_mpi_SOURCES = %D%/threads.c %D%/threads.h \
  %D%/threads_coming.c %D%/threads_late.c %D%/threads_messages.c %D%/threads_misses.c \
  %D%/threads_seam.c %D%/threads_seam.h %D%/threads_sync.c $(levels) $(mpi_harness)
%C%_threads_mpi_CFLAGS = $(test_cflags)
%C%_threads_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/cancel.mpi
%C%_cancel_mpi_SOURCES = %D%/cancel.c $(mpi_harness)
%C%_cancel_mpi_CFLAGS = $(test_cflags)
%C%_cancel_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/dump.mpi
%C%_dump_mpi_SOURCES = %D%/dump.c $(mpi_harness)
%C%_dump_mpi_CFLAGS = $(test_cflags)
%C%_dump_mpi_LDADD = $(mpi_ldadd)

# A command without userfaultfd.
check_PROGRAMS += %D%/forbid
%C%_forbid_SOURCES = %D%/forbid.c %D%/forbid.h

# Copies beyond the kernel's mappings.
mpi_tests += %D%/scattered.mpi
%C%_scattered_mpi_SOURCES = %D%/scattered.c %D%/scattered.h %D%/forbid.h \
  %D%/scattered_many.c %D%/watched.c $(mpi_harness)
%C%_scattered_mpi_CFLAGS = $(test_cflags)
%C%_scattered_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/mappings.mpi
%C%_mappings_mpi_SOURCES = %D%/mappings.c $(mpi_harness)
%C%_mappings_mpi_CFLAGS = $(test_cflags)
%C%_mappings_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/heap.mpi
%C%_heap_mpi_SOURCES = %D%/heap.c $(mpi_harness)
%C%_heap_mpi_CFLAGS = $(test_cflags)
%C%_heap_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/frames.mpi
%C%_frames_mpi_SOURCES = %D%/frames.c $(mpi_harness)
%C%_frames_mpi_CFLAGS = $(test_cflags)
%C%_frames_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/mail.mpi
%C%_mail_mpi_SOURCES = %D%/mail.c $(mpi_harness)
%C%_mail_mpi_CFLAGS = $(test_cflags)
%C%_mail_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/packs.mpi
%C%_packs_mpi_SOURCES = %D%/packs.c $(mpi_harness)
%C%_packs_mpi_CFLAGS = $(test_cflags)
%C%_packs_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/holds.mpi
%C%_holds_mpi_SOURCES = %D%/holds.c %D%/holds.h %D%/holds_rules.c \
  %D%/holds_acquires.c %D%/holds_beside.c $(mpi_harness)
%C%_holds_mpi_CFLAGS = $(test_cflags)
%C%_holds_mpi_LDADD = $(mpi_ldadd)

# A network card that cannot page, below tests of the core.
tap_tests += %D%/registered.tap
check_LTLIBRARIES += %D%/registered.la
%C%_registered_la_SOURCES = %D%/registered.c
%C%_registered_la_LDFLAGS = -module -avoid-version -rpath /nowhere

# MPI's calls on heap memory.
mpi_tests += %D%/calls.mpi
%C%_calls_mpi_SOURCES = %D%/calls.c %D%/calls.h %D%/calls_collective.c \
  %D%/calls_completion.c %D%/calls_file.c %D%/calls_neighbour.c \
  %D%/calls_point.c %D%/calls_region.c %D%/calls_region.h %D%/calls_rma.c \
  %D%/calls_trial.c %D%/calls_types.c $(mpi_harness)
%C%_calls_mpi_CFLAGS = $(test_cflags)
%C%_calls_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/signals.mpi
%C%_signals_mpi_SOURCES = %D%/signals.c $(mpi_harness)
%C%_signals_mpi_CFLAGS = $(test_cflags)
%C%_signals_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/masks.mpi
%C%_masks_mpi_SOURCES = %D%/masks.c $(mpi_harness)
%C%_masks_mpi_CFLAGS = $(test_cflags) -Wno-deprecated-declarations
%C%_masks_mpi_LDADD = $(mpi_ldadd)

mpi_tests += %D%/system.mpi
%C%_system_mpi_SOURCES = %D%/system.c %D%/system.h %D%/system_calls.c \
  %D%/system_tells.c $(mpi_harness)
%C%_system_mpi_CFLAGS = $(test_cflags)
%C%_system_mpi_LDADD = $(mpi_ldadd)

# Python and debuggers.
tap_tests += %D%/beside.tap
EXTRA_DIST += %D%/beside.py

# Programs for the scripts.
check_PROGRAMS += %D%/badinput %D%/start
%C%_badinput_SOURCES = %D%/seen.h %D%/badinput.c %D%/badinput.h \
  %D%/badinput_alloc.c %D%/badinput_call.c %D%/badinput_far.c \
  %D%/badinput_malloc.c \
  %D%/badinput_hold.c \
  %D%/badinput_end.c %D%/badinput_lose.c %D%/badinput_fake.c \
  %D%/badinput_touch.c
%C%_badinput_LDADD = libhearth_core.la
%C%_start_SOURCES = %D%/start.c
%C%_start_LDADD = libhearth_core.la
tap_tests += %D%/badinput.tap %D%/ends.tap

# What one of many ranks spends: a few here, up to 64 by hand.
tap_tests += %D%/scale.tap
check_PROGRAMS += %D%/scale/scale %D%/scale/rest
%C%_scale_rest_SOURCES = %D%/scale/rest.c
%C%_scale_rest_LDADD = libhearth.la
%C%_scale_scale_SOURCES = %D%/scale/scale.c %D%/seen.h
%C%_scale_scale_LDADD = libhearth_core.la
EXTRA_DIST += %D%/scale/law.py

# Datagrams that are lost, doubled, late and small.
tap_tests += %D%/udp.tap
check_PROGRAMS += %D%/burst.mpi %D%/replay.mpi %D%/torn.mpi
%C%_burst_mpi_SOURCES = %D%/burst.c $(mpi_harness)
%C%_burst_mpi_CFLAGS = $(test_cflags)
%C%_burst_mpi_LDADD = $(mpi_ldadd)
%C%_replay_mpi_SOURCES = %D%/replay.c %D%/replay.h \
  %D%/replay_overheard.c $(mpi_harness)
%C%_replay_mpi_CFLAGS = $(test_cflags)
%C%_replay_mpi_LDADD = $(mpi_ldadd)
%C%_torn_mpi_SOURCES = %D%/torn.c $(mpi_harness)
%C%_torn_mpi_CFLAGS = $(test_cflags)
%C%_torn_mpi_LDADD = $(mpi_ldadd)

# The applications, and what runs them without Hearth: a shared library,
# which libtool makes of one that says where it is to be.
tap_tests += %D%/apps.tap
check_LTLIBRARIES += %D%/plain.la
%C%_plain_la_SOURCES = %D%/plain.c
%C%_plain_la_LDFLAGS = -module -avoid-version -rpath /nowhere
EXTRA_DIST += %D%/tsplib/burma14.tsp %D%/tsplib/gr17.tsp \
  %D%/tsplib/ulysses16.tsp

# Profilers, Fortran and Python.
tap_tests += %D%/bindings.tap
EXTRA_DIST += %D%/exchange.c %D%/exchange.f90 %D%/exchange.py %D%/profiler.c

# Programs in the words of other systems, and those of doc/.
tap_tests += %D%/ways.tap %D%/pages.tap
EXTRA_DIST += %D%/tmk_calls.c %D%/tmk_jacobi.c %D%/tmk_tsp.c \
  %D%/parmacs_all.C %D%/parmacs_bad.C %D%/parmacs_loop.C \
  %D%/parmacs_loop.h %D%/parmacs_work.C

# C++, Fortran and Python.
tap_tests += %D%/languages.tap
EXTRA_DIST += %D%/languages/containers.cpp %D%/languages/arrays.f90 \
  %D%/languages/shared.py

# Real libraries.
tap_tests += %D%/programs.tap
EXTRA_DIST += %D%/programs/fftw.c %D%/programs/hdf5.c \
  %D%/programs/petsc.c %D%/programs/pnetcdf.c %D%/programs/scalapack.c

# hearth-compare.
tap_tests += %D%/compare.tap %D%/switches.tap
EXTRA_DIST += %D%/comparing

# hearth-cluster.
tap_tests += %D%/cluster.tap
EXTRA_DIST += %D%/clustering/peer.py %D%/clustering/ring.c

# A handler that is a rank.
check_PROGRAMS += %D%/attended
%C%_attended_SOURCES = %D%/attended.c
%C%_attended_LDADD = libhearth_core.la
# Several clusters, and those of different kinds.
tap_tests += %D%/clusters.tap %D%/kinds.tap
EXTRA_DIST += %D%/jobs
check_LTLIBRARIES += %D%/large_pages.la
%C%_large_pages_la_SOURCES = %D%/large_pages.c
%C%_large_pages_la_LDFLAGS = -module -avoid-version -rpath /nowhere

# Test hosts on this machine: two programs over TCP, and the udp transport in
# all sorts of trouble.
EXTRA_DIST += %D%/testbed/job
tap_tests += %D%/hosts.tap %D%/trouble.tap
check_PROGRAMS += %D%/trouble %D%/intruder
%C%_trouble_SOURCES = %D%/trouble.c
%C%_trouble_LDADD = libhearth_core.la
%C%_intruder_SOURCES = %D%/intruder.c
EXTRA_DIST += $(tap_tests) %D%/small-shm

mpi_tests += %D%/progress.mpi
%C%_progress_mpi_SOURCES = %D%/progress.c %D%/gets.c %D%/gets.h \
  $(mpi_harness)
%C%_progress_mpi_CFLAGS = $(test_cflags)
%C%_progress_mpi_LDADD = $(mpi_ldadd)
