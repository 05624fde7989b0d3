# Between gateways of clusters.  It needs no other room but the lowest, and is
# built where its libraries are.
if HAVE_CLUSTERS
noinst_LTLIBRARIES += libhearth_link.la
libhearth_link_la_SOURCES = \
  %D%/conf_setting.c \
  %D%/conf.c %D%/conf.h \
  %D%/key.c %D%/key.h %D%/link_error.c \
  %D%/tls.c %D%/tls.h \
  %D%/link_address.c %D%/link_address.h \
  %D%/reliable_queue.c %D%/reliable_queue.h \
  %D%/gateway_hello.c %D%/gateway_hello.h \
  %D%/gateway_connection.c %D%/gateway_connection.h %D%/frame_rx.c \
  %D%/frame_tx.c \
  %D%/link.c %D%/link.h %D%/link_state.h \
  %D%/peer_io.c %D%/acceptor.c %D%/link_close.c %D%/remote_gateway.c \
  %D%/gateway_handshake.c
libhearth_link_la_CFLAGS = $(AM_CFLAGS) $(OPENSSL_CFLAGS) $(INIH_CFLAGS)
libhearth_link_la_LIBADD = $(OPENSSL_LIBS) $(INIH_LIBS)
endif
