bin_PROGRAMS += hearth-run
hearth_run_SOURCES = %D%/command.c %D%/launcher.c %D%/ranks.c %D%/run.c %D%/run.h \
  $(checkpoint_files)
hearth_run_LDADD = libhearth_base.la
