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

EXTRA_DIST += %D%/limit.def

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
libhearth_la_LDFLAGS = -version-info $(HEARTH_ABI) -no-undefined \
  $(HEARTH_VERSIONS)
EXTRA_libhearth_la_DEPENDENCIES = $(top_srcdir)/%D%/libhearth.map
EXTRA_DIST += %D%/libhearth.map

# What the shared library offers to a program: its name, its symbols, and the
# sizes of its variables.  The rule runs whenever the library was linked, and
# leaves the file alone where that is as it was: programs that depend on it
# (NAME_DEPENDENCIES), and not on the library, are linked again only when it
# is not.  A library that is not shared offers itself.
libhearth.offers: libhearth.la
	$(AM_V_at){ sed -n -e '/^dlname=/p' -e '/^dependency_libs=/p' \
	    libhearth.la; \
	  if test -f .libs/libhearth.so; then \
	    $(NM) -D -P --defined-only .libs/libhearth.so | \
	      awk '{ print $$1, $$2, $$2 ~ /[BDGRSV]/ ? $$4 : "" }'; \
	  else cksum .libs/libhearth.*; fi; } >$@.$$$$ && \
	  if cmp -s $@.$$$$ $@; then rm -f $@.$$$$; else mv -f $@.$$$$ $@; fi
CLEANFILES += libhearth.offers

hearthincludedir = $(includedir)/hearth
hearthinclude_HEADERS = include/hearth/hearth.h include/hearth/jia.h \
  include/hearth/Tmk.h include/hearth/parmacs.h \
  include/hearth/hearth.hpp include/hearth/hearth.f90
nodist_hearthinclude_HEADERS = include/hearth/version.h
# ArgoDSM's programs say "argo.hpp" and the names of some of its files, in a
# folder that they are told of.
argoincludedir = $(includedir)/argo
argoinclude_HEADERS = include/argo/argo.hpp include/argo/cohort_lock.hpp
argobackenddir = $(argoincludedir)/backend
argobackend_HEADERS = include/argo/backend/backend.hpp
argodistributiondir = $(argoincludedir)/data_distribution
argodistribution_HEADERS = include/argo/data_distribution/global_ptr.hpp
argosynchronizationdir = $(argoincludedir)/synchronization
argosynchronization_HEADERS = \
  include/argo/synchronization/broadcast.hpp \
  include/argo/synchronization/cohort_lock.hpp \
  include/argo/synchronization/global_tas_lock.hpp \
  include/argo/synchronization/synchronization.hpp
argointranodedir = $(argosynchronizationdir)/intranode
argointranode_HEADERS = \
  include/argo/synchronization/intranode/mcs_lock.hpp \
  include/argo/synchronization/intranode/ticket_lock.hpp
# JIAJIA's programs say "jia.h", and pkg-config --cflags gives $(includedir).
include_HEADERS = include/jia.h include/Tmk.h
