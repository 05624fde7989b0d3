# hearth-report: see tools/launch.
reportdir = $(pkgdatadir)/report
dist_report_DATA = %D%/__init__.py %D%/compare.py %D%/main.py %D%/page.py \
  %D%/run.py %D%/text.py
