bin_PROGRAMS += hearth-ft
hearth_ft_SOURCES = %D%/ft.c %D%/heat.c %D%/heat.h %D%/fft.c %D%/fft.h \
  apps/npb.h
hearth_ft_CFLAGS = $(APP_CFLAGS)
hearth_ft_LDADD = $(APP_LIBS)
hearth_ft_DEPENDENCIES = $(APP_NEEDS)
