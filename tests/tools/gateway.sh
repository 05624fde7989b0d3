#!/bin/sh
# gateway.sh -- hearth-gateway: its key, its check, its refusals.
# Environment: srcdir (from make check).
# Needs: hearth-gateway
. "`dirname "$0"`/wrongs"

./hearth-gateway --help >"$out/help" || wrong "--help fails"
grep -- --new-key "$out/help" >/dev/null || wrong "--help explains nothing"
./hearth-gateway --version | grep hearth >/dev/null || wrong "no version"

(umask 0; ./hearth-gateway --new-key "$out/clusters.key") >/dev/null ||
    wrong "no key is made"
test "`stat -c %a "$out/clusters.key"`" = 600 || wrong "others may use the key"
cp "$out/clusters.key" "$out/before"
./hearth-gateway --new-key "$out/clusters.key" 2>"$out/said" &&
    wrong "a key is overwritten"
cmp -s "$out/clusters.key" "$out/before" || wrong "the key has changed"
grep 'never overwritten' "$out/said" >/dev/null || wrong "it is not said"

cat >"$out/clusters.conf" <<'CONF'
key = clusters.key
[kyushu]  gateway = 192.0.2.10:7100   ranks = 8
[tokyo]   gateway = [2001:db8::4]:7100 ranks = 4
CONF
./hearth-gateway --check "$out/clusters.conf" >"$out/said" || wrong "--check fails"
grep 'tokyo: ranks 8 to 11, gateway \[2001:db8::4\] port 7100' "$out/said" \
    >/dev/null || wrong "--check prints something else"
chmod 644 "$out/clusters.key"
./hearth-gateway --check "$out/clusters.conf" 2>"$out/said" &&
    wrong "a key that others may read is taken"
grep 'chmod 600' "$out/said" >/dev/null || wrong "no remedy for its mode"
chmod 600 "$out/clusters.key"
if test "`id -u`" = 0 && chown 12345 "$out/clusters.key" 2>/dev/null; then
    ./hearth-gateway --check "$out/clusters.conf" 2>"$out/said" &&
        wrong "a key of another user is taken"
    grep 'of another user (12345)' "$out/said" >/dev/null ||
        wrong "it is not said whose key it is"
fi

for words in "" --nonsense "--check" "--help extra"; do
    ./hearth-gateway $words >"$out/said" 2>&1
    test $? = 2 || wrong "hearth-gateway $words: status is not 2"
    test -s "$out/said" || wrong "hearth-gateway $words: no message"
done

for word in new-key check; do
    sed 's/\\//g' "$srcdir/man/hearth-gateway.1" | grep -- "--$word" \
        >/dev/null || wrong "--$word is not in hearth-gateway(1)"
done
exit $fail
