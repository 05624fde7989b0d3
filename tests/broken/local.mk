# Rules that are broken one at a time, by hand: each edit fits the sources.
no_mpi_tests += %D%/list.sh
EXTRA_DIST += %D%/list.sh %D%/broken.py %D%/rules.list
