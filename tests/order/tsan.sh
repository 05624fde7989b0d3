#!/bin/sh
# tsan.sh -- tests under ThreadSanitizer: all of one process, and two ranks of litmus,
# locks and malloc over both transports.  For a build folder that was configured with
# --enable-sanitizers=thread; builds what it runs.  Its status is 0 if nothing was
# reported but what tsan.supp explains.
#
#   sh tests/order/tsan.sh                     from the build folder; ten minutes
#   TSAN_ONLY=udp sh tests/order/tsan.sh       what has that in its name
#
# It sees threads of one process.  Processes of one node are in the models beside this
# (order.sh).
here=`cd "\`dirname "$0"\`/.." && pwd`
out=`mktemp "${TMPDIR:-/tmp}/tsan.XXXXXX"` || exit 99
trap 'rm -f "$out"' 0
trap 'exit 1' 1 2 15
grep 'fsanitize=thread' config.status >/dev/null 2>&1 || {
    echo "tsan.sh: this folder has no build with --enable-sanitizers=thread" >&2
    exit 77
}

# Pages come in the handler of SIGSEGV, which is Hearth's.  It calls the library there,
# and MPI or OpenSSL allocate: what it interrupted is an access to the heap by the
# program, never one inside of malloc(3), so nothing is in use that is not whole.
# Libraries that are not compiled with it would be told of for what they do among
# themselves.
TSAN_OPTIONS="handle_segv=0 report_signal_unsafe=0 ignore_noninstrumented_modules=1
 exitcode=66 suppressions=$here/order/tsan.supp $TSAN_OPTIONS"
export TSAN_OPTIONS
OMPI_MCA_btl=${OMPI_MCA_btl-^ofi,openib,usnic}
OMPI_MCA_mtl=${OMPI_MCA_mtl-^ofi,psm,psm2}
export OMPI_MCA_btl OMPI_MCA_mtl
wrong=0

# right NAME COMMAND...
right() {
    name=$1
    shift
    case $name in *"$TSAN_ONLY"*) ;; *) return 0 ;; esac
    "$@" >"$out" 2>&1
    status=$?
    reports=`grep -c '^WARNING: ThreadSanitizer' "$out"`
    if test $status = 0 && test "$reports" = 0 && grep -q '^ok' "$out"; then
        echo "$name: `grep -c '^ok' "$out"` passed"
        return 0
    fi
    echo "$name: WRONG: status $status, $reports reports"
    grep -a -E '^not ok|^SUMMARY' "$out" | sort | uniq -c | head -20
    sed -n '/^WARNING: ThreadSanitizer/,/^SUMMARY/p' "$out" | head -60
    wrong=1
}

programs="tests/litmus/litmus.mpi tests/coherence/locks.mpi tests/malloc/malloc.mpi"
units=`make -s list-unit-tests | tr '\n' ' '`
{
    make -j"`nproc`" all && make -j"`nproc`" check TESTS= check_LTLIBRARIES= \
        check_PROGRAMS="$programs $units"
} >"$out" 2>&1 || {
    tail -n 20 "$out"
    exit 1
}
for test in $units; do
    right "$test" "./$test"
done
MPIEXEC=`sed -n 's/^MPIEXEC = //p' Makefile`
MPI_FLAVOUR=`sed -n 's/^MPI_FLAVOUR = //p' Makefile`
HEARTH_NODE_SIZE=1
export MPIEXEC MPI_FLAVOUR HEARTH_NODE_SIZE
for test in $programs; do
    for HEARTH_TRANSPORT in udp mpi; do
        export HEARTH_TRANSPORT
        right "$test over $HEARTH_TRANSPORT" sh "$here/run-mpi" --once \
            "${TEST_TIMEOUT-300}" 2 "./$test"
    done
done
exit $wrong
