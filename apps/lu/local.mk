bin_PROGRAMS += hearth-lu
hearth_lu_SOURCES = %D%/lu.c %D%/lu.h %D%/columns.c %D%/columns.h \
  %D%/reading.c %D%/reading.h %D%/rows.c %D%/verify.c %D%/block.c %D%/block.h \
  apps/pair.h
hearth_lu_CFLAGS = $(APP_CFLAGS)
hearth_lu_LDADD = $(APP_LIBS)
hearth_lu_DEPENDENCIES = $(APP_NEEDS)
