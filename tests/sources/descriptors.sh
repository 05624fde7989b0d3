#!/bin/sh
# descriptors.sh -- whatever in src/ opens a descriptor does so through
# hearthi_descriptor() of base/descriptor.h: none of the library's is 0, 1 or 2.
#
#   tests/sources/descriptors.sh     from the build folder, as make check does
#   srcdir=. tests/sources/descriptors.sh
#
# Environment: srcdir (from make check).
# Needs: nothing
: "${srcdir:=.}"
cd "$srcdir" || exit 99

# Comments and texts away; a call and what stands before it in one line.
found=`find src -name '*.c' | sort | xargs awk '
    BEGIN {
        opens = "(open|openat|socket|socketpair|accept|accept4|memfd_create|" \
            "shm_open|eventfd|epoll_create|epoll_create1|timerfd_create|" \
            "signalfd|inotify_init|inotify_init1|pipe|pipe2|dup|fopen|" \
            "opendir|mkstemp|tmpfile|pidfd_open)"
    }
    FNR == 1 { comment = 0; before = "" }
    {
        line = $0
        gsub(/\\\\./, "", line)
        gsub(/"[^"]*"/, "", line)
        gsub(/\\/\\*.*\\*\\//, "", line)
        if (comment && line !~ /\\*\\//)
            next
        if (comment) {
            sub(/.*\\*\\//, "", line)
            comment = 0
        }
        if (sub(/\\/\\*.*/, "", line))
            comment = 1
        all = before line
        rest = all
        while (match(rest, "(^|[^A-Za-z0-9_.>*])" opens "[(]")) {
            head = substr(rest, 1, RSTART)
            sub(/[ \\t]*$/, "", head)
            if (substr(rest, RSTART + 1, RLENGTH) !~ /^[ ]*$/ &&
                RSTART + RLENGTH > length(before) &&
                head !~ /hearthi_descriptor[(]$/)
                print FILENAME ":" FNR ": " $0
            rest = substr(rest, RSTART + RLENGTH)
            before = ""
        }
        sub(/^[ \\t]+/, "", line)
        before = line
    }'`
test -z "$found" || {
    echo "opened without hearthi_descriptor():"
    echo "$found"
    exit 1
}
