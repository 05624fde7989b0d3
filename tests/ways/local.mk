# Which files one operation executes: ./check --coverage builds it and runs it.
EXTRA_PROGRAMS = %D%/ways
%C%_ways_SOURCES = %D%/ways.c
%C%_ways_LDADD = libhearth_core.la
EXTRA_DIST += %D%/ways.py
ways: $(BUILT_SOURCES)
	@$(MAKE) $(AM_MAKEFLAGS) %D%/ways$(EXEEXT)
.PHONY: ways
