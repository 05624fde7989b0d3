# The random generator.  By hand:
#   mpirun -n 4 tests/random/random.mpi --seconds 600 --seed 1
mpi_tests += %D%/random.mpi
%C%_random_mpi_SOURCES = %D%/main.c %D%/random.h %D%/arena.c %D%/epoch.c \
  %D%/object.c %D%/oracle.c %D%/step.c %D%/world.c %D%/watch.c %D%/watch.h \
  %D%/scene.c %D%/scene.h %D%/late.c %D%/late.h %D%/beside.c %D%/boxes.c \
  %D%/cancel.c %D%/flags.c %D%/conds.c %D%/crowd.c %D%/halves.c %D%/inside.c \
  %D%/names.c %D%/fresh.c %D%/hold.c %D%/messages.c %D%/quiet.c %D%/rwlock.c \
  %D%/stay.c %D%/teams.c %D%/tries.c %D%/words.c $(delay) $(split)
%C%_random_mpi_CFLAGS = $(harness_cflags)
%C%_random_mpi_LDADD = libhearth_core.la
