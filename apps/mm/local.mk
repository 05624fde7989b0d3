bin_PROGRAMS += hearth-mm
hearth_mm_SOURCES = %D%/mm.c %D%/gemm.c %D%/gemm.h apps/pair.h
hearth_mm_CFLAGS = $(APP_CFLAGS)
hearth_mm_LDADD = $(APP_LIBS)
hearth_mm_DEPENDENCIES = $(APP_NEEDS)
