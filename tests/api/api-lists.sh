#!/bin/sh
# api-lists.sh -- the headers, the symbol table and the man pages must name the
# same functions.  Environment: srcdir, NM, API_PAGES (from make check).
# Needs: libhearth.la man/doxygen.stamp
header=$srcdir/include/hearth/hearth.h
exported=`sed -n 's/^HEARTH_API .*\(hearth_[a-z_0-9]*\)(.*/\1/p' "$header"`
# Static inline functions: a line of their own starts with the name.
inlined=`sed -n 's/^\(hearth_[a-z_]*\)(.*/\1/p' "$header"`
jia=$srcdir/include/hearth/jia.h
exported="$exported
`sed -n 's/^JIA_API .*\(jia_[a-z_0-9]*\)(.*/\1/p' "$jia"`"
tmk=$srcdir/include/hearth/Tmk.h
exported="$exported
`sed -n 's/^TMK_API .*\(Tmk_[a-z_]*\)(.*/\1/p' "$tmk"`"
# What macros call has no pages.
macros=`sed -n 's/^PARMACS_API .*\(parmacs_[a-z_]*\)(.*/\1/p' \
    "$srcdir/include/hearth/parmacs.h"`
# Variables of jia.h and Tmk.h have their place in the page of the header.
variables=`sed -n 's/^extern JIA_API int \([a-z_]*\);.*/\1/p' "$jia"
    sed -n 's/^extern TMK_API unsigned \([A-Za-z_]*\);.*/\1/p' "$tmk"`
types=`sed -n -e 's/^} \(hearth_[a-z_]*\);/\1/p' \
    -e 's/^typedef struct \(hearth_[a-z_]*\) \1;/\1/p' "$header"`

words() {
    printf '%s\n' $* | sort
}

# The library stands in front of calls that hand memory to the kernel, of those
# that would take SIGSEGV away from it, and of MPI's; nothing else may leak out.
system="`sed -n 's/^SYSTEM([A-Za-z_ *]*, \([A-Za-z_0-9]*\), (.*/\1/p' \
    "$srcdir/src/front/system.def"`
    sigaction __sigaction signal bsd_signal ssignal sysv_signal __sysv_signal
    sigset sigignore sigsetmask sigblock sighold pthread_attr_setsigmask_np
    setbuf setbuffer _IO_setbuffer arc4random_buf mprotect pkey_mprotect _exit _Exit
    quick_exit daemon execl execle execlp execv execve execveat execvp execvpe
    fexecve"
found=`$NM -D --defined-only .libs/libhearth.so 2>/dev/null |
    sed -n 's/.* [TWDBVi] //p'`
symbols=`printf '%s\n' $found | sed 's/@.*//' | grep -v -x 'P\{0,1\}MPI_[A-Z][A-Za-z_0-9]*'`
# What stands there is what the table says, and Hearth's own calls, but for
# those of the tools, do not come through it: all by names of their own.
table=`sed -n 's/^#define MPI_\([A-Z][A-Za-z_0-9]*\) .*/MPI_\1/p' \
    src/front/mpi_calls.h`
front=`$NM -D --defined-only .libs/libhearth.so 2>/dev/null |
    sed -n 's/.* W \(P\{0,1\}MPI_\)/\1/p'`
own=`$NM --undefined-only .libs/libhearth_core.a 2>/dev/null |
    sed -n 's/.* U P\{0,1\}\(MPI_[A-Z]\)/\1/p' | sort -u |
    grep -x -F "$table"`
pages=`for p in $API_PAGES; do basename "$p" .3; done | grep -v '\.h$'`

test -n "$symbols" || exit 77 # no ELF shared library to look at

fail=0
compare() { # WHAT WANTED FOUND
    test "`words $2`" = "`words $3`" && return
    echo "$1 differ from the headers ('<' only there, '>' only here):"
    words $2 >api-lists.$$
    words $3 | diff api-lists.$$ - | grep '^[<>]'
    rm -f api-lists.$$
    fail=1
}
# Each of Hearth's own has a version of src/libhearth.map; what stands in front of
# others has none, since a call of read@GLIBC_2.2.5 would not find it.
map=$srcdir/src/libhearth.map
if grep "^HEARTH_VERSIONS" Makefile | grep version-script >/dev/null; then
    compare "names in src/libhearth.map" "$exported $variables $macros" \
        "`sed -n 's/^    \([A-Za-z_0-9]*\);$/\1/p' "$map"`"
    compare "symbols with a version" "$exported $variables $macros" \
        "`printf '%s\n' $found | sed -n 's/@@HEARTH_[0-9.]*$//p'`"
fi
compare "exported symbols" "$exported $variables $macros $system" \
    "$symbols"
compare "calls in front of MPI's" \
    "$table `printf 'P%s ' $table`" "$front"
compare "Hearth's own calls through them" "" "$own"
compare "man pages listed in man/local.mk" "$exported $inlined $types" "$pages"

# Doxygen leaves out what has no comment.
if test -f man/doxygen.stamp; then
    for p in $API_PAGES; do
        test -f "$p" || { echo "no comment, so no page: $p"; fail=1; }
        grep '^\.so ' "$p" && { echo "elsewhere for man -l: $p"; fail=1; }
    done
    for name in hearth_init jia_init Tmk_startup; do
        command -v man >/dev/null || break
        man -l "man/man3/$name.3" 2>&1 | grep "$name *(" >/dev/null ||
            { echo "man -l does not show $name"; fail=1; }
    done
fi
exit $fail
