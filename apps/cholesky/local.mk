bin_PROGRAMS += hearth-cholesky
hearth_cholesky_SOURCES = %D%/cholesky.c %D%/plan.c %D%/plan.h \
  %D%/panel.c %D%/panel.h %D%/verify.c %D%/verify.h
hearth_cholesky_CFLAGS = $(APP_CFLAGS) $(APP_SQRT)
hearth_cholesky_LDADD = $(APP_LIBS)
