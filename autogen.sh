#!/bin/sh
# Make ./configure; needed after a clone and after a change of configure.ac.
exec autoreconf --install --force --warnings=all "$(dirname "$0")"
