#!/bin/sh
# info.sh -- hearth-info: its man page, its refusals, its probe.
# Environment: srcdir, MPIEXEC and MPI_FLAVOUR (from make check).
# Needs: hearth-info tests/harness/forbid
. "`dirname "$0"`/wrongs"

./hearth-info --help >"$out/help" || wrong "--help fails"
grep -- --threads "$out/help" >/dev/null || wrong "--help explains nothing"

# Without a launcher: this is how the build makes hearth-env(7).
./hearth-info --man >"$out/man" || wrong "--man fails"
sed -n 's/^OPTION([^"]*"\([A-Z_]*\)".*/HEARTH_\1/p
        s/^STAT(\([a-z_]*\),.*/\1/p' \
    "$srcdir/src/base/option.def" src/base/stat.def >"$out/names"
test -s "$out/names" || wrong "no names in the tables"
while read name; do
    grep "^\.BR* $name\\>" "$out/man" >/dev/null || wrong "$name is not in --man"
done <"$out/names"

# What only tests or comparisons need stands under headings of its own.
options_under() { # TITLE NAMES
    awk -v title="Options for $1" '/^\.S[SH] / { on = substr($0, 5) == title }
        on && /^\.BR HEARTH_/ { printf "%s ", substr($2, 8) }' \
        "$out/man" >"$out/under"
    test "`cat "$out/under"`" = "$2 " ||
        wrong "under 'Options for $1' there are `cat "$out/under"`"
    ./hearth-info | grep "^Options for $1" >/dev/null ||
        wrong "hearth-info has no 'Options for $1'"
}
options_under comparisons "HOME_STAY UDP_ACK UDP_LOCAL DIFF_PACK DIFF_DEPTH"
options_under tests \
    "UDP_DROP UDP_DUP UDP_TEAR UDP_REORDER UDP_DELAY UDP_SEED"

# Every limit is printed, for a reader and in the manual, and its tests, up to
# it and beyond, are there: a file, and a name in it.
./hearth-info --limits >"$out/limits" || wrong "--limits fails"
grep -c '^LIMIT(' "$srcdir/src/limit.def" >"$out/rows"
for side in 'up to it' beyond; do
    test "`grep -c "^    *test $side: ." "$out/limits"`" = "`cat "$out/rows"`" ||
        wrong "--limits does not have `cat "$out/rows"` tests $side"
done
sed -n 's/^LIMIT(.*, "\([^"]*\)", "[^"]*", "[^"]*", "[^"]*")$/\1/p' \
    "$srcdir/src/limit.def" >"$out/what"
test `wc -l <"$out/what"` = `cat "$out/rows"` ||
    wrong "a row of limit.def has another form"
sed -n '/^.SH LIMITS/,/^.SH SEE/{
        s/\\-/-/g
        s/\\(aq/'\''/g
        p
    }' "$out/man" >"$out/of-man"
while read line; do
    grep -F "$line" "$out/limits" >/dev/null || wrong "--limits lacks $line"
    grep -F "$line" "$out/of-man" >/dev/null || wrong "--man lacks $line"
done <"$out/what"
sed -n 's/^    *test [a-z ]*: //p' "$out/limits" >"$out/all"
sed '/^none: ./d' "$out/all" | sort -u >"$out/tests"
while read test_file name; do
    test_file=$srcdir/tests/${test_file%:}
    test -f "$test_file" && case $test_file in
    *.c) grep -e "^START_TEST($name)\$" -e "^$name(" "$test_file" ;;
    *) grep -we "$name" "$test_file" ;;
    esac >/dev/null || wrong "no test $name in $test_file"
done <"$out/tests"
test `grep -c '^none: ' "$out/all"` -le 12 ||
    wrong "more limits without a test on one of their sides"

# What gdb needs is said here and in the manual.
grep 'handle SIGSEGV SIGBUS nostop noprint pass' "$srcdir/man/hearth-beside.7" \
    >/dev/null || wrong "hearth-beside(7) does not tell gdb's line"

# It starts whatever libfabric the system or the MPI has today.
if command -v readelf >/dev/null; then
    ! readelf -d ./hearth-info | grep 'NEEDED.*lib\(fabric\|uc[pst]\)' ||
        wrong "it is linked with a library of fabrics"
fi
./hearth-info | grep '^Fabric providers' >/dev/null ||
    wrong "nothing is said of fabrics"
mkdir "$out/none"
: >"$out/none/libfabric.so.1"
LD_LIBRARY_PATH=$out/none${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ./hearth-info \
    >"$out/text" 2>&1
test $? = 127 || # the MPI itself is linked with it
    grep '^  not known: .*libfabric' "$out/text" >/dev/null ||
    wrong "nothing is said of a libfabric that is not there"

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

# What else a container or a shell forbids is named, in capitals where it costs
# something.
if test -x tests/harness/forbid; then
    tests/harness/forbid process_vm_readv memfd_create ./hearth-info \
        >"$out/text" 2>&1
    if test $? != 77; then
        grep 'MEMORY OF OTHER RANKS.* denied' "$out/text" >/dev/null ||
            wrong "that process_vm_readv is denied is not said"
        grep 'MEMORY WITHOUT A FILE.* denied' "$out/text" >/dev/null ||
            wrong "that memfd_create is denied is not said"
        grep 'a seccomp filter is here' "$out/text" >/dev/null ||
            wrong "the filter is not said"
    fi
fi
# What a control group leaves, and which file says so.
group="sh $srcdir/tests/small-group"
if $group memory 300m true; then
    $group memory 300m ./hearth-info >"$out/text" 2>&1
    grep '^  MEMORY  *the control group has 300 of .*/hearth-test' \
        "$out/text" >/dev/null || wrong "the group's memory is not said"
    grep '^  HEARTH_CACHE  *auto is 37 MiB .* control group has, for 1 rank' \
        "$out/text" >/dev/null || wrong "HEARTH_CACHE takes another limit"
fi
if $group cpu 50000 true; then
    $group cpu 50000 ./hearth-info >"$out/text" 2>&1
    grep '^  PROCESSORS .* time of 0\.5 (.*/hearth-test' "$out/text" \
        >/dev/null || wrong "the group's quota is not said"
fi
first=
if command -v taskset >/dev/null; then
    first=`taskset -cp $$ | sed 's/.*: *//; s/[^0-9].*//'`
    taskset -c "$first" ./hearth-info >"$out/text" 2>&1
    grep '^  waits  *1 rank here has 1 processor:' "$out/text" >/dev/null ||
        wrong "the affinity is not counted"
fi
(ulimit -n 500 && ulimit -v 8000000 && exec ./hearth-info) >"$out/text" 2>&1
for words in 'ulimit -n is 500:' 'ulimit -v is 8000000 KiB'; do
    grep "^  LIMIT  *$words" "$out/text" >/dev/null || wrong "not said: $words"
done
./hearth-info >"$out/text" 2>&1
grep 'memory of other ranks.* allowed' "$out/text" >/dev/null ||
    grep 'MEMORY OF OTHER RANKS.* denied' "$out/text" >/dev/null ||
    wrong "nothing is said of process_vm_readv"

if test -n "$MPIEXEC"; then
    sh "$srcdir/tests/run-mpi" --once 90 2 ./hearth-info >"$out/text" ||
        wrong "exit status $? on two ranks"
    grep 'ranks  *2 on' "$out/text" >/dev/null || wrong "not two ranks"
    grep 'so: works' "$out/text" >/dev/null || wrong "the probe fails"
    grep '^  HEARTH_CACHE  *auto is .* for 2 ranks together' "$out/text" \
        >/dev/null || wrong "nothing is said of how large caches are"
    grep 'copies  *protected by' "$out/text" >/dev/null ||
        wrong "nothing is said of how copies are protected"
    test $fail = 0 || cat "$out/text"
    if test -n "$first"; then
        taskset -c "$first" sh "$srcdir/tests/run-mpi" --once 90 2 \
            ./hearth-info >"$out/text"
        grep '^  WAITS  *2 ranks here have 1 processor:' "$out/text" \
            >/dev/null || wrong "that ranks share a processor is not said"
    fi
    HEARTH_HEAP=much sh "$srcdir/tests/run-mpi" --once 90 2 ./hearth-info \
        >"$out/text" && wrong "a bad option is no failure"
    test `grep -c '^hearth: .*HEARTH_HEAP=much' "$out/text"` = 1 ||
        wrong "a bad option is not reported in one line"
fi
exit $fail
