# page.py -- is the file of HEARTH_REPORT what it should be?
#
#   python3 page.py FILE TEXT     TEXT: what HEARTH_STATS=yes printed, in a file
#
# Prints what is wrong, a line each.
import html.parser
import json
import re
import sys


class Page(html.parser.HTMLParser):
    """Collects advice, JSON, ids, links, and whatever would be loaded."""

    empty = ("meta", "br", "input", "rect")

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.loads = [], [], [], []
        self.wrong, self.items, self.data = [], [], ""
        self.advice = self.json = False

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.empty:
            self.open.append(tag)
        self.loads += [v for k, v in attrs.items() if k in ("src", "srcset")]
        if tag in ("link", "iframe", "object", "embed"):
            self.loads.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if tag == "ol" and attrs.get("id") == "advice":
            self.advice = True
        if tag == "li" and self.advice:
            self.items.append([attrs["data-rule"], ""])
        self.json = tag == "script" and \
            attrs.get("type") == "application/json"

    def handle_endtag(self, tag):
        if tag in self.empty:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</%s> ends another element" % tag)
        if tag == "ol":
            self.advice = False
        self.json = False

    def handle_data(self, data):
        if self.json:
            self.data += data
        if self.advice and self.items:
            self.items[-1][1] += data


def wrong_of(page, text):
    yield from page.wrong
    if page.open:
        yield "elements that are not ended: %s" % page.open
    if page.loads:
        yield "it would load %s" % page.loads
    if len(set(page.ids)) != len(page.ids):
        yield "an id is there twice"
    yield from ("%s leads nowhere" % link for link in page.links
                if link[1:] not in page.ids)
    data = json.loads(page.data)
    for rank in data["rank"]:
        parts = [round(10 * p) for p in rank["percent"].values()]
        if sum(parts) != 1000:
            yield "percentages of rank %d do not add up" % rank["rank"]
    rules = [a["rule"] for a in data["advice"]]
    if rules != [item[0] for item in page.items]:
        yield "advice in JSON is not that of the page"
    told = re.findall(r"^hearth: (\d)\. (.*)$", text, re.M)
    for (number, words), advice in zip(told, data["advice"]):
        if not advice["what"].startswith(words[:40]):
            yield "advice %s of the terminal is another" % number
    for name, value in re.findall(r"^hearth: (\w+) +(\d+)    ", text, re.M):
        total = [r["counters"].get(name) for r in data["rank"]]
        if None not in total and sum(total) != int(value):
            yield "%s is %d in the page and %s printed" % (
                name, sum(total), value)


page = Page()
with open(sys.argv[1], encoding="utf-8") as file:
    page.feed(file.read())
with open(sys.argv[2], encoding="utf-8", errors="replace") as file:
    for line in wrong_of(page, file.read()):
        print(line)
