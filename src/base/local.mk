# Options, counters and what is said on stderr; no MPI call.
libhearth_base_la_SOURCES += \
  %D%/cancel.h \
  %D%/cgroup.c %D%/cgroup.h \
  %D%/clock.c %D%/clock.h \
  %D%/descriptor.c %D%/descriptor.h \
  %D%/crowd.c %D%/crowd.h \
  %D%/distribution.def \
  %D%/format.c %D%/format.h \
  %D%/assert.h \
  %D%/machine_part.c %D%/machine_part.h \
  %D%/mutex.c %D%/mutex.def %D%/mutex.h \
  %D%/mpi_call.c %D%/mpi_call.h \
  %D%/mpi_launcher.c %D%/mpi_launcher.h \
  %D%/mpi_library.c %D%/mpi_library.h \
  %D%/mpi_recipe.c %D%/mpi_recipe.h \
  %D%/network.c %D%/network.h \
  %D%/dlsym_next.c %D%/dlsym_next.h \
  %D%/option.c %D%/option.def %D%/option.h \
  %D%/option_type.c %D%/option_type.h \
  %D%/test_limits.h \
  %D%/file_write.c %D%/file_write.h \
  %D%/hash.h \
  %D%/min.h \
  %D%/report.c %D%/report.h \
  %D%/stat.c %D%/stat.h \
  %D%/tasks.c \
  %D%/thread.c %D%/thread.h \
  %D%/timing.h \
  %D%/atomic_file.c %D%/atomic_file.h

# The counters are the members of hearth_stats.
BUILT_SOURCES += %D%/stat.def
CLEANFILES += %D%/stat.def
EXTRA_DIST += %D%/stat.awk
%D%/stat.def: $(top_srcdir)/%D%/stat.awk $(top_srcdir)/include/hearth/hearth.h
	$(AM_V_GEN)$(MKDIR_P) %D%
	$(AM_V_at)$(AWK) -f $(top_srcdir)/%D%/stat.awk \
	  $(top_srcdir)/include/hearth/hearth.h >$@.tmp && mv $@.tmp $@
# Also where one program is made and not all.
$(libhearth_base_la_OBJECTS) $(libhearth_core_la_OBJECTS): %D%/stat.def
