# The module: PYTHONPATH=$(pythonmoduledir).
pythonmoduledir = $(pkgdatadir)/python
dist_pythonmodule_DATA = %D%/hearth.py
