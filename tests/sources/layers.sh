#!/bin/sh
# layers.sh -- no file of src/ includes a header of a higher layer.  The layers
# are the rows of the table in doc/design/README.md, the lowest first;
# layers.known beside this has the includes that go upwards all the same, each
# with the reason.  One that is gone must leave the list.
#
#   tests/sources/layers.sh     from the build folder, as make check does
#   srcdir=. tests/sources/layers.sh
#
# Environment: srcdir (from make check).
# Needs: nothing
: "${srcdir:=.}"
out=`mktemp -d "${TMPDIR:-/tmp}/layers.XXXXXX"` || exit 99
trap 'rm -rf "$out"' 0
trap 'exit 1' 1 2 15
fail=0
wrong() {
    echo "$1"
    fail=1
}

cd "$srcdir" || exit 99
# Row number, name and one entry a line; LAYERS is the head of the table.
awk -F '|' '
/^\| *layer *\| *folders or files *\|/ { inside = 1; next }
inside && !/^\|/ { exit }
inside && !/^\|-/ {
    n++
    name = $2
    gsub(/[][ ]|\(.*\)/, "", name)
    m = split($3, entry, ",")
    for (i = 1; i <= m; i++) {
        gsub(/[` ]/, "", entry[i])
        print n, name, entry[i]
    }
}' doc/design/README.md >"$out/layers"
test "`cut -d ' ' -f 1 "$out/layers" | sort -u | wc -l`" -ge 10 ||
    wrong "doc/design/README.md has no table of layers that can be read"
while read row name entry; do
    test -e "src/$entry" || test -f "src/${entry%.h}.c" ||
        wrong "doc/design/README.md: layer $name: there is no src/$entry"
done <"$out/layers"

find src -name '*.[ch]' -o -name '*.def' | sort >"$out/files"
grep -E '^ *# *include +"' `cat "$out/files"` /dev/null |
    sed 's/^\([^:]*\):[^"]*"\([^"]*\)".*/\1 \2/' >"$out/includes"
grep -v '^#' tests/sources/layers.known | grep . >"$out/known"

# arrows INCLUDES KNOWN: what is wrong, a line each.
arrows() {
    awk '
    function layer(file, best, i) { # the row of the longest entry that fits
        best = ""
        sub(/^src\//, "", file)
        for (i in row)
            if (length(i) > length(best) &&
                (i ~ /\/$/ ? index(file, i) == 1 : file == i))
                best = i
        return best == "" ? 0 : row[best]
    }
    function plain(path) { # without x/../
        while (sub(/[^\/]+\/\.\.\//, "", path))
            ;
        return path
    }
    FILENAME == ARGV[1] {
        name[$1] = $2
        row[$3] = $1
        if (sub(/\.h$/, "", $3))
            row[$3 ".c"] = row[$3 ".def"] = $1
        next
    }
    FILENAME == ARGV[2] {
        is[$1] = 1
        if (layer($1) == 0)
            print $1 " is in no layer: give it a row, or a place in one, in" \
                " the table of doc/design/README.md"
        next
    }
    FILENAME == ARGV[3] {
        if (!match($0, /^[^ ]+ [^ :]+: ./)) {
            print "tests/sources/layers.known: \"" $0 \
                "\" is not FILE HEADER: REASON"
            next
        }
        sub(/:$/, "", $2)
        known[$1 " " $2] = 1
        next
    }
    {
        to = $1
        sub(/[^\/]*$/, "", to)
        to = plain(to $2)
        if (!(to in is))
            to = "src/" $2
        if (!(to in is))
            next
        if (layer(to) <= layer($1))
            next
        if (($1 " " to) in known) {
            seen[$1 " " to] = 1
            next
        }
        print $1 " (" name[layer($1)] ") includes " to " (" \
            name[layer(to)] "), which is a higher layer"
    }
    END {
        for (i in known)
            if (!(i in seen))
                print "tests/sources/layers.known: " i \
                    " does not go upwards any more: delete the line"
    }' "$out/layers" "$out/files" "$2" "$1"
}

arrows "$out/includes" "$out/known" | sort >"$out/found"
while read line; do
    wrong "$line"
done <"$out/found"

# The test itself: it sees an include upwards, and a line that is out of date.
{ cat "$out/includes"; echo 'src/base/clock.h page/page.h'; } >"$out/more"
arrows "$out/more" "$out/known" | grep '^src/base/clock.h ' >/dev/null ||
    wrong "an include of page/page.h by src/base/clock.h is not seen"
{ cat "$out/known"; echo 'src/page/page.c src/base/clock.h: none'; } >"$out/old"
arrows "$out/includes" "$out/old" |
    grep 'src/page/page.c src/base/clock.h does not' >/dev/null ||
    wrong "a line of tests/sources/layers.known that is out of date is not seen"
exit $fail
