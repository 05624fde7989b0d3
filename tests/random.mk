# The random generator.  By hand:
#   mpirun -n 4 tests/random.mpi --seconds 600 --seed 1
mpi_tests += %D%/random.mpi
%C%_random_mpi_SOURCES = %D%/random/main.c %D%/random/random.h \
  %D%/random/arena.c %D%/random/epoch.c %D%/random/object.c \
  %D%/random/oracle.c %D%/random/step.c %D%/random/world.c \
  %D%/random/watch.c %D%/random/watch.h \
  %D%/random/scene.c %D%/random/scene.h \
  %D%/random/late.c %D%/random/late.h \
  %D%/random/beside.c %D%/random/boxes.c %D%/random/cancel.c %D%/random/flags.c \
  %D%/random/fresh.c %D%/random/hold.c %D%/random/messages.c \
  %D%/random/quiet.c %D%/random/rwlock.c %D%/random/stay.c \
  %D%/random/tries.c %D%/random/words.c \
  %D%/delay.c %D%/delay.h %D%/split.h %D%/split.c $(split_more)
%C%_random_mpi_CFLAGS = $(AM_CFLAGS)
%C%_random_mpi_LDADD = libhearth_core.la

# For hours, with everything drawn: ./soak --help.
EXTRA_DIST += soak %D%/soak/soak.py %D%/soak/job.py
