# What holds for the sources themselves.
no_mpi_tests += %D%/words.sh
EXTRA_DIST += %D%/words.sh %D%/words.retired
