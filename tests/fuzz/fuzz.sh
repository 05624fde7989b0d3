#!/bin/sh
# fuzz.sh -- what others send and what users write, under AddressSanitizer: each
# parser is given the inputs that are kept in corpus/NAME, and where clang has
# libFuzzer goes on from there for FUZZ_SECONDS (1) each; it draws from
# MPI_TEST_SEED, or without that anew.
#
#   FUZZ_ONLY=conf FUZZ_SECONDS=60 sh fuzz.sh    one of them, for a minute
#   FUZZ_KEEP=yes sh fuzz.sh                     and keep what reaches more,
#                                                in the fewest inputs
#
# A failure leaves its input in the current folder, and belongs into the corpus.
# Needs: nothing
here=`dirname "$0"`/..
work=`mktemp -d "${TMPDIR:-/tmp}/hearth-fuzz.XXXXXX"` || exit 99
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15
src=$here/../src
flags="-g -O1 -I. -Isrc -I$src -Iinclude -I$here/../include -I$here/transport/udp
    -I$work"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n);
int LLVMFuzzerTestOneInput(const char *d, unsigned long n)
{ return d != 0 && n > 1UL << 40; }' >"$work/probe.c"
free=yes
compile="clang -fsanitize=fuzzer,address"
if ! $compile "$work/probe.c" -o "$work/probe" 2>/dev/null; then
    free=no
    compile="cc -fsanitize=address $here/fuzz/replay.c"
    $compile "$work/probe.c" $flags -o "$work/probe" 2>/dev/null || exit 77
fi

# No call of it is made.
echo '#define MPI_VERSION 3
#define MPI_SUBVERSION 1
#define MPI_SUCCESS 0
typedef int MPI_Comm, MPI_Fint, MPI_Request, MPI_Datatype, MPI_Op;' \
    >"$work/mpi.h"

# keep NAME: of all inputs the fewest that reach as much, and those that have a
# name, which libFuzzer does not give.
keep() {
    mkdir "$work/few"
    for input in "$kept"/*; do
        expr "/$input" : '.*/[0-9a-f]\{40\}$' >/dev/null ||
            cp "$input" "$work/few"
    done
    "$work/$1" -merge=1 -use_counters=0 -max_len=512 \
        "$work/few" "$kept" "$work/new" &&
        rm -rf "$kept" && cp -R "$work/few" "$kept"
    rm -rf "$work/few"
}

run() { # NAME
    kept=$here/fuzz/corpus/$1
    test $free = yes || {
        "$work/$1" "$kept"
        return
    }
    mkdir "$work/new"
    "$work/$1" -seed="${MPI_TEST_SEED-0}" -max_len=4096 \
        -max_total_time="${FUZZ_SECONDS-1}" \
        -artifact_prefix="./fuzz-$1-" "$work/new" "$kept"
    status=$?
    test $status = 0 && test "${FUZZ_KEEP-no}" = yes && keep "$1"
    rm -rf "$work/new"
    return $status
}

# fuzz NAME SOURCE...: tests/fuzz/NAME_fuzz.c with these files of src/ and
# libraries.
fuzz() {
    case $1 in *${FUZZ_ONLY-}*) ;; *) return ;; esac
    name=$1
    shift
    ls "$here/fuzz/corpus/$name/"* >/dev/null || exit 1
    sources=
    for word; do
        case $word in
        -*) sources="$sources $word" ;;
        *) sources="$sources $src/$word" ;;
        esac
    done
    $compile $flags "$here/fuzz/${name}_fuzz.c" $sources -o "$work/$name" ||
        exit 1
    run "$name" >"$work/log" 2>&1 && return
    tail -40 "$work/log"
    exit 1
}

has() { # HEADER
    echo "#include <$1>" | cc -E - >/dev/null 2>&1
}

fuzz wire transport/udp/wire.c transport/udp/wire_diff.c transport/patch.c \
    notice/diff.c
fuzz wan_validate transport/clusters/wan_validate.c
fuzz stream transport/clusters/message_stream.c
fuzz remote_request transport/clusters/remote_request.c \
    transport/clusters/gateway_cache.c
fuzz hello link/gateway_hello.c link/link_error.c base/format.c
fuzz option base/option.c base/option_type.c base/network.c \
    base/descriptor.c \
    base/format.c
fuzz jia jia/jia_arguments.c
fuzz meta checkpoint/meta.c checkpoint/checksum.c base/descriptor.c \
    base/format.c
# What else the file has is not called.
fuzz parmacs parmacs/parmacs_main.c base/descriptor.c -no-pie \
    -Wl,--unresolved-symbols=ignore-all
! has openssl/ssl.h ||
    fuzz link link/frame_rx.c link/gateway_hello.c link/link_error.c \
        base/format.c
! has ini.h ||
    fuzz conf base/descriptor.c link/conf.c link/conf_setting.c link/link_error.c \
        base/format.c -linih
exit 0
