#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""counters.py FILE NAME... -- one number a line: how much of each NAME all
ranks counted together, by the report that HEARTH_STATS=json:FILE has left.
A NAME is the way through a rank's object: "refused.seal", "messages.ACQ.sent";
"*" is whatever is there.  What no rank has in its object counts as 0.
"""
import json
import sys


def value(counters, way):
    if not way:
        return counters
    keys = list(counters) if way[0] == "*" else [way[0]]
    return sum(value(counters[key], way[1:]) for key in keys
               if key in counters)


if len(sys.argv) < 3:
    sys.exit(__doc__)
with open(sys.argv[1]) as file:
    ranks = json.load(file)["rank"]
for name in sys.argv[2:]:
    print(sum(value(rank, name.split(".")) for rank in ranks))
