bin_PROGRAMS += hearth-cholesky
hearth_cholesky_SOURCES = %D%/cholesky.c %D%/plan.c %D%/plan.h \
  %D%/dissect.c %D%/dissect.h %D%/matrix.c %D%/matrix.h \
  %D%/matrix_market.c %D%/harwell_boeing.c \
  %D%/panel.c %D%/panel.h %D%/verify.c %D%/verify.h
hearth_cholesky_CFLAGS = $(APP_CFLAGS) $(APP_SQRT)
hearth_cholesky_LDADD = $(APP_LIBS)
hearth_cholesky_DEPENDENCIES = $(APP_NEEDS)
