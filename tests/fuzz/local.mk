# What others send and what users write, under libFuzzer.
no_mpi_tests += %D%/fuzz.sh
EXTRA_DIST += %D%/fuzz.sh %D%/fuzz.h %D%/replay.c %D%/wan_shape.h \
  %D%/wire_fuzz.c %D%/wan_validate_fuzz.c %D%/stream_fuzz.c \
  %D%/remote_request_fuzz.c \
  %D%/hello_fuzz.c %D%/option_fuzz.c %D%/jia_fuzz.c %D%/parmacs_fuzz.c \
  %D%/meta_fuzz.c %D%/link_fuzz.c %D%/conf_fuzz.c %D%/corpus
