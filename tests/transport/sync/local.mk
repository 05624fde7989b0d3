# Managed objects: who is next.
unit_tests += %D%/managed_object
%C%_managed_object_SOURCES = %D%/managed_object.c
%C%_managed_object_CFLAGS = $(test_cflags)
%C%_managed_object_LDADD = $(unit_ldadd)
