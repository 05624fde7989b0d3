# What reads the files of a checkpoint without the library.
checkpoint_files = src/checkpoint/image.c src/checkpoint/checksum.c \
  src/checkpoint/meta.c src/checkpoint/folder.c src/checkpoint/folder_open.c

bin_PROGRAMS += hearth-checkpoint
hearth_checkpoint_SOURCES = %D%/checkpoint.c $(checkpoint_files)
hearth_checkpoint_LDADD = libhearth_base.la
