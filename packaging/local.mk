# What other builds and package managers find Hearth by.  debian/ is not in the
# archive: whoever makes packages has it beside that.
EXTRA_DIST += %D%/HearthConfig.cmake.in %D%/HearthConfigVersion.cmake.in

cmakedir = $(libdir)/cmake/Hearth
nodist_cmake_DATA = %D%/HearthConfig.cmake %D%/HearthConfigVersion.cmake
CLEANFILES += $(nodist_cmake_DATA)

private_libs = $(HEARTH_PC_LIBS)

# Where the tree of an installation may be moved to, the file finds the rest of
# it by where it is itself.  mpicc is named by its whole path, but in a
# cross build.
cmake_edit = \
  up=`echo '$(cmakedir)' | sed -n 's,^$(prefix)/*,,p' | \
    sed 's,[^/][^/]*,..,g'`; \
  inc=`echo '$(includedir)' | sed -n 's,^$(prefix)/*,,p'`; \
  set dummy $(HEARTH_PC_CC); mpicc=$$2; \
  test '$(cross_compiling)' = yes || mpicc=`command -v "$$2"`; \
  sed -e "s|[@]UP[@]|$$up|; s|[@]INCLUDE[@]|$$inc|; s|[@]MPICC[@]|$$mpicc|" \
    -e 's|[@]MPI_FLAVOUR[@]|$(MPI_FLAVOUR)|' \
    -e 's|[@]PREFIX[@]|$(prefix)|; s|[@]INCLUDEDIR[@]|$(includedir)|' \
    -e 's|[@]ABI_MAJOR[@]|$(HEARTH_ABI_MAJOR)|' \
    -e 's|[@]PRIVATE_LIBS[@]|$(private_libs)|' \
    -e 's|[@]VERSION[@]|$(PACKAGE_VERSION)|' \
    -e 's|[@]MAJOR[@]|$(HEARTH_MAJOR)|; s|[@]MINOR[@]|$(HEARTH_MINOR)|'

%D%/HearthConfig.cmake: $(srcdir)/%D%/HearthConfig.cmake.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%
	$(AM_V_at)$(cmake_edit) $(srcdir)/$@.in >$@.tmp && mv -f $@.tmp $@
%D%/HearthConfigVersion.cmake: $(srcdir)/%D%/HearthConfigVersion.cmake.in \
    Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%
	$(AM_V_at)$(cmake_edit) $(srcdir)/$@.in >$@.tmp && mv -f $@.tmp $@
EXTRA_DIST += %D%/spack
