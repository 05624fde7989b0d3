# What others send, under libFuzzer.
no_mpi_tests += %D%/fuzz.sh
EXTRA_DIST += %D%/fuzz.sh %D%/wire_fuzz.c
