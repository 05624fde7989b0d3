# Between gateways of clusters.  It needs no other room but the lowest, and is
# built where its libraries are.
if HAVE_CLUSTERS
noinst_LTLIBRARIES += libhearth_link.la
libhearth_link_la_SOURCES = \
  %D%/wrong.c %D%/wrong.h \
  %D%/setting.c %D%/setting.h \
  %D%/conf.c %D%/conf.h \
  %D%/key.c %D%/key.h \
  %D%/pipe.c %D%/pipe.h \
  %D%/tls.c %D%/tls.h \
  %D%/address.c %D%/address.h \
  %D%/post.c %D%/post.h \
  %D%/hello.c %D%/hello.h \
  %D%/lane.c %D%/lane.h %D%/lane_in.c %D%/lane_out.c \
  %D%/link.c %D%/link.h %D%/state.h \
  %D%/carry.c %D%/door.c %D%/end.c %D%/mate.c %D%/meet.c
libhearth_link_la_CFLAGS = $(AM_CFLAGS) $(OPENSSL_CFLAGS) $(INIH_CFLAGS)
libhearth_link_la_LIBADD = $(OPENSSL_LIBS) $(INIH_LIBS)
endif
