#!/bin/sh
# documents.sh -- what the documents point to is there: files and headings of
# links, and in doc/design, CONTRIBUTING.md and tests/README.md the files,
# functions and variables that are named in `backquotes`.  The table of
# tests/README.md has all tests.
#
#   tests/sources/documents.sh     from the build folder, as make check does
#   srcdir=. tests/sources/documents.sh
#
# Environment: srcdir (from make check).
# Needs: nothing
: "${srcdir:=.}"
out=`mktemp -d "${TMPDIR:-/tmp}/documents.XXXXXX"` || exit 99
trap 'rm -rf "$out"' 0
trap 'exit 1' 1 2 15
fail=0
wrong() {
    echo "$1"
    fail=1
}

cd "$srcdir" || exit 99
pages="README.md CONTRIBUTING.md CHANGES.md tests/README.md `
    echo doc/*.md doc/design/*.md`"

# Headings as links name them, each with its page.
awk '/^```/ { code = !code }
!code && /^#+ / {
    name = tolower($0)
    sub(/^#+ */, "", name)
    gsub(/[^a-z0-9 _-]/, "", name)
    gsub(/ /, "-", name)
    print FILENAME "#" name
}' $pages >"$out/headings"

# Links to pages here: the page that has one, and where it leads.
awk '/^```/ { code = !code }
!code {
    rest = $0
    while (match(rest, /\]\([^)]*\)/)) {
        to = substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        if (to !~ /^[a-z]+:/)
            print FILENAME, to
    }
}' $pages >"$out/links"
while read page to; do
    at=${to%%#*}
    folder=`dirname "$page"`
    at=${at:+$folder/$at}
    at=`echo "${at:-$page}" | sed 's,^\./,,
        :a
        s,[^/.][^/]*/\.\./,,
        ta'`
    if test ! -e "$at"; then
        wrong "$page: the link to $to leads nowhere"
    elif test "$to" != "${to#*#}"; then
        grep -qxF "$at#${to#*#}" "$out/headings" ||
            wrong "$page: $at has no heading #${to#*#}"
    fi
done <"$out/links"
test -s "$out/links" || wrong "no links are found"

# Names in backquotes: the page, and the name.
awk '/^```/ { code = !code }
!code {
    n = split($0, part, "`")
    for (i = 2; i <= n; i += 2)
        print FILENAME, part[i]
}' doc/design/*.md CONTRIBUTING.md tests/README.md | sort -u >"$out/names"
find src tests apps tools doc include m4 man python -type f >"$out/files"
find src tests include -name '*.[ch]' -o -name '*.def' |
    xargs cat | tr -c 'A-Za-z0-9_' '\n' | sort -u >"$out/words"
awk -v out="$out" '
FILENAME == out "/files" {
    path = $0
    do
        is[path] = 1
    while (sub(/^[^\/]*\//, "", path))
    next
}
FILENAME == out "/words" { word[$0] = 1; next }
{
    page = $1
    sub(/^[^ ]* /, "")
}
/^[A-Za-z0-9_\/-]+\.(c|h|def|sh|tap|table|awk|list|mk|m4|md)$/ {
    seen++
    if (!($0 in is))
        print page ": there is no file " $0
    next
}
/^(hearthi?_[a-z0-9_]+|[a-z_]+\(\))$/ {
    sub(/\(\)$/, "")
    seen++
    if (!($0 in word))
        print page ": the sources have no " $0
    next
}
/^HEARTH_[A-Z_]+(=.*)?$/ {
    sub(/^HEARTH_/, "")
    sub(/=.*/, "")
    seen++
    if (!($0 in word))
        print page ": there is no variable HEARTH_" $0
}
END {
    if (seen < 100)
        print "doc/design: hardly a name in backquotes is found"
}' "$out/files" "$out/words" "$out/names" | sort >"$out/found"
while read line; do
    wrong "$line"
done <"$out/found"

# The table of tests: a folder and a name a line, as the build lists them and as
# the last column does.
awk 'FNR == 1 { inside = 0 }
inside || /^[A-Za-z_]*(tests|TESTS) *[+]?=/ {
    folder = FILENAME
    gsub(/^tests\/|\/local.mk$/, "", folder)
    for (i = 1; i <= NF; i++)
        if (sub(/^%D%\//, "", $i)) {
            sub(/\.(mpi|sh|tap)$/, "", $i)
            print folder, $i
        }
    inside = /\\$/
}' `find tests -mindepth 2 -name local.mk` | sort >"$out/listed"
awk -F '|' '/^\| [a-z\/]+ \|/ {
    gsub(/ /, "", $2)
    gsub(/\([^)]*\)/, "", $4)
    n = split($4, name, " ")
    for (i = 1; i <= n; i++)
        if ($2 != "folder")
            print $2, name[i]
}' tests/README.md | sort >"$out/table"
comm -23 "$out/listed" "$out/table" >"$out/found"
while read folder name; do
    wrong "tests/README.md: the row of $folder does not name the test $name"
done <"$out/found"
while read folder name; do
    ls "tests/$folder/$name" "tests/$folder/$name".* 2>"$out/no" |
        grep . >"$out/file" ||
        wrong "tests/README.md: there is no test $name in $folder"
done <"$out/table"
test -s "$out/listed" || wrong "no tests are found"

# Sentences have a subject: "no rank", "no thread" say what "nobody" leaves
# open, in documents and in comments.
n=`{
    cat $pages
    find src include -name '*.[ch]' -o -name '*.def' -o -name '*.hpp' |
        xargs grep -h -E '^ *(/[*]|[*]|//)'
} | tr -c 'A-Za-z' '\n' | grep -ci '^nobody$'`
test "$n" -le 10 ||
    wrong "\"nobody\" stands $n times in comments and documents: say which"
exit $fail
