#!/usr/bin/env python3
"""law.py [--ranks N] [FILE...]

Fit laws to what tests/scale/scale has printed with several numbers of ranks,
and say what they give at N ranks (4096).  Of a constant, a logarithm and a
line the law is the one with the least squares of relative errors; a line is
preferred to neither, so few ranks tell little: doc/scale.md compares with the
code.  Plain Python.
"""

import argparse
import fileinput
import math
import re

QUANTITIES = ["messages", "max_messages", "bytes", "max_bytes", "local",
              "collectives", "cpu_us", "resident_kb"]

LAWS = [("a", lambda n: 0.0), ("a + b log2 N", lambda n: math.log2(n)),
        ("a + b N", lambda n: float(n))]


def read(lines):
    """{(transport, what): {ranks: {quantity: value}}}"""
    found = {}
    for line in lines:
        if not line.startswith("scale "):
            continue
        pair = dict(re.findall(r"(\w+)=(\S+)", line))
        key = pair["transport"], pair["what"]
        found.setdefault(key, {})[int(pair["ranks"])] = {
            q: float(pair[q]) for q in QUANTITIES}
    return found


def fit(points, f):
    """Least squares of relative errors of a + b f(n): a, b, their sum."""
    s = [0.0] * 5
    for n, y in points:
        w = 1 / max(y, 0.01) ** 2
        x = f(n)
        for i, term in enumerate((1, x, x * x, y, x * y)):
            s[i] += w * term
    det = s[0] * s[2] - s[1] ** 2
    if det <= 1e-9 * s[0] * s[2] or s[2] == 0:
        a, b = s[3] / s[0], 0.0
    else:
        a = (s[2] * s[3] - s[1] * s[4]) / det
        b = (s[0] * s[4] - s[1] * s[3]) / det
    errors = sum(((a + b * f(n) - y) / max(y, 0.01)) ** 2 for n, y in points)
    return a, b, errors


def law(points, ranks):
    """Its name, and its value there."""
    best = None
    for name, f in LAWS:
        a, b, errors = fit(points, f)
        if len(points) < 3 and b != 0:
            continue
        if b < 0:
            continue
        if best is None or errors < 0.5 * best[0]:
            best = errors, name, a + b * f(ranks)
    return best[1], best[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    found = read(fileinput.input(options.files))
    print(f"| transport | what | a rank | measured | law | at {options.ranks} |")
    print("|---|---|---|---|---|---|")
    for (transport, what), counts in sorted(found.items()):
        for q in QUANTITIES:
            points = [(n, counts[n][q]) for n in sorted(counts)]
            if max(y for _, y in points) == 0:
                continue
            name, value = law(points, options.ranks)
            measured = ", ".join(f"{n}: {y:.4g}" for n, y in points)
            print(f"| {transport} | {what} | {q} | {measured} | {name} "
                  f"| {value:.4g} |")


if __name__ == "__main__":
    main()
