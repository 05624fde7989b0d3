#!/bin/sh
# kernel.sh -- src/front/kernel.list has every call of this machine's kernel, and
# what it says is so: libhearth stands in front of each name, of each other name
# that the C library has for the same function, and doc/beside.md tells of the
# rest.  Environment: srcdir, NM (from make check).
# Needs: libhearth.la
list=$srcdir/src/front/kernel.list
libc=`ldd .libs/libhearth.so 2>/dev/null |
    sed -n 's/.*libc\.so[.0-9]* => \([^ ]*\) .*/\1/p'`
test -f "$libc" || exit 77 # no ELF shared library to look at
tmp=`mktemp -d "${TMPDIR:-/tmp}/kernel.XXXXXX"` || exit 99
trap 'rm -rf "$tmp"' 0
trap 'exit 1' 1 2 15

$NM -D --defined-only .libs/libhearth.so | sed 's/.* //' >"$tmp/ours"
# Address and name; what is private to the C library no program can call.
$NM -D --defined-only "$libc" | sed -n '/@GLIBC_PRIVATE/d
    s/^\([0-9a-f]*\) [TWi] \([^@]*\).*/\1 \2/p' >"$tmp/libc"
# A number is given to a call once: what is beyond the last that is listed is
# newer than the list.
echo '#include <asm/unistd.h>' | ${CC-cc} -E -dM - 2>/dev/null |
    sed -n 's/^#define __NR_\([a-z_0-9]*\) \([0-9]*\)$/\2 \1/p' >"$tmp/kernel"
tr -s '\n' ' ' <"$srcdir/doc/beside.md" >"$tmp/doc"

awk -v doc="`cat "$tmp/doc"`" -v tmp="$tmp" '
function wrong(text) { print text; bad = 1 }
FILENAME == tmp "/ours" { ours[$1] = 1; next }
FILENAME == tmp "/libc" { at[$2] = $1; names[$1] = names[$1] " " $2; next }
FILENAME == tmp "/kernel" { number[$2] = $1; next }
/^#/ || /^$/ { next }
{
    n = split(substr($0, 1, index($0, ":") - 1), call, " ")
    rest = substr($0, index($0, ":") + 1)
    words = ""
    if ((i = index(rest, " not ")) > 0) {
        words = substr(rest, i + 5)
        rest = substr(rest, 1, i - 1)
        if (index(doc, words) == 0)
            wrong(call[1] ": doc/beside.md has no \"" words "\"")
    }
    for (i = 1; i <= n; i++) {
        if (call[i] in listed)
            wrong(call[i] ": twice in the list")
        listed[call[i]] = 1
        if (number[call[i]] + 0 > last)
            last = number[call[i]] + 0
        if (words ~ /^syscall/ && call[i] in at)
            wrong(call[i] ": the C library has a name for it now")
    }
    m = split(rest, name, " ")
    if (m == 0 && words == "")
        wrong(call[1] ": nothing is said of it")
    for (i = 1; i <= m; i++)
        if (name[i] !~ /^(none|own)$/)
            named[name[i]] = 1
    for (i = 1; i <= n && words == "" && name[1] !~ /^(none|own)$/; i++)
        if (call[i] in at)
            named[call[i]] = 1
}
END {
    for (f in named) {
        if (!(f in ours))
            wrong(f ": libhearth does not stand in front of it")
        m = split(names[at[f]], name, " ")
        for (i = 1; i <= m; i++)
            if (!(name[i] in ours))
                wrong(name[i] ": the same as " f ", and libhearth does not")
    }
    for (f in number)
        if (!(f in listed) && number[f] + 0 < last)
            wrong(f ": a call of the kernel that is not in the list")
    exit bad
}' "$tmp/ours" "$tmp/libc" "$tmp/kernel" "$list"
