bin_PROGRAMS += hearth-barnes
hearth_barnes_SOURCES = %D%/barnes.c %D%/check.c %D%/check.h \
  %D%/initial.c %D%/initial.h %D%/order.c %D%/order.h \
  %D%/gravity.h %D%/plummer.c %D%/plummer.h %D%/tree.c %D%/tree.h
hearth_barnes_CFLAGS = $(APP_CFLAGS) $(APP_SQRT)
hearth_barnes_LDADD = $(APP_LIBS)
hearth_barnes_DEPENDENCIES = $(APP_NEEDS)
