if HAVE_CLUSTERS
bin_PROGRAMS += hearth-gateway
hearth_gateway_SOURCES = %D%/gateway.c
hearth_gateway_LDADD = libhearth_link.la libhearth_base.la
endif
