# hearth-compare: a script, and the parts in Python that it loads from
# $(pkgdatadir), where the scripts of the test hosts are too.  In the build
# folder tools/share takes the place of $(pkgdatadir).
bin_SCRIPTS = hearth-compare
CLEANFILES += hearth-compare $(compare_share)
EXTRA_DIST += %D%/hearth-compare.in

comparedir = $(pkgdatadir)/compare
dist_compare_DATA = %D%/__init__.py %D%/apps.py %D%/export.py %D%/figures.py \
  %D%/html.py %D%/job.py %D%/machine.py %D%/main.py %D%/options.py \
  %D%/page.py %D%/places.py %D%/plan.py %D%/plot.py %D%/state.py \
  %D%/switches.py %D%/tables.py %D%/trouble.py
dist_pkgdata_SCRIPTS = tests/run-mpi
testbeddir = $(pkgdatadir)/testbed
dist_testbed_SCRIPTS = tests/testbed/hosts tests/testbed/rsh tests/testbed/run

compare_share = tools/share/compare tools/share/run-mpi tools/share/testbed

hearth-compare: %D%/hearth-compare.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools/share && rm -f $(compare_share) && \
	  $(LN_S) '$(abs_top_srcdir)/%D%' tools/share/compare && \
	  $(LN_S) '$(abs_top_srcdir)/tests/run-mpi' tools/share/run-mpi && \
	  $(LN_S) '$(abs_top_srcdir)/tests/testbed' tools/share/testbed && \
	  sed -e 's|@pkgdatadir[@]|$(pkgdatadir)|' \
	    -e 's|@VERSION[@]|$(VERSION)|' \
	    -e 's|@MPI_FLAVOUR[@]|$(MPI_FLAVOUR)|' \
	    -e 's|@MPIEXEC[@]|$(MPIEXEC)|' \
	    $(top_srcdir)/%D%/hearth-compare.in >$@.tmp && \
	  chmod +x $@.tmp && mv -f $@.tmp $@
