# SPDX-License-Identifier: BSD-2-Clause
"""The tables of the page."""
from compare.html import Bad, figure_of_table, table
from compare.plan import HAND, line_usual

NOTHING = "-"
MOCHA = '<a href="#mocha">Mocha</a>'
JIAJIA = '<a href="#jiajia">JIAJIA-SMP</a>'
HLRC = '<a href="#hlrc">HLRC</a>'
ERRORS = ("resends", "repeats", "overruns", "refused")


def number(value, places=0):
    return NOTHING if value is None else f"{value:,.{places}f}"


def speedup(value):
    if value is not None and value < 0.005:
        return "<0.01"
    return number(value, 2)


def seconds(value):
    if value is None:
        return NOTHING
    return f"{value:.3f}" if value < 100 else f"{value:.1f}"


def megabytes(value):
    return NOTHING if value is None else f"{value / 1e6:,.2f}"


def ratio(over, under, places=1):
    if over is None or not under:
        return NOTHING
    return f"{over / under:,.{places}f}"


def what_went_wrong(point):
    """Its failed runs, in a word each; empty if there are none."""
    bad = [run["status"] for run in point.runs if run["status"] != "ok"]
    return ", ".join(f"{bad.count(word)} {word}" if bad.count(word) > 1
                     else word for word in dict.fromkeys(bad))


def markdown(head, rows):
    """A table."""
    rows = [head, ["---"] * len(head)] + rows
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def where_head(data):
    """What each row begins with; one network need not be said each time."""
    some = ["network"] * (len(data.networks) > 1)
    return ["application"] + some + ["version"]


def where_cells(data, app, network, line):
    some = [network] * (len(data.networks) > 1)
    return [app] + some + [data.line_name(line)]


def where_table(data, head, rows):
    head = where_head(data) + head
    return table(head, rows, len(where_head(data)))


def times_cells(data, point, hand):
    wrong = what_went_wrong(point)
    runs = Bad(f"{len(point.times)}, {wrong}") if wrong else len(point.times)
    if not point.times:
        return [NOTHING] * 4 + [runs]
    spread = f"{seconds(min(point.times))} to {seconds(max(point.times))}"
    beside = hand.median() if hand is not None else None
    return [seconds(point.median()), spread,
            speedup(data.speedup(point)),
            ratio(point.median(), beside, 2), runs]


def times_table(data, name):
    rows = []
    for c, point in data.in_order():
        hand = data.point(c.app, c.network, HAND, c.ranks)
        rows.append(where_cells(data, c.app, c.network, c.line()) +
                    [c.ranks] + times_cells(data, point, hand))
    head = ["ranks", "median s", "least to most", "speedup", "to hand", "runs"]
    return figure_of_table(
        name, where_table(data, head, rows),
        "Seconds of the timed section: the median of the runs that were right,"
        " with the least and the most.  <i>To hand</i> is the ratio to the"
        " program written by hand in MPI on as many ranks; below 1 is faster."
        "  The first run of each was verified.")


def summary_table(data, name):
    """The median and the speedup of each version, on the most ranks."""
    head = where_head(data)[:-1]
    texts = len(head)
    head += [data.line_name(line) for line in data.lines]
    rows = []
    for app in data.apps:
        for network in data.networks:
            points = [data.most(app, network, line) for line in data.lines]
            rows.append(where_cells(data, app, network, HAND)[:-1] + [
                NOTHING if p is None else
                Bad(what_went_wrong(p) or "not run") if not p.times else
                f"{seconds(p.median())} s ({speedup(data.speedup(p))})"
                for p in points])
    return figure_of_table(
        name, table(head, rows, texts),
        f"Medians on {data.most_text()}, and in brackets the"
        f" speedup against {data.base_text()}.")


def messages_table(data, name):
    rows = []
    for app, network, line, point in data.largest():
        if point.typical is None:
            continue
        rows.append(where_cells(data, app, network, line) + [
            megabytes(point.counter("message_bytes"))] + [
            number(point.counter(name))
            for name in ("messages", "getpages", "diffs")])
    head = ["message amount, MB", "messages", "get pages", "diffs"]
    return figure_of_table(
        name, where_table(data, head, rows),
        "Messages between nodes, pages and diffs of a run on"
        f" {data.most_text()}, all ranks together.  Over udp a message is a"
        " datagram, over mpi a one-sided operation.  After Table 2 of"
        f" {JIAJIA}.")


TRAFFIC = ["diff traffic, MB", "diffs", "diff size, bytes", "intervals",
           "diffs per interval", "waits", "all traffic, MB"]


def traffic_cells(point):
    diffs, bytes_ = point.per_rank("diffs"), point.per_rank("diff_bytes")
    intervals = point.per_rank("intervals")
    return [megabytes(bytes_), number(diffs, 1), ratio(bytes_, diffs, 0),
            number(intervals, 1), ratio(diffs, intervals),
            number(point.per_rank("diff_waits"), 1),
            megabytes(point.per_rank("message_bytes"))]


def traffic_table(data, name):
    rows = []
    for app, network, line, point in data.largest():
        if point.typical is None:
            continue
        rows.append(where_cells(data, app, network, line) +
                    traffic_cells(point))
    return figure_of_table(
        name, where_table(data, TRAFFIC, rows),
        f"Diff traffic of a run on {data.most_text()}: averages of a rank."
        f"  After the table of application characteristics of {HLRC}.  The"
        " size of a diff is that of its changed bytes.  Waits are those for"
        " diffs that were on their way.")


CHANGES = ["median s", "to default", "all traffic, MB", "to default",
           "get pages", "to default"]


def change_cells(point, usual):
    """Time, and what else an option may change, against the default."""
    times, pairs = [point.median(), usual.median()], []
    for name in ("message_bytes", "getpages"):
        pairs.append([point.counter(name), usual.counter(name)])
    (bytes_, bytes_before), (pages, pages_before) = pairs
    return [seconds(times[0]), ratio(*times, 2),
            megabytes(bytes_), ratio(bytes_, bytes_before, 2),
            number(pages), ratio(pages, pages_before, 2)]


def switches_rows(data):
    """(app, network, line, point, the default's point) on the most ranks."""
    for app, network, line, point in data.largest():
        usual = data.most(app, network, line_usual(line))
        if point.typical is not None and usual.typical is not None:
            yield app, network, line, point, usual


def switches_table(data, name):
    rows = [where_cells(data, app, network, line) + change_cells(point, usual)
            for app, network, line, point, usual in switches_rows(data)]
    return figure_of_table(
        name, where_table(data, CHANGES, rows),
        f"What the options change on {data.most_text()}, all ranks"
        " together: <i>to default</i> is the ratio to the same transport with"
        f" the library's defaults.  After Table 2 of {JIAJIA}.")


def switches_text(data):
    """The same and the diffs, in Markdown."""
    head = ["application", "network", "version"] + CHANGES + TRAFFIC[:-1]
    rows = []
    for app, network, line, point, usual in switches_rows(data):
        rows.append([app, network, data.line_name(line)] +
                    change_cells(point, usual) + traffic_cells(point)[:-1])
    return (f"{data.most_text()}, all together; from diff traffic on, the"
            " average of a rank.\n\n" + markdown(head, rows))


def errors_cells(data, app, network, line):
    """None where nothing was counted."""
    points = [data.point(app, network, line, ranks) for ranks in data.ranks]
    pages = [point.page_errors() if point else None for point in points]
    if all(value is None for value in pages):
        return None
    most = data.most(app, network, line)
    others = [most.counter_mean(name) for name in ERRORS]
    return ([number(value, 2) for value in pages + others] +
            [number(most.counter_mean("messages"))])


def errors_table(data, name):
    """For the udp transport."""
    rows = []
    lines = [line for line in data.lines if line.transport == "udp"]
    for app in data.apps:
        for network in data.networks:
            for line in lines:
                cells = errors_cells(data, app, network, line)
                if cells is not None:
                    rows.append(where_cells(data, app, network, line) + cells)
    head = [f"{ranks} rank{'s' * (ranks > 1)}" for ranks in data.ranks]
    head += list(ERRORS) + ["messages"]
    return figure_of_table(
        name, where_table(data, head, rows),
        "Communication errors of a run, all ranks together; the mean of the"
        " runs.  Under the numbers of ranks: messages of page requests that"
        " were sent again for want of an answer, as in Table 3 of"
        f" {MOCHA}.  On {data.most_text()} also all that were sent again"
        " (resends), those that came again (repeats), those for which a"
        " receive buffer had no room (overruns), and those dropped as wrong"
        " (refused), beside all datagrams sent (messages).")
