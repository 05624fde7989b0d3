#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""counters.py FILE NAME... -- one number a line: how much of each NAME all
ranks counted together, by the report that HEARTH_STATS=json:FILE has left.
A NAME is the way through a rank's object: "refused.seal", "messages.ACQ.sent".
What no rank has in its object counts as 0.
"""
import json
import sys


def value(counters, way):
    for key in way:
        counters = counters.get(key, {})
    return counters or 0


if len(sys.argv) < 3:
    sys.exit(__doc__)
with open(sys.argv[1]) as file:
    ranks = json.load(file)["rank"]
for name in sys.argv[2:]:
    print(sum(value(rank, name.split(".")) for rank in ranks))
