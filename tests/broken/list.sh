#!/bin/sh
# list.sh -- each edit that tests/broken/rules.list has fits the sources: its old text
# is found once in its file.  So a rule that has moved is noticed when it moves.
#
#   tests/broken/list.sh     from the build folder, as make check does
#   srcdir=. tests/broken/list.sh
#
# Environment: srcdir (from make check).
# Needs: nothing
: "${srcdir:=.}"
command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }
exec python3 -B "$srcdir/tests/broken/broken.py" --check
