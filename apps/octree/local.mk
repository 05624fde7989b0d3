bin_PROGRAMS += hearth-octree
hearth_octree_SOURCES = %D%/octree.c %D%/cells.c %D%/cells.h %D%/walk.c \
  apps/barnes/check.c apps/barnes/check.h \
  apps/barnes/gravity.h apps/barnes/order.c apps/barnes/order.h \
  apps/barnes/plummer.c apps/barnes/plummer.h
hearth_octree_CFLAGS = $(APP_CFLAGS) $(APP_SQRT) -I$(top_srcdir)/apps/barnes
hearth_octree_LDADD = $(APP_LIBS)
hearth_octree_DEPENDENCIES = $(APP_NEEDS)
