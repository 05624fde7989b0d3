# SPDX-License-Identifier: BSD-2-Clause
"""The comparison for a terminal: numbers first, since places have any length.
"""
MOST = 20  # rows of a table


def seconds(ns):
    return "-" if ns is None else f"{ns / 1e9:.3f}"


def change(row):
    return f"{row.change() / 1e9:+.3f}"


def verdict(row):
    if row.a == row.b or abs(row.change()) * 100 < max(row.a, row.b):
        return "as before"
    return "better" if row.change() < 0 else "worse"


def line(row, name):
    return f"{seconds(row.a):>11}{seconds(row.b):>11}{change(row):>11}  {name}"


def table(title, rows):
    yield ""
    yield title
    for row in rows[:MOST]:
        yield line(row, f"{row.kind} {row.name}")
    if not rows:
        yield "  nothing by much"
    if len(rows) > MOST:
        yield f"  and {len(rows) - MOST} more, which changed less"


def advice(comparison):
    for title, items in comparison.advice():
        if items:
            yield ""
            yield {"gone": "Advice that is gone", "new": "New advice",
                   "still": "Advice that is still there"}[title]
            yield from (f"  {rule}: {what}" for rule, what in items)


def lines_of(comparison):
    yield f"A  {comparison.a.words()}"
    yield f"B  {comparison.b.words()}"
    for name, before, now in comparison.options():
        yield f"   {name} is {before or 'nothing'} in A," \
              f" {now or 'nothing'} in B"
    yield ""
    yield f"{'A, s':>11}{'B, s':>11}{'B - A, s':>11}"
    yield line(comparison.elapsed,
               f"elapsed: {verdict(comparison.elapsed)}")
    yield line(comparison.whole, comparison.whole.name)
    yield from (line(row, f"  {row.name}") for row in comparison.parts)
    yield from table("Better", comparison.better)
    yield from table("Worse", comparison.worse)
    yield from advice(comparison)


def text_of(comparison):
    return "".join(f"{words}\n" for words in lines_of(comparison))
