# Tools that are scripts: each is made of tool.in, which loads its parts in
# Python, and those that they share, from $(pkgdatadir), where the scripts of
# the test hosts are too.  In the build folder tools/share takes the place of
# $(pkgdatadir).
bin_SCRIPTS = hearth-cluster hearth-compare hearth-report
CLEANFILES += $(bin_SCRIPTS) $(launch_share)
EXTRA_DIST += %D%/tool.in

launchdir = $(pkgdatadir)/launch
dist_launch_DATA = %D%/__init__.py %D%/bed.py %D%/built.py %D%/clusters.py \
  %D%/link.py %D%/session.py %D%/trouble.py %D%/words.py
dist_pkgdata_SCRIPTS = tests/run-mpi
testbeddir = $(pkgdatadir)/testbed
dist_testbed_SCRIPTS = tests/testbed/hosts tests/testbed/on tests/testbed/rsh \
  tests/testbed/run

launch_share = tools/share/cluster tools/share/compare tools/share/launch \
  tools/share/report tools/share/run-mpi tools/share/testbed

%D%/share.stamp: Makefile
	$(AM_V_at)$(MKDIR_P) tools/share %D% && rm -f $(launch_share) && \
	  $(LN_S) '$(abs_top_srcdir)/tools/cluster' tools/share/cluster && \
	  $(LN_S) '$(abs_top_srcdir)/tools/compare' tools/share/compare && \
	  $(LN_S) '$(abs_top_srcdir)/%D%' tools/share/launch && \
	  $(LN_S) '$(abs_top_srcdir)/tools/report' tools/share/report && \
	  $(LN_S) '$(abs_top_srcdir)/tests/run-mpi' tools/share/run-mpi && \
	  $(LN_S) '$(abs_top_srcdir)/tests/testbed' tools/share/testbed && \
	  touch $@
CLEANFILES += %D%/share.stamp

$(bin_SCRIPTS): %D%/tool.in %D%/share.stamp
	$(AM_V_GEN)tool=`echo $@ | sed 's,hearth-,,'` && \
	  sed -e "s|@tool[@]|$$tool|g" \
	    -e 's|@pkgdatadir[@]|$(pkgdatadir)|' \
	    -e 's|@pkglibexecdir[@]|$(pkglibexecdir)|' \
	    -e 's|@VERSION[@]|$(VERSION)|' \
	    -e 's|@MPI_FLAVOUR[@]|$(MPI_FLAVOUR)|' \
	    -e 's|@MPIEXEC[@]|$(MPIEXEC)|' \
	    $(top_srcdir)/%D%/tool.in >$@.tmp && \
	  chmod +x $@.tmp && mv -f $@.tmp $@
