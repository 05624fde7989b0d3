#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""chance.py BUILD PROGRAM... -- what has failed of these programs, by the .trs
and .log files that `make check` has left in the folder BUILD: a line for each
program that did not pass, with tabs between

    again or failed    by the reasons in tests/again
    PROGRAM            as `make check` names it
    FAILURES           how many of its tests
    TEXT               the first of them that decides, or the first

./check reads it.
"""
import pathlib
import re
import sys

NEXT = r"(?=; |;?$)"
END = {"reason": NEXT, "hang": NEXT, "after": NEXT, "text": "$", "program": "$"}
BAD = ("FAIL", "XPASS", "ERROR")


def kinds_read(path):
    """The expressions of each kind, joined."""
    found = {kind: [] for kind in END}
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        kind, text = line.split(None, 1)
        found[kind].append(text)
    return {kind: re.compile(f"(?:{'|'.join(texts)}){END[kind]}")
            for kind, texts in found.items()}


def reasons_split(text, kinds):
    """The kinds of its reasons, or None if one is of none.  A reason may have
    "; " in it, so they are not split there but matched from the front."""
    which = []
    text = text.strip("; ")
    while text:
        found = [(kind, match) for kind in ("hang", "reason", "after")
                 for match in [kinds[kind].match(text)] if match]
        if not found:
            return None
        which.append(found[0][0])
        text = text[found[0][1].end():].strip("; ")
    return which


def is_chance(text, kinds):
    """Can chance give this failure?"""
    name, mark, reasons = text.partition(" -- ")
    if not mark:
        return kinds["text"].search(text) is not None
    which = reasons_split(reasons, kinds)
    return bool(which) and ("after" not in which or "hang" in which)


def log_failures(log, name):
    """Texts of what failed, as the TAP driver logs them."""
    head = re.compile(rf"(?:{'|'.join(BAD)})[: ] ?{re.escape(name)}(.*)")
    return [re.sub(r"^(\d+) - ", r"\1 ", match.group(1).strip()) for match in
            map(head.match, log.read_text(errors="replace").splitlines())
            if match]


def judge(build, name, kinds):
    stem = build / re.sub(r"\.[a-z]*$", "", name)
    trs, log = (stem.with_name(stem.name + end) for end in (".trs", ".log"))
    if not trs.exists():
        return f"failed\t{name}\t1\tit did not run"
    results = re.findall(r"^:test-result: (\w+)", trs.read_text(), re.M)
    bad = sum(result in BAD for result in results)
    if bad == 0:
        return None
    texts = log_failures(log, name)
    if kinds["program"].match(name):
        return f"again\t{name}\t{bad}\t{' '.join(texts[:1])}"
    at_once = [text for text in texts if not is_chance(text, kinds)]
    if at_once or len(texts) < bad:
        return f"failed\t{name}\t{bad}\t{(at_once or texts or ['?'])[0]}"
    more = f" (and {bad - 1} more)" if bad > 1 else ""
    return f"again\t{name}\t{bad}\t{texts[0]}{more}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    kinds = kinds_read(pathlib.Path(__file__).with_name("again"))
    for name in sys.argv[2:]:
        line = judge(pathlib.Path(sys.argv[1]), name, kinds)
        if line:
            print(line)


main()
