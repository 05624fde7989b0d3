#!/bin/sh
# mpi_calls.sh -- each call of this MPI's mpi.h that is given an address is one
# that libhearth stands in front of, or stands below; and libhearth has the names of those
# calls alone: what mpi.h lacks, a program that asks the loader must not find.
# Environment: NM (from make check); the compiler is that of the Makefile.
# Needs: libhearth.la
test -f .libs/libhearth.so || exit 77 # no ELF shared library to look at
mpicc=`sed -n 's/^CC = //p' Makefile`
tmp=`mktemp -d "${TMPDIR:-/tmp}/mpi_calls.XXXXXX"` || exit 99
trap 'rm -rf "$tmp"' 0
trap 'exit 1' 1 2 15

# Not looked at by MPI: what it allocates, what it keeps for callbacks, what it
# only computes with; and calls that come before hearth_init or end the job.
cat >"$tmp/others" <<'LIST'
MPI_Address
MPI_Alloc_mem
MPI_Attr_put
MPI_Comm_set_attr
MPI_Free_mem
MPI_Get_address
MPI_Grequest_start
MPI_Init
MPI_Init_thread
MPI_Register_datarep
MPI_Register_datarep_c
MPI_Type_set_attr
MPI_Win_set_attr
LIST
echo '#include <mpi.h>' >"$tmp/mpi.c"
$mpicc -E "$tmp/mpi.c" >"$tmp/mpi.i" || exit 99
grep -v '^#' "$tmp/mpi.i" | tr '\n' ' ' | tr ';' '\n' |
    grep -v ' typedef ' |
    sed -n 's/.*[ *]\(MPI_[A-Z][A-Za-z_0-9]*\) *(\(.*[*[].*\)).*/\1/p' |
    LC_ALL=C sort -u >"$tmp/given"
test `wc -l <"$tmp/given"` -gt 100 || { echo "mpi.h was not read"; exit 1; }
$NM -D --defined-only .libs/libhearth.so | sed 's/.* //; s/@.*//' |
    grep '^MPI_' | LC_ALL=C sort >"$tmp/ours"
LC_ALL=C sort "$tmp/ours" "$tmp/others" | LC_ALL=C comm -23 "$tmp/given" - \
    >"$tmp/missing"
tr -c 'A-Za-z0-9_' '\n' <"$tmp/mpi.i" | grep '^MPI_' | LC_ALL=C sort -u |
    LC_ALL=C comm -13 - "$tmp/ours" >"$tmp/alone"
sed 's/$/: libhearth does not stand in front of it/' "$tmp/missing"
sed 's/$/: libhearth has it, mpi.h does not/' "$tmp/alone"
test ! -s "$tmp/missing" && test ! -s "$tmp/alone"
