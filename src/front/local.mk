# What stands in front of MPI's calls and of the C library's; most of it is
# made from tables.
libhearth_core_la_SOURCES += \
  %D%/direct.h \
  %D%/sigmask.c \
  %D%/mpi_front.h %D%/mpi_rules.h \
  %D%/user_mprotect.c \
  %D%/mpi_next.c %D%/mpi_next.h \
  %D%/mpi_waits.c \
  %D%/request_pins.c %D%/request_pins.h \
  %D%/session.c %D%/session.h \
  %D%/syscall_buffers.c %D%/syscall_buffers.h \
  %D%/system.c %D%/system.def %D%/system.h \
  %D%/datatype_contents.c %D%/datatype_contents.h \
  %D%/datatype_walk.c %D%/datatype_walk.h \
  %D%/buffer_pin.c %D%/buffer_pin.h
nodist_libhearth_core_la_SOURCES = %D%/mpi_calls.c %D%/mpi_calls.h

AM_CPPFLAGS += -I$(top_builddir)/src
BUILT_SOURCES += %D%/mpi_calls.h
CLEANFILES += %D%/mpi_calls.c %D%/mpi_calls.h %D%/mpi.names %D%/mpi.rest \
  %D%/mpi.declared
mpi_tables = $(top_srcdir)/%D%/mpi.table $(top_srcdir)/%D%/mpi_wait.table
mpi_made_of = $(top_srcdir)/%D%/mpi.awk $(mpi_tables) %D%/mpi.names %D%/mpi.rest
mpi_awk = $(AWK) -v known=%D%/mpi.names -f $(top_srcdir)/%D%/mpi.awk
EXTRA_DIST += %D%/kernel.list %D%/mpi.awk %D%/mpi_rest.awk %D%/mpi.table \
  %D%/mpi_wait.table

# What this MPI has.
%D%/mpi.declared: $(top_builddir)/config.status
	$(AM_V_GEN)$(MKDIR_P) %D%
	$(AM_V_at)echo '#include <mpi.h>' >%D%/mpi.declared.c && \
	  $(CC) $(CPPFLAGS) $(BASE_CFLAGS) -E %D%/mpi.declared.c >$@.i && \
	  grep -v '^#' $@.i | tr '\n\t' '  ' | tr ';' '\n' >$@.tmp && \
	  rm %D%/mpi.declared.c $@.i && mv $@.tmp $@
%D%/mpi.names: %D%/mpi.declared
	$(AM_V_GEN)tr -c A-Za-z0-9_ '\n' <%D%/mpi.declared | grep '^MPI_' | \
	  LC_ALL=C sort -u >$@.tmp && mv $@.tmp $@
# And what of that no table has.
%D%/mpi.rest: $(top_srcdir)/%D%/mpi_rest.awk $(top_srcdir)/%D%/mpi.awk \
	    $(mpi_tables) %D%/mpi.names
	$(AM_V_GEN)$(mpi_awk) -v out=names $(mpi_tables) >$@.made && \
	  $(AWK) -v made=$@.made -f $(top_srcdir)/%D%/mpi_rest.awk \
	    %D%/mpi.declared >$@.tmp && rm $@.made && mv $@.tmp $@
%D%/mpi_calls.c: $(mpi_made_of)
	$(AM_V_GEN)$(mpi_awk) -v out=calls $(mpi_tables) %D%/mpi.rest \
	  >$@.tmp && mv $@.tmp $@
%D%/mpi_calls.h: $(mpi_made_of)
	$(AM_V_GEN)$(mpi_awk) -v out=header $(mpi_tables) %D%/mpi.rest \
	  >$@.tmp && mv $@.tmp $@

# Also where one program is made and not all.
$(libhearth_base_la_OBJECTS) $(libhearth_core_la_OBJECTS): %D%/mpi_calls.h

# A sanitizer calls the C library before it is ready itself, and so these: they
# are compiled without.
%D%/libhearth_core_la-sigmask.lo %D%/libhearth_core_la-user_mprotect.lo \
%D%/libhearth_core_la-system.lo %D%/libhearth_core_la-syscall_buffers.lo \
src/base/dlsym_next.lo: SANITIZE_CFLAGS =
