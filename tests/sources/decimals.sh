#!/bin/sh
# decimals.sh -- no src/*.c prints a number with a decimal point by printf(3) and
# its kin, which have a comma where the program has set such a locale: what goes
# through hearthi_format() of base/format.h (hearthi_fatal() and all other lines of
# the library) has a point.
#
#   tests/sources/decimals.sh     from the build folder, as make check does
#   srcdir=. tests/sources/decimals.sh
#
# Environment: srcdir (from make check).
# Needs: nothing
: "${srcdir:=.}"
cd "$srcdir" || exit 99

found=`find src -name '*.[ch]' | sort | xargs awk '
    BEGIN { conversion = "%[-+ #0-9.*]*[lL]?[aAeEfFgG]" }
    FNR == 1 { inside = 0 }
    /(^|[^A-Za-z0-9_])v?(f|d|s|sn|as)?printf[(]/ { inside = 1 }
    inside {
        text = $0
        gsub(/\\\\.|%%/, "", text)
        for (rest = text; match(rest, /"[^"]*"/);
             rest = substr(rest, RSTART + RLENGTH))
            if (substr(rest, RSTART, RLENGTH) ~ conversion)
                print FILENAME ":" FNR ": " $0
        if (text ~ /[)];/)
            inside = 0
    }'`
test -z "$found" || {
    echo "a number follows the locale:"
    echo "$found"
    exit 1
}
