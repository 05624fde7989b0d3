#!/bin/sh
# info.sh -- hearth-info: its man page, its refusals, its probe.
# Environment: srcdir, MPIEXEC and MPI_FLAVOUR (from make check).
out=`mktemp -d`
trap 'rm -rf "$out"' 0
fail=0
wrong() {
    echo "$1"
    fail=1
}

./hearth-info --help >"$out/help" || wrong "--help fails"
grep -- --threads "$out/help" >/dev/null || wrong "--help explains nothing"

# Without a launcher: this is how the build makes hearth-env(7).
./hearth-info --man >"$out/man" || wrong "--man fails"
sed -n 's/^OPTION([^"]*"\([A-Z_]*\)".*/HEARTH_\1/p
        s/^STAT(\([a-z_]*\),.*/\1/p' \
    "$srcdir/src/base/option.def" "$srcdir/src/base/stat.def" >"$out/names"
test -s "$out/names" || wrong "no names in the tables"
while read name; do
    grep "^\.BR* $name\\>" "$out/man" >/dev/null || wrong "$name is not in --man"
done <"$out/names"

# What gdb needs is said here and in the manual.
grep 'handle SIGSEGV SIGBUS nostop noprint pass' "$srcdir/man/hearth-beside.7" \
    >/dev/null || wrong "hearth-beside(7) does not tell gdb's line"

for words in --nonsense extra "--threads" "--threads many" "--man --help"; do
    ./hearth-info $words >"$out/text" 2>&1
    test $? = 2 || wrong "$words: exit status is not 2"
    test `wc -l <"$out/text"` = 1 || wrong "$words: not one line"
done

# Where userfaultfd is forbidden, copies are protected the other way.
if test -x tests/harness/forbid; then
    tests/harness/forbid ./hearth-info >"$out/text" 2>&1
    test $? = 77 ||
        grep 'copies .*protected by mprotect (userfaultfd is forbidden' \
            "$out/text" >/dev/null || wrong "userfaultfd is not forbidden"
    HEARTH_PROTECT=userfaultfd tests/harness/forbid ./hearth-info >"$out/text" 2>&1
    test $? = 77 ||
        grep 'copies .*userfaultfd does not work here: .*forbidden' \
            "$out/text" >/dev/null || wrong "userfaultfd seems to work"
    HEARTH_PROTECT=mprotect ./hearth-info >"$out/text" 2>&1
    grep 'copies .*protected by mprotect (HEARTH_PROTECT says so' \
        "$out/text" >/dev/null || wrong "HEARTH_PROTECT=mprotect is not said"
fi

if test -n "$MPIEXEC"; then
    sh "$srcdir/tests/run-mpi" --once 90 2 ./hearth-info >"$out/text" ||
        wrong "exit status $? on two ranks"
    grep 'ranks  *2 on' "$out/text" >/dev/null || wrong "not two ranks"
    grep 'so: works' "$out/text" >/dev/null || wrong "the probe fails"
    grep 'copies  *protected by' "$out/text" >/dev/null ||
        wrong "nothing is said of how copies are protected"
    test $fail = 0 || cat "$out/text"
    HEARTH_HEAP=much sh "$srcdir/tests/run-mpi" --once 90 2 ./hearth-info \
        >"$out/text" && wrong "a bad option is no failure"
    test `grep -c '^hearth: .*HEARTH_HEAP=much' "$out/text"` = 1 ||
        wrong "a bad option is not reported in one line"
fi
exit $fail
