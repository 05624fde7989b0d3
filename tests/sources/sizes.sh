#!/bin/sh
# sizes.sh -- files, functions and tables stay small: each call of most() below
# has what, and its bound.
#
#   tests/sources/sizes.sh     from the build folder, as make check does
#   srcdir=. tests/sources/sizes.sh
#
# Environment: srcdir (from make check).
# Needs: nothing
: "${srcdir:=.}"
work=`mktemp -d "${TMPDIR:-/tmp}/sizes.XXXXXX"` || exit 99
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15
fail=0

# most WHAT FOUND BOUND [FILE]: FILE has what was found.
most() {
    test "$2" -le "$3" && return
    echo "$1: $2, and may be $3"
    test -z "$4" || sed 's/^/    /' "$4"
    fail=1
}

cd "$srcdir" || exit 99
find src -name '*.[ch]' | sort >"$work/files"
test `wc -l <"$work/files"` -gt 300 || most "files that were not read" 1 0
xargs wc -l <"$work/files" | awk '$2 != "total" { print $2, $1 }' >"$work/lines"

awk '$2 > 400' "$work/lines" >"$work/found"
most "files of more than 400 lines" `wc -l <"$work/found"` 0 "$work/found"
awk '$1 ~ /\.h$/ && $2 <= 30' "$work/lines" >"$work/found"
most "headers of 30 lines or less" `wc -l <"$work/found"` 20 "$work/found"

# A function's body is between braces at the beginning of a line.  A line for
# each: McCabe's number as lizard(1) counts it, lines, file and name.
xargs awk '
    FNR == 1 { inside = 0; comment = 0 }
    {
        line = $0
        gsub(/\\./, "", line)
        gsub(/"[^"]*"/, "", line)
        gsub(/\047[^\047]*\047/, "", line)
        if (comment && !sub(/^.*\*\//, "", line))
            next
        comment = 0
        gsub(/\/\*[^*]*\*+([^*\/][^*]*\*+)*\//, "", line)
        if (sub(/\/\*.*/, "", line))
            comment = 1
    }
    /^[A-Za-z_][A-Za-z_0-9]*\(/ {
        name = line
        sub(/\(.*/, "", name)
        from = FNR
    }
    line ~ /^\{/ { inside = 1; n = 1 }
    inside {
        gsub(/[^A-Za-z_0-9](if|for|while|case)[^A-Za-z_0-9]|&&|\|\||\?/, "\001",
            line)
        n += gsub("\001", "", line)
    }
    line ~ /^\}/ && inside {
        inside = 0
        print n, FNR - from + 1, FILENAME ": " name
    }' <"$work/files" >"$work/functions"
test `wc -l <"$work/functions"` -gt 2000 ||
    most "functions that were not read" 1 0
awk '$2 > 60' "$work/functions" >"$work/found"
most "functions of more than 60 lines" `wc -l <"$work/found"` 0 "$work/found"
awk '$1 > 15' "$work/functions" >"$work/found"
most "functions with McCabe's number above 15" `wc -l <"$work/found"` 0 \
    "$work/found"
awk '$1 > 10' "$work/functions" | sort -rn >"$work/found"
most "functions with McCabe's number above 10" `wc -l <"$work/found"` 10 \
    "$work/found"
sort -n -k 2 "$work/functions" | awk '{ n[NR] = $2 }
    END { print n[int(NR / 2)], n[int(NR * 0.9)] }' >"$work/found"
most "lines of the median function" `cut -d ' ' -f 1 "$work/found"` 9
most "lines that nine of ten functions do not exceed" \
    `cut -d ' ' -f 2 "$work/found"` 19

# What a transport does is in four tables.
for table in transport data_ops sync_ops collective_ops; do
    grep -c '(\*[a-z_]*)(' src/transport/$table.h >"$work/found" ||
        most "tables in src/transport/$table.h that were not found" 1 0
    most "functions in the table of src/transport/$table.h" \
        `cat "$work/found"` 15
done

most "entries directly in tests" `ls tests | wc -l` 60
grep -rl HEARTHI_ASSERT src | sed 's,^src/,,; s,/.*,,' | sort -u >"$work/found"
test `wc -l <"$work/found"` -ge 10 ||
    most "folders of src that want an assertion" 1 0
grep -rnwi nobody src doc README.md >"$work/found"
most "sentences about nobody" `wc -l <"$work/found"` 10 "$work/found"
exit $fail
