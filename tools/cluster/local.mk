# hearth-cluster: see tools/launch; and the link between its clusters.
clusterdir = $(pkgdatadir)/cluster
dist_cluster_DATA = %D%/__init__.py %D%/job.py %D%/jobs.py %D%/main.py \
  %D%/needs.py %D%/options.py %D%/output.py
pkglibexec_PROGRAMS = hearth-wire
hearth_wire_SOURCES = %D%/wire.c
