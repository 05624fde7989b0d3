# What stands in front of MPI's calls and of the C library's; most of it is
# made from tables.
libhearth_core_la_SOURCES += \
  %D%/staged_recv.c %D%/staged_recv.h \
  %D%/direct.h \
  %D%/sigmask.c \
  %D%/mpi_front.h %D%/mpi_rules.h \
  %D%/mpi_next.c %D%/mpi_next.h \
  %D%/request_pins.c %D%/request_pins.h \
  %D%/syscall_buffers.c %D%/syscall_buffers.h \
  %D%/system.c %D%/system.def %D%/system.h \
  %D%/datatype_walk.c %D%/datatype_walk.h \
  %D%/buffer_pin.c %D%/buffer_pin.h
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
