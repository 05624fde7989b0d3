#!/bin/sh
# abi.sh -- what a program of the last release counts on is still there, of the
# same types: abidiff compares the library with libhearth.abi, which "make abi"
# wrote at that release.  What has been added is listed, and is no failure.
# Environment: srcdir, MPI_FLAVOUR (from make check).
# Needs: libhearth.la
#
#   sh abi.sh write FILE     what "make abi" does
#
# The types of MPI are not the same in each MPI: the file is one of Open MPI's, and
# others are not compared.
here=$srcdir/tests/api
library=.libs/libhearth.so
kept=$here/libhearth.abi
ours='[suppress_function]
symbol_name_not_regexp = ^(hearth|jia|Tmk|parmacs)_
drop = yes
[suppress_variable]
symbol_name_not_regexp = ^(hearth|jia|Tmk|parmacs)_
drop = yes'
out=`mktemp -d "${TMPDIR:-/tmp}/abi.XXXXXX"` || exit 99
trap 'rm -rf "$out"' 0
trap 'exit 1' 1 2 15
echo "$ours" >"$out/ours"

# write LIBRARY FILE -- but for the libraries under it, which configure may leave
# out.
write() {
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs \
        --headers-dir "$srcdir/include" --suppressions "$out/ours" \
        --out-file "$out/abi" "$1" &&
        sed '/<elf-needed>/,/<\/elf-needed>/d' "$out/abi" >"$2"
}

for tool in abidiff abidw readelf; do
    command -v $tool >/dev/null && continue
    echo "there is no $tool (abigail-tools)"
    exit 77
done
test -f $library || exit 77
readelf -S $library | grep '\.debug_info' >/dev/null || {
    echo "the library has no debug information (CFLAGS=-g)"
    exit 77
}
if test "$1" = write; then
    write $library "$2"
    exit
fi
test "$MPI_FLAVOUR" = openmpi || {
    echo "$kept is of Open MPI"
    exit 77
}
case `uname -m` in
x86_64) ;;
*) exit 77 ;;
esac

# compare FILE -- 0 if a program that knows what is in FILE goes on.  Members that
# hearth_stats has behind those of FILE are allowed, and left out.
compare() {
    bits=`sed -n "s/.*class-decl name='hearth_stats' size-in-bits='\([0-9]*\)'.*/\1/p" \
        "$1"`
    awk -v most="$bits" '
    /class-decl name=.hearth_stats. / {
        inside = 1
        sub(/size-in-bits=.[0-9]+/, "size-in-bits=\047" most)
    }
    /<\/class-decl>/ { inside = 0 }
    inside && match($0, /offset-in-bits=.[0-9]+/) &&
        substr($0, RSTART + 16) + 0 >= most { skip = 3 }
    skip-- > 0 { next }
    { print }' "$out/now.abi" >"$out/of-both.abi"
    abidiff --no-added-syms "$1" "$out/of-both.abi" >"$out/report"
}
write $library "$out/now.abi" || exit 99
# 1 and 2 are its own troubles, 4 a change, 8 one that breaks programs.
compare "$kept" || {
    echo "abidiff ends with status $?: doc/packages.md (Versions) says what may change"
    cat "$out/report"
    exit 1
}

# It sees what it is for: had the release been another, the library would not be
# taken; and members at the end are.
fail=0
were() { # WORD PATTERN REPLACEMENT
    sed "s/$2/$3/" "$kept" >"$out/were.abi"
    ! cmp -s "$kept" "$out/were.abi" || { echo "no $2 in $kept"; fail=1; }
    compare "$out/were.abi"
    case $?:$1 in
    0:taken | [!0]*:refused) ;;
    *) echo "were '$2' '$3' it would not be $1"; cat "$out/report"; fail=1 ;;
    esac
}
were refused hearth_barrier hearth_of_before
were refused "^  *<parameter type-id='type-id-[0-9]*' name='lock'.>" ''
# without MEMBER: what a release would have had that hearth_stats lacked it in, its
# later members 8 bytes nearer to the begin.
without() {
    awk -v member="$1" '
    /class-decl name=.hearth_stats. / { inside = 1 }
    inside && match($0, /(size|offset)-in-bits=.[0-9]+/) {
        at = RSTART + index(substr($0, RSTART), "\047")
        bits = substr($0, at) + 0
        if (gone || /size-in/)
            $0 = substr($0, 1, at - 1) (bits - 64) substr($0, at + length(bits))
        held = $0
        if (!/size-in/)
            next
    }
    /<\/class-decl>/ { inside = 0 }
    index($0, "name=\047" member "\047") { gone = 1; skip = 1; held = ""; next }
    skip { skip = 0; next }
    held != "" && !/size-in/ { print held; held = "" }
    { print }' "$kept" >"$out/$1.abi"
    test `grep -c "" "$out/$1.abi"` = $((`grep -c "" "$kept"` - 3)) ||
        { echo "no member $1"; fail=1; }
    compare "$out/$1.abi"
}
without service_wait_ns || {
    echo "a member at the end of hearth_stats is refused"
    cat "$out/report"
    fail=1
}
without twins && {
    echo "a member in the middle of hearth_stats is taken"
    fail=1
}
exit $fail
