#!/bin/sh
# words.sh -- names that were retired do not come back in what is built and
# tested, nor in doc/design (words.retired beside this lists them, each with what
# it is called now), a file's name exists once in src/, and so does each shared
# struct tag, enumerator and macro.
#
#   tests/sources/words.sh     from the build folder, as make check does
#   srcdir=. tests/sources/words.sh
#
# Environment: srcdir (from make check).
# Needs: nothing
: "${srcdir:=.}"
work=`mktemp -d "${TMPDIR:-/tmp}/words.XXXXXX"` || exit 99
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15
fail=0
wrong() {
    echo "$1"
    fail=1
}

retired=tests/sources/words.retired
cd "$srcdir" || exit 99
test -s "$retired" || wrong "there is no $retired"
find src -name '*.[ch]' | sort >"$work/files"
grep -rohE --include='*.[ch]' --include='*.def' --include='*.sh' \
    --include='*.tap' --include='*.list' --include='*.py' --include='*.hpp' \
    '\<(hearthi|HEARTHI)_[A-Za-z0-9_]+' apps include python src tests tools |
    sort -u >"$work/names"
test `wc -l <"$work/names"` -gt 2000 || wrong "the names were not read"
sed 's,^src/,,; s,\.[ch]$,,' "$work/files" | sort -u >"$work/stems"

# file OLD NEW and name OLD NEW; OLD may end with * for all that begin so.
awk -v stems="$work/stems" -v names="$work/names" '
    function look(list, what,    word, i) {
        while ((getline word <list) > 0) {
            if ((what, word) in new)
                print word " is called " new[what, word] " now"
            for (i = 1; i <= length(word); i++)
                if ((what, substr(word, 1, i) "*") in new)
                    print word ": such are called " \
                        new[what, substr(word, 1, i) "*"] " now"
        }
    }
    $1 == "file" || $1 == "name" { new[$1, $2] = $3 }
    END {
        look(stems, "file")
        look(names, "name")
    }' "$retired" >"$work/back"
while read line; do
    wrong "a retired word: $line"
done <"$work/back"

# text FOLDER WORD NEW: in the sources or pages of the folder, whatever it
# names there.
grep '^text ' "$retired" >"$work/texts"
while read text folder word new; do
    test -d $folder || wrong "$retired names $folder, which is not there"
    grep -rniwE --include='*.[ch]' --include='*.def' --include='*.md' \
        "$word" $folder >"$work/hits" &&
        wrong "a retired word in $folder, $new now: `sed 1q "$work/hits"`"
done <"$work/texts"

# Each transport has these files.
sed 's,.*/,,' "$work/files" | sort | uniq -d |
    grep -vxE '(barrier|cond|rw|sync)\.[ch]' >"$work/twice"
while read name; do
    wrong "two files are called $name"
done <"$work/twice"

# What headers declare: struct, union and enum tags, macros, enumerators.
grep '\.h$' "$work/files" | xargs awk '
    FNR == 1 { comment = 0; inside = 0; continued = 0 }
    {
        line = $0
        if (comment) {
            if (!sub(/^.*\*\//, "", line))
                next
            comment = 0
        }
        while (match(line, /\/\*/)) {
            rest = substr(line, RSTART + 2)
            line = substr(line, 1, RSTART - 1)
            if (!match(rest, /\*\//)) {
                comment = 1
                break
            }
            line = line " " substr(rest, RSTART + 2)
        }
        if (line ~ /^#define HEARTHI_/) {
            split(line, w, /[ (]/)
            print w[2], "macro", FILENAME
        }
        if (line ~ /^ *(struct|union|enum) hearthi_[a-z0-9_]+ *\{/) {
            split(line, w, " ")
            print w[2], w[1], FILENAME
        }
        if (!inside && line ~ /(^|[^a-z_])enum( hearthi_[a-z0-9_]+)? *\{/) {
            inside = 1
            sub(/^.*enum[^{]*\{/, "", line)
        }
        if (inside) {
            end = line ~ /\}/
            sub(/\}.*/, "", line)
            n = split(line, item, ",")
            for (i = 1; i <= n; i++)
                if (match(item[i], /^ *HEARTHI_[A-Z0-9_]+ *(=.*)?$/)) {
                    sub(/^ */, "", item[i])
                    match(item[i], /^HEARTHI_[A-Z0-9_]+/)
                    print substr(item[i], 1, RLENGTH), "macro", FILENAME
                }
            if (end)
                inside = 0
        }
    }' | sed 's, \(struct\|union\|enum\) , tag ,' | sort -u >"$work/declared"
test `wc -l <"$work/declared"` -gt 300 || wrong "the headers were not read"
awk '{ print $1, $2 }' "$work/declared" | sort | uniq -d |
    while read name kind; do
        echo "$name has two meanings:" \
            `awk -v n="$name" '$1 == n { print $3 }' "$work/declared"`
    done >"$work/two"
while read line; do
    wrong "$line"
done <"$work/two"
exit $fail
