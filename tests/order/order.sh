#!/bin/sh
# order.sh -- the models of order.h: each holds, and without any one of its orders it
# does not.  relacy plays them (Debian: relacy-dev).
#
#   sh tests/order/order.sh    from any folder; half a minute
# Needs: nothing
here=`dirname "$0"`
work=`mktemp -d "${TMPDIR:-/tmp}/order.XXXXXX"` || exit 99
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15
cxx=${CXX:-c++}
echo '#include <relacy/relacy.hpp>' >"$work/probe.cpp"
$cxx -std=c++11 -w -fsyntax-only "$work/probe.cpp" 2>/dev/null || {
    echo "no relacy here, or no C++ compiler"
    exit 77
}
$cxx -std=c++11 -O0 -w "$here/order.cpp" -o "$work/order" || exit 1
"$work/order"
