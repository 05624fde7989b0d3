#!/bin/sh
# chance.sh -- which failures are run again by ./check (tests/again): those whose
# reasons chance can give, all of them, and no other.
here=`dirname "$0"`
command -v python3 >/dev/null || exit 77
build=`mktemp -d "${TMPDIR:-/tmp}/chance.XXXXXX"` || exit 99
trap 'rm -rf "$build"' 0
trap 'exit 1' 1 2 15
mkdir -p "$build/tests/tools"
bad=0

# expect again|failed TEXT...: what is said of a program with these failures.
expect() {
    want=$1
    shift
    echo ':test-result: PASS' >"$build/tests/t.trs"
    echo 'PASS: tests/t.tap 1 - not this -- exit status 1' >"$build/tests/t.log"
    for text; do
        echo ':test-result: FAIL' >>"$build/tests/t.trs"
        echo "not ok - $text" >>"$build/tests/t.log"
        echo "FAIL: tests/t.tap 2 - $text" >>"$build/tests/t.log"
    done
    got=`python3 "$here/chance.py" "$build" tests/t.tap`
    case $got in
    "$want	tests/t.tap	$#	2 "*) return ;;
    esac
    echo "WRONG: $want wanted for '$*', but: $got"
    bad=1
}

expect again "datagrams of others -- no line '^right '; "
expect again "stopped np=2 -- timed out after 60 s; no line 'job: ... a; b ...'; "
expect again "killed -- 2 lines; took 13 s"
expect again "litmus np=2 nodes=1 scope did not finish -- timed out after 120 s"
expect again "lu over clusters -- a says no verify=ok; status 124 and 0"
expect again "t.c:link:some_test: 'ends_turn(e, 2, all_up, 5)' is false # TIME"
expect again "t.c:core:some_test:0: (after this point) Test timeout expired"
expect again "a -- no line '^x'" "b -- took 12 s"
expect again "replay -- a test was late; "
expect failed "replay -- a test failed"
expect failed "replay -- exit status 1; a test was late; "
expect failed "a -- no line '^x'" "b -- exit status 1"
expect failed "a -- exit status 0; no line '^x'"
expect failed "a -- no line '^x'; something was said"
expect failed "a -- status 139; no line '^x'"
expect failed "lu over clusters -- a says no verify=ok; status 70 and 0"
expect failed "lu np=2 -- exit status 124; not verified once; wrong; "
expect failed "lu np=2 -- not verified once; "
expect failed "no line '^x'"
expect failed "no line '^x' -- "
expect failed "a -- processes are left"
expect failed "t.c:core:some_test: 'p[0] == 1' is false on rank 1"
expect failed "t.c:core:some_test: 'x' is false # TIME; and more"
expect failed "litmus np=2 did not finish -- timed out after 120 s; rank 1 had: not ok 3 - p[0] is 1, not 2"
expect failed "litmus np=2 did not finish -- exit status 134"

# More failures than texts, no verdict at all, a script.
echo ':test-result: FAIL' >>"$build/tests/t.trs"
case `python3 "$here/chance.py" "$build" tests/t.tap` in
failed*) ;;
*) echo "WRONG: a failure without a text"; bad=1 ;;
esac
case `python3 "$here/chance.py" "$build" tests/none.mpi` in
failed*) ;;
*) echo "WRONG: a program that did not run"; bad=1 ;;
esac
script() { # NAME WANT
    echo ':test-result: FAIL' >"$build/tests/$1.trs"
    echo "FAIL tests/$1.sh (exit status: 1)" >"$build/tests/$1.log"
    case `python3 "$here/chance.py" "$build" "tests/$1.sh"` in
    "$2	"*) ;;
    *) echo "WRONG: $2 wanted for $1.sh"; bad=1 ;;
    esac
}
script tools/info again
script api-lists failed
exit $bad
