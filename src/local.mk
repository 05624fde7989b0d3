# Layers, lowest first: each knows only those above it in this list.
# The base library must not call MPI, so that unit tests and the man pages
# need no launcher.
noinst_LTLIBRARIES += libhearth_base.la libhearth_core.la
lib_LTLIBRARIES = libhearth.la

# Headers are named from src/: "base/option.h".
AM_CPPFLAGS += -I$(top_srcdir)/src

libhearth_base_la_SOURCES =
libhearth_core_la_SOURCES =
libhearth_core_la_LIBADD = libhearth_base.la

include src/base/local.mk
include src/notice/local.mk
include src/link/local.mk
include src/core.mk
include src/jia/local.mk
include src/tmk/local.mk
include src/parmacs/local.mk
include src/front/local.mk

libhearth_la_SOURCES =
libhearth_la_LIBADD = libhearth_core.la
libhearth_la_LDFLAGS = -version-info $(HEARTH_ABI) -no-undefined

hearthincludedir = $(includedir)/hearth
hearthinclude_HEADERS = include/hearth/hearth.h include/hearth/jia.h \
  include/hearth/Tmk.h include/hearth/parmacs.h \
  include/hearth/hearth.hpp include/hearth/hearth.f90
nodist_hearthinclude_HEADERS = include/hearth/version.h
# JIAJIA's programs say "jia.h", and pkg-config --cflags gives $(includedir).
include_HEADERS = include/jia.h include/Tmk.h
