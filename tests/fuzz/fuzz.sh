#!/bin/sh
# fuzz.sh -- the decoder of datagrams under libFuzzer and AddressSanitizer, for
# FUZZ_SECONDS (5).  Skipped where clang or its fuzzer is not there.
here=`dirname "$0"`/..
work=`mktemp -d "${TMPDIR:-/tmp}/hearth-fuzz.XXXXXX"` || exit 99
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15
flags="-g -O1 -fsanitize=fuzzer,address -I. -I$here/../src -I$here/transport/udp"
command -v clang >/dev/null || exit 77
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n);
int LLVMFuzzerTestOneInput(const char *d, unsigned long n)
{ return d != 0 && n > 1UL << 40; }' >"$work/probe.c"
clang $flags "$work/probe.c" -o "$work/probe" 2>/dev/null || exit 77
clang $flags "$here/fuzz/wire_fuzz.c" "$here/../src/transport/udp/wire.c" \
    "$here/../src/transport/patch.c" "$here/../src/notice/diff.c" \
    -o "$work/fuzz" || exit 1
# Heads of 40 bytes to begin with: one for each operation, to rank 1.
mkdir "$work/corpus"
for op in 144 145 156 157 160 161 162 163 164 165 166 167 170 171 172 173; do
    printf "\\0\\0\\0\\0\\0\\0\\0\\0\\$op\\0\\0\\0\\0\\0\\0\\0\\001\\0\\0\\0%b" \
        '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$work/corpus/$op"
done
"$work/fuzz" -seed=1 -max_total_time="${FUZZ_SECONDS-5}" -max_len=8192 \
    -artifact_prefix="$work/" "$work/corpus" >"$work/log" 2>&1 && exit 0
tail -40 "$work/log"
exit 1
