# What ./check does before it builds.
no_mpi_tests += %D%/steps.tap
EXTRA_DIST += %D%/steps.tap

# What ./demo says, and what it leaves.
no_mpi_tests += %D%/demo.tap
EXTRA_DIST += %D%/demo.tap

# Which launcher and compilers configure finds, and which folders it refuses.
no_mpi_tests += %D%/configure.tap
EXTRA_DIST += %D%/configure.tap

# hearth-compare.
tap_tests += %D%/compare.tap %D%/switches.tap
EXTRA_DIST += %D%/comparing

# hearth-report.
no_mpi_tests += %D%/two_runs.tap
EXTRA_DIST += %D%/two_runs.tap

# hearth-cluster.
tap_tests += %D%/cluster.tap
EXTRA_DIST += %D%/clustering/peer.py %D%/clustering/ring.c

# Users without rights, and what killed jobs of others leave.
tap_tests += %D%/machines.tap

# hearth-info.
EXTRA_DIST += %D%/wrongs %D%/info.sh %D%/recipes.sh
TESTS += %D%/info.sh %D%/recipes.sh

# hearth-gateway.
if HAVE_CLUSTERS
no_mpi_tests += %D%/gateway.sh
endif
EXTRA_DIST += %D%/gateway.sh

# What is installed, for a user: by hand, and by CMake, pip and others.
EXTRA_DIST += %D%/installed %D%/packaged %D%/spack.py
