# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of a build with --coverage have reached of src/.

    python3 coverage.py BUILD SOURCE > REPORT

Prints a summary for each file, then each function that was never called, and
each branch that was never taken in a function that was: those first behind which
a line ends the job or warns, then those that lead to other lines that never ran,
then parts of a condition, or the way past it, whose lines ran all the same.  A
file that several programs are made of counts once: what one of them reaches is
reached.  What stands only in assertions does not count.
"""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict

FOR_ASSERT = "HEARTHI_FOR_ASSERT"
ENDS = re.compile(r"fatal|warn|_failed|hearthi_end|_wrong|refuse|misuse")
KINDS = ["behind which a line ends the job or warns",
         "that lead to other lines that never ran",
         "of a condition, or past it: all lines ran"]


def notes_find(build):
    """What the compiler has left for each object of the library."""
    for folder, _, names in os.walk(os.path.join(build, "src")):
        for name in names:
            if name.endswith(".gcno"):
                yield os.path.relpath(os.path.join(folder, name), build)


class File:
    def __init__(self, text):
        self.text = text
        self.functions = {}  # (line, name): how often
        self.end = {}  # of these
        self.lines = defaultdict(int)
        self.branches = defaultdict(lambda: defaultdict(int))

    def is_for_assert(self, at):
        return FOR_ASSERT in " ".join(self.text[at - 3:at])

    def add(self, one):
        left_out = set()
        for f in one["functions"]:
            key = (f["start_line"], f["name"])
            if self.is_for_assert(key[0]):
                left_out.update(range(key[0], f["end_line"] + 1))
                continue
            self.functions[key] = self.functions.get(key, 0) + \
                f["execution_count"]
            self.end[key] = f["end_line"]
        for line in one["lines"]:
            at = line["line_number"]
            if at in left_out:
                continue
            self.lines[at] += line["count"]
            for i, branch in enumerate(line["branches"]):
                self.branches[at][i] += branch["count"]

    def branch_counts(self):
        return [n for of in self.branches.values() for n in of.values()]

    def dead(self):
        """Functions that never ran, nor where they were inlined."""
        return [key for key, n in sorted(self.functions.items())
                if n == 0 and not any(self.lines.get(at, 0) for at in
                                      range(key[0], self.end[key] + 1))]

    def function_at(self, at):
        names = [name for (begin, name) in self.functions
                 if begin <= at <= self.end[begin, name]]
        return names[0] if names else "-"

    def kind(self, at):
        """Of a line with a branch that was never taken: of KINDS."""
        follow = [n for n in range(at + 1, at + 8) if n in self.lines]
        if not follow or self.lines[follow[0]] > 0:
            return 2
        never = []
        for n in follow:
            if self.lines[n] > 0:
                break
            never.append(self.text[n - 1])
        return 0 if ENDS.search(" ".join(never)) else 1

    def untaken(self):
        """Lines that ran, with branches that were never taken."""
        for at in sorted(self.branches):
            counts = self.branches[at].values()
            never = sum(n == 0 for n in counts)
            if self.lines[at] > 0 and never > 0:
                yield at, never, len(counts), self.kind(at)


def read(build, source):
    files = {}
    for note in sorted(notes_find(build)):
        text = subprocess.run(
            ["gcov", "--json-format", "--stdout", "--branch-probabilities",
             note], cwd=build, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, check=False).stdout
        for document in text.splitlines():
            for one in json.loads(document)["files"]:
                path = os.path.relpath(os.path.join(build, one["file"]),
                                       source)
                if not path.startswith("src/"):
                    continue
                if path not in files:
                    files[path] = File(lines_of(os.path.join(source, path)))
                files[path].add(one)
    return dict(sorted(files.items()))


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def percent(some, all_of_them):
    return f"{100 * some / all_of_them:5.1f}" if all_of_them else "    -"


def row(name, files):
    lines = [n for f in files for n in f.lines.values()]
    branches = [n for f in files for n in f.branch_counts()]
    return (f"{percent(sum(n > 0 for n in lines), len(lines))} "
            f"{percent(sum(n > 0 for n in branches), len(branches))} "
            f"{sum(len(f.dead()) for f in files):4} of "
            f"{sum(len(f.functions) for f in files):4}  {name}")


def main(build, source):
    files = read(build, source)
    if not files:
        sys.exit("coverage.py: there is nothing in " + build)
    print("lines  branches  functions never called\n    %        %")
    for path, f in files.items():
        print(row(path, [f]))
    print(row("all", files.values()))
    print("\nFunctions that were never called")
    for path, f in files.items():
        for at, name in f.dead():
            print(f"{path}:{at}: {name}")
    for kind, what in enumerate(KINDS):
        print(f"\nBranches that were never taken, {what}")
        for path, f in files.items():
            for at, never, of, its in f.untaken():
                if its == kind:
                    print(f"{path}:{at}: {f.function_at(at)}: {never} of "
                          f"{of}: {f.text[at - 1].strip()}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
