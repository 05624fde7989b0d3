# SPDX-License-Identifier: BSD-2-Clause
"""One run, from the page that HEARTH_REPORT wrote."""
import json
import re

from launch.trouble import Trouble

FORMAT = 1  # src/report/html_json.c
BEGIN = '<script type="application/json" id="data">'
END = "</script>"
TITLE = "<title>Hearth: where the time went</title>"


def page_read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as problem:
        raise Trouble(f"{path} cannot be read: {problem.strerror}") from None


def data_of(path, page):
    """The text between the marks; other scripts come behind it."""
    if TITLE not in page:
        raise Trouble(f"{path} is no report of HEARTH_REPORT: give two pages"
                      " that it wrote")
    begin = page.find(BEGIN)
    end = page.find(END, begin)
    if begin < 0 or end < 0:
        raise Trouble(f"{path} was cut off: let the program write it again,"
                      " or copy all of it")
    return page[begin + len(BEGIN):end]


def format_check(path, data):
    found = data.get("format")
    if found == FORMAT:
        return
    version = data.get("version")
    told = (f"was written by Hearth {version}" if isinstance(version, str)
            else "was written by another Hearth")
    raise Trouble(f"{path} {told}, in format {found}, and this hearth-report"
                  f" reads {FORMAT}: run the hearth-report of that version,"
                  " or the program again")


class Run:
    """What a comparison needs: nanoseconds by place, for each kind of place."""

    def __init__(self, path):
        text = data_of(path, page_read(path))
        self.path = path
        try:
            data = json.loads(text)
            if not isinstance(data, dict):
                raise ValueError("no object")
        except ValueError:
            raise Trouble(f"{path} was damaged: its numbers are no"
                          " JSON") from None
        format_check(path, data)
        try:
            self._take(data)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise Trouble(f"{path} was damaged: something is missing in its"
                          f" numbers: {problem}") from None

    def _take(self, data):
        self.version = str(data["version"])
        self.command = str(data["command"])
        self.ranks, self.nodes = int(data["ranks"]), int(data["nodes"])
        self.transport = str(data["transport"])
        self.elapsed = int(data["elapsed_ns"])
        self.whole = sum(int(rank["ns"]) for rank in data["rank"])
        self.options = {k: str(v) for k, v in data["options"].items()}
        self.advice = [(str(a["rule"]), str(a["what"]))
                       for a in data["advice"]]
        self.parts = {}
        for rank in data["rank"]:
            added(self.parts, rank["part_ns"].items())
        self.places = {
            "line": added({}, ((e["at"], e["ns"]) for e in data["line"])),
            "memory": added({}, ((memory_name(e), e["ns"])
                                 for e in data["memory"])),
            "lock": added({}, ((f"{e['lock']}, {e['at']}", e["wait_ns"])
                               for e in data["lock"])),
            "barrier": added({}, ((e["at"], e["wait_ns"])
                                  for e in data["barrier"])),
        }

    def words(self):
        ranks, nodes = plural(self.ranks, "rank"), plural(self.nodes, "node")
        return (f"{self.path}: {self.command}; {ranks} on {nodes},"
                f" {self.transport}, Hearth {self.version}")


def plural(n, word):
    return f"{n} {word}" + ("" if n == 1 else "s")


def memory_name(entry):
    if entry["name"]:
        return f"`{entry['name']}` ({entry['at']})"
    return f"{entry['bytes']} bytes from {entry['at']}"


def added(to, pairs):
    """Sums by name: several entries may have one."""
    for name, ns in pairs:
        to[str(name)] = to.get(str(name), 0) + int(ns)
    return to


def without_line(name):
    """Where a program was edited its lines have other numbers, and what was
    allocated may be longer."""
    return re.sub(r":[0-9]+|\+0x[0-9a-f]+|^[0-9]+ bytes", "", name)
