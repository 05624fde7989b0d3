# hearth-compare: a script, and the parts in Python that it loads from
# $(pkgdatadir), where the scripts of the test hosts are too.  In the build
# folder tools/share takes the place of $(pkgdatadir).
bin_SCRIPTS = hearth-compare
CLEANFILES += hearth-compare $(compare_share)
EXTRA_DIST += %D%/hearth-compare.in

comparedir = $(pkgdatadir)/compare
dist_compare_DATA = %D%/compare/__init__.py %D%/compare/apps.py \
  %D%/compare/export.py %D%/compare/figures.py %D%/compare/html.py \
  %D%/compare/job.py %D%/compare/machine.py %D%/compare/main.py \
  %D%/compare/options.py %D%/compare/page.py %D%/compare/places.py \
  %D%/compare/plan.py %D%/compare/plot.py %D%/compare/state.py \
  %D%/compare/tables.py %D%/compare/trouble.py
dist_pkgdata_SCRIPTS = tests/run-mpi
testbeddir = $(pkgdatadir)/testbed
dist_testbed_SCRIPTS = tests/testbed/hosts tests/testbed/rsh tests/testbed/run

compare_share = %D%/share/compare %D%/share/run-mpi %D%/share/testbed

hearth-compare: %D%/hearth-compare.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%/share && rm -f $(compare_share) && \
	  $(LN_S) '$(abs_top_srcdir)/%D%/compare' %D%/share/compare && \
	  $(LN_S) '$(abs_top_srcdir)/tests/run-mpi' %D%/share/run-mpi && \
	  $(LN_S) '$(abs_top_srcdir)/tests/testbed' %D%/share/testbed && \
	  sed -e 's|@pkgdatadir[@]|$(pkgdatadir)|' \
	    -e 's|@VERSION[@]|$(VERSION)|' \
	    -e 's|@MPI_FLAVOUR[@]|$(MPI_FLAVOUR)|' \
	    -e 's|@MPIEXEC[@]|$(MPIEXEC)|' \
	    $(top_srcdir)/%D%/hearth-compare.in >$@.tmp && \
	  chmod +x $@.tmp && mv -f $@.tmp $@
