# The module: PYTHONPATH=$(pythonmoduledir), or pip install $(pythonmoduledir).
pythonmoduledir = $(pkgdatadir)/python
dist_pythonmodule_DATA = %D%/hearth.py %D%/hearth_wheel.py %D%/pyproject.toml
nodist_pythonmodule_DATA = %D%/hearth_place.py
CLEANFILES += $(nodist_pythonmodule_DATA)

# Where the library is, for a module that may be anywhere.
%D%/hearth_place.py: Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%
	$(AM_V_at){ echo '"""Which Hearth was installed, and where: make install wrote this."""'; \
	  echo 'version = "$(PACKAGE_VERSION)"'; \
	  echo 'library = "$(libdir)/libhearth.so.$(HEARTH_ABI_MAJOR)"'; \
	} >$@.tmp && mv -f $@.tmp $@
