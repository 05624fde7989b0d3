# What comes with the library, a folder each.
include tools/info/local.mk
include tools/perf/local.mk
include tools/launch/local.mk
include tools/cluster/local.mk
include tools/compare/local.mk
include tools/gateway/local.mk
include tools/checkpoint/local.mk
include tools/run/local.mk
include tools/report/local.mk
