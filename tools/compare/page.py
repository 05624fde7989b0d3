# SPDX-License-Identifier: BSD-2-Clause
"""The page: what was measured, figures and tables in the order of the
papers', what failed, and how it was made."""
import shlex

from compare import plot, tables
from compare.clusters import NANRI, clusters_section, paper_curves
from compare.figures import DISTRIBUTIONS
from compare.html import (Long, contents, document, escape, figure, paragraph,
                          section, table)
from compare.machine import warnings_of
from compare.places import place_about
from compare.plan import HAND, line_usual

MOCHA_FIGURES = {"lu": "Figure 8", "nqueens": "Figure 9", "sor": "Figure 10",
                 "mm": "Figure 11"}
TOGETHER = 6  # applications in a picture of distributions
DISTRIBUTION_TEXTS = {
    "diff_bytes": ("sizes of diffs", "bytes of a diff, at least"),
    "interval_us": ("lengths of intervals", "microseconds, at least"),
    "burst": ("bursts of diffs", "diffs at the end of an interval, at least"),
}
PAPERS = (
    ("mocha", "Mocha", "K. Kise, T. Katagiri, H. Honda, T. Yuba: Mocha"
     " Version 0.2: Yet Another Software-DSM System."),
    ("jiajia", "JIAJIA-SMP", "W. Hu, F. Zhang, H. Liu: A New Home-Based"
     " Software DSM Protocol for SMP Clusters."),
    ("hlrc", "HLRC", "R. Noronha, D. K. Panda: reducing diff overhead in the"
     " home-based lazy release consistency protocol over InfiniBand"
     " (slides)."),
    ("nanri", "Nanri and others", "T. Nanri, Y. Watanabe, H. Sato,"
     " M. Shimasaki: Preliminary Investigation of Distributed Shared Memory"
     " System on a Cluster of High Performance Clusters."),
)


class Names:
    """Figure 1, Figure 2, Table 1, ..."""

    def __init__(self):
        self.given = {}

    def next(self, kind):
        self.given[kind] = self.given.get(kind, 0) + 1
        return f"{kind} {self.given[kind]}"


def paper_mark(data, app):
    """For a picture that has a paper's points, too."""
    there = any(paper_curves(data, app, network) for network in data.networks)
    return f"  In grey, those of Table 4 of {NANRI}." * there


def speedup_section(data, names):
    parts = []
    for app, described in data.apps.items():
        pictures = [plot.speedup_draw(data, app, network)
                    for network in data.networks]
        pictures = [picture for picture in pictures if picture is not None]
        if not pictures:
            continue
        after = MOCHA_FIGURES.get(app, "Figures 8 to 11")
        parts.append(figure(
            names.next("Figure"), pictures,
            f"Speedup of <i>{escape(app)}</i> ({escape(described.about)})."
            f"  {'After' if app in MOCHA_FIGURES else 'In the form of'}"
            f" {after} of {tables.MOCHA}." + paper_mark(data, app)))
    shared = ("  Right of the upright line, ranks share cores."
              if any(plot.cores_mark(data, n) for n in data.networks) else "")
    lead = paragraph(
        f"Against {escape(data.base_text())}, by the medians; the bars go from"
        " the slowest run to the fastest.  The dotted line is as many times"
        f" as fast as there are ranks.{shared}")
    if len(data.networks) == 1:  # then there is room for two in a row
        parts = ['<div class="pair">\n', *parts, "</div>\n"]
    return section("speedup", "Speedup against ranks", lead, *parts)


def parts_section(data, names):
    pictures = []
    for network in data.networks:
        bars = [(app, f"{app}  {data.line_name(line)}", point.parts())
                for app, where, line, point in data.largest()
                if where == network and line == line_usual(line)
                and point.parts()]
        if bars:
            pictures += plot.bars_draw(bars, network, data.most_text())
    if not pictures:
        return ""
    return section("parts", "Where the time goes", figure(
        names.next("Figure"), pictures,
        "The time of a rank in the timed section, on average of all ranks:"
        " what the library measures, and the rest, which is computation."
        "  Service is what its own threads do for other ranks meanwhile;"
        " where a core is free, computation goes on beside it.  At each bar is"
        f" its length in seconds: the mean of the ranks' own clocks, in the run"
        " that the counters are of.  The tables have the median of the times"
        " that the application prints, by the clock of one rank, from barrier"
        " to barrier; ranks that come late out of the first have less."
        f"  After Figure 2 of {tables.JIAJIA}.",
        "wide"))


def switches_lead(switches):
    said = []
    for switch in switches:
        words = " ".join(f"{n}={v}" for n, v in switch.settings.items())
        said.append(words if words.endswith(switch.name)
                    else f"{switch.name} is {words}")
    return paragraph(escape(f"Besides the defaults: {'; '.join(said)}."))


def switches_section(data, names):
    """A bar for each, beside that of the library's defaults."""
    if not data.options.switches:
        return ""
    pictures = []
    for network in data.networks:
        bars = [((app, line_usual(line)), f"{app}  {data.line_name(line)}",
                 point.parts())
                for app, where, line, point in data.largest()
                if where == network and point.parts()]
        if bars:
            pictures += plot.bars_draw(bars, network, data.most_text())
    drawn = "" if not pictures else figure(
        names.next("Figure"), pictures,
        "The time of a rank in the timed section with each of these, against"
        " that with the library's defaults, which is the first bar of a"
        f" group.  After Figure 2 of {tables.JIAJIA}.", "wide")
    return section("switches", "What options change",
                   switches_lead(data.options.switches), drawn,
                   tables.switches_table(data, names.next("Table")))


def handfuls(items):
    """Of nearly equal size, none of more than TOGETHER."""
    count = -(-len(items) // TOGETHER)
    return [items[n * len(items) // count:(n + 1) * len(items) // count]
            for n in range(count)]


def distribution_pictures(data, line, network):
    """One picture for each distribution and handful of applications."""
    pictures = []
    for apps in handfuls(list(data.apps)):
        for name in DISTRIBUTIONS:
            curves = {}
            for app in apps:
                point = data.most(app, network, line)
                counts = point.distribution(name) if point else {}
                if sum(counts.values()) > 0:
                    curves[app] = counts
            if curves:
                pictures.append(plot.distribution_draw(
                    curves, *DISTRIBUTION_TEXTS[name]))
    return pictures


def distribution_section(data, names):
    parts = []
    network = data.networks[0]
    for line in data.lines:
        if line == HAND:
            continue
        pictures = distribution_pictures(data, line, network)
        if pictures:
            parts.append(figure(
                names.next("Figure"), pictures,
                "Sizes of diffs, lengths of intervals and numbers of diffs"
                f" sent together, {escape(data.line_name(line))} on"
                f" {data.ranks_of(line.clusters, data.options.hosts[-1])}"
                f" ranks, network {network}, of all ranks."
                "  In the form of the figures of diff distribution, interval"
                f" distribution and diff burst size of {tables.HLRC}.",
                "narrow"))
    if not parts:
        return ""
    return section("distributions", "Diffs, intervals and bursts", *parts)


def bad_section(data):
    bad = data.bad()
    if not bad:
        return ""
    parts = [paragraph(
        "These count in no median.  A configuration that failed twice, or that"
        " the application refuses, was not run again.")]
    for configuration, run in bad:
        parts.append(paragraph(
            f"<b>{escape(configuration.text())}</b>, round {run['round']}: "
            f"{escape(run['status'])}, {escape(run['why'])}."))
        if run.get("output"):
            parts.append(
                f"<pre>{escape(chr(10).join(run['output']))}</pre>\n")
    return section("failed", "Runs that failed", *parts)


def options_rows(data):
    for name, value in data.identity.items():
        if name == "environment":
            value = [f"{n}={v}" for n, v in value.items()]
        if name == "arguments":
            value = [f"{app}={shlex.join(words)}" for app, words in value]
        if name == "switches":
            value = [switch for switch, _ in value]
        if isinstance(value, list):
            value = ", ".join(str(v) for v in value)
        if value not in ("", None):
            yield [name.replace("_", " "), Long(value)]
    yield ["repeat", data.options.repeat]
    yield ["timeout", f"{data.options.timeout} s"]


def how_section(data):
    last = data.sessions[-1]
    rows = [[name, Long(value)] for name, value in last["machine"].items()]
    began = ", ".join(f"{s['began']} ({s['busy']:.0%} in use)"
                      for s in data.sessions)
    networks = [[name, Long(place_about(name, data.options))]
                for name in data.networks]
    return section(
        "how", "Machine, versions, options",
        paragraph(f"Begun on {escape(began)}."),
        table(["machine", ""], rows, 2), "<br>\n",
        table(["network", ""], networks, 2), "<br>\n",
        table(["option", ""], list(options_rows(data)), 2))


def papers_section(body):
    """Those that it refers to."""
    items = "".join(f'<p id="{mark}"><b>{name}</b>: {escape(text)}</p>\n'
                    for mark, name, text in PAPERS
                    if f'href="#{mark}"' in body)
    return section("papers", "Papers", items)


def lead_make(data):
    count = sum(len(point.runs) for point in data.points.values())
    sizes = " at their small sizes" if data.options.small else ""
    machine = data.sessions[-1]["machine"]
    return paragraph(
        f"{len(data.apps)} application{'s' * (len(data.apps) > 1)}{sizes} on"
        f" {', '.join(map(str, data.ranks))} ranks, over"
        f" {escape(', '.join(map(data.line_name, data.lines)))}, on the"
        f" network{'s' * (len(data.networks) > 1)}"
        f" {escape(', '.join(data.networks))}: {count} runs on"
        f" {escape(machine['host'])}, {escape(str(machine['processor']))},"
        f" {machine['cores']} cores, with {escape(machine['MPI'])}.", "lead")


def page_text(data):
    names = Names()
    sections = [
        section("short", "In short",
                tables.summary_table(data, names.next("Table"))),
        speedup_section(data, names),
        clusters_section(data, names),
        parts_section(data, names),
        switches_section(data, names),
        section("traffic", "Messages and diffs",
                tables.messages_table(data, names.next("Table")),
                tables.traffic_table(data, names.next("Table")))]
    if any(line.transport == "udp" for line in data.lines):
        sections.append(section(
            "errors", "Communication errors",
            tables.errors_table(data, names.next("Table"))))
    sections += [
        distribution_section(data, names),
        section("times", "All times",
                tables.times_table(data, names.next("Table"))),
        bad_section(data), how_section(data)]
    warnings = warnings_of(data)
    if data.bad():
        warnings.append(f"{len(data.bad())} runs failed; see the end of the"
                        " page.")
    title = f"Hearth {data.sessions[-1]['machine']['Hearth']}: a comparison"
    notes = [paragraph(f"<b>Note.</b> {escape(text)}", "warning")
             for text in warnings]
    body = "".join(sections)
    body += papers_section(body)
    return document(title, f"<h1>{escape(title)}</h1>\n" + lead_make(data) +
                    "".join(notes) + contents(body) + body)
