# What stands in front of MPI's calls and of the C library's; most of it is
# made from tables.
libhearth_core_la_SOURCES += \
  %D%/aside.c %D%/aside.h \
  %D%/direct.h \
  %D%/masks.c %D%/masks.h \
  %D%/mpi_front.h %D%/mpi_rules.h \
  %D%/next.c %D%/next.h \
  %D%/pending.c %D%/pending.h \
  %D%/spans.c %D%/spans.h \
  %D%/system.c %D%/system.def %D%/system.h \
  %D%/type.c %D%/type.h \
  %D%/use.c %D%/use.h
nodist_libhearth_core_la_SOURCES = %D%/mpi_calls.c %D%/mpi_calls.h

AM_CPPFLAGS += -I$(top_builddir)/src
BUILT_SOURCES += %D%/mpi_calls.h
CLEANFILES += %D%/mpi_calls.c %D%/mpi_calls.h
mpi_tables = $(top_srcdir)/%D%/mpi.table $(top_srcdir)/%D%/mpi_wait.table
EXTRA_DIST += %D%/mpi.awk %D%/mpi.table %D%/mpi_wait.table

%D%/mpi_calls.c: $(top_srcdir)/%D%/mpi.awk $(mpi_tables)
	$(AM_V_GEN)$(MKDIR_P) %D%
	$(AM_V_at)$(AWK) -v out=calls -f $(top_srcdir)/%D%/mpi.awk \
	  $(mpi_tables) >$@.tmp && mv $@.tmp $@
%D%/mpi_calls.h: $(top_srcdir)/%D%/mpi.awk $(mpi_tables)
	$(AM_V_GEN)$(MKDIR_P) %D%
	$(AM_V_at)$(AWK) -v out=header -f $(top_srcdir)/%D%/mpi.awk \
	  $(mpi_tables) >$@.tmp && mv $@.tmp $@

# Also where one program is made and not all.
$(libhearth_core_la_OBJECTS): %D%/mpi_calls.h
