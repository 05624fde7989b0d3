# hearth-compare: see tools/launch.
comparedir = $(pkgdatadir)/compare
dist_compare_DATA = %D%/__init__.py %D%/apps.py %D%/clusters.py %D%/export.py \
  %D%/figures.py %D%/html.py %D%/job.py %D%/machine.py %D%/main.py \
  %D%/options.py %D%/page.py %D%/places.py %D%/plan.py %D%/plot.py %D%/room.py \
  %D%/state.py %D%/switches.py %D%/tables.py
