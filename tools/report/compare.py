# SPDX-License-Identifier: BSD-2-Clause
"""Two runs: places that are the same, and what each cost."""
from typing import NamedTuple, Optional

from report.run import without_line

KINDS = ("line", "memory", "lock", "barrier")
PARTS = (("computing", "computing"), ("read_faults", "read faults"),
         ("write_faults", "write faults"),
         ("fetching_ahead", "fetching ahead"), ("diffs", "diffs"),
         ("barriers", "waiting in barriers"), ("locks", "waiting for locks"),
         ("served", "others served"),
         ("explicit", "hearth_read, hearth_write"))


class Row(NamedTuple):
    """Nanoseconds in either run; None: it is not there."""

    kind: str
    name: str
    a: Optional[int]
    b: Optional[int]

    def change(self):
        return (self.b or 0) - (self.a or 0)


def alike(a, b):
    """Names of a and b that differ by their lines only, if there is one such
    in each."""
    found = {}
    for side, names in enumerate((a, b)):
        for name in names:
            found.setdefault(without_line(name), ([], []))[side].append(name)
    return [(one[0], other[0]) for one, other in found.values()
            if len(one) == 1 and len(other) == 1]


def rows_of(kind, a, b):
    """Of one kind of places: dictionaries of nanoseconds by name."""
    rows = [Row(kind, name, a[name], b[name]) for name in a if name in b]
    left_a = [name for name in a if name not in b]
    left_b = [name for name in b if name not in a]
    for before, now in alike(left_a, left_b):
        rows.append(Row(kind, f"{before}, now {now}", a[before], b[now]))
        left_a.remove(before)
        left_b.remove(now)
    rows += [Row(kind, name, a[name], None) for name in left_a]
    rows += [Row(kind, name, None, b[name]) for name in left_b]
    return rows


class Comparison:
    """A and B, and what changed from one to the other."""

    LEAST_NS = 1000000
    LEAST_PART = 200  # of the time of all ranks

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.elapsed = Row("", "elapsed", a.elapsed, b.elapsed)
        self.whole = Row("", "of all ranks together", a.whole, b.whole)
        self.parts = [Row("", name, a.parts.get(key, 0), b.parts.get(key, 0))
                      for key, name in PARTS
                      if a.parts.get(key, 0) + b.parts.get(key, 0) > 0]
        rows = [row for kind in KINDS
                for row in rows_of(kind, a.places[kind], b.places[kind])]
        least = max(self.LEAST_NS, max(a.whole, b.whole) // self.LEAST_PART)
        self.better = sorted((r for r in rows if r.change() <= -least),
                             key=Row.change)
        self.worse = sorted((r for r in rows if r.change() >= least),
                            key=Row.change, reverse=True)
        self.same = len(rows) - len(self.better) - len(self.worse)

    def options(self):
        """Those that differ, but for the file of the report."""
        names = dict.fromkeys([*self.a.options, *self.b.options])
        return [(name, self.a.options.get(name, "-"),
                 self.b.options.get(name, "-")) for name in names
                if not name.endswith("REPORT") and
                self.a.options.get(name) != self.b.options.get(name)]

    def advice(self):
        """What is gone, what is there still, and what is new: of one rule a
        line each, as in the run that has it."""
        rules_a = {rule for rule, _ in self.a.advice}
        rules_b = {rule for rule, _ in self.b.advice}
        return (("gone", [x for x in self.a.advice if x[0] not in rules_b]),
                ("still", [x for x in self.b.advice if x[0] in rules_a]),
                ("new", [x for x in self.b.advice if x[0] not in rules_a]))
