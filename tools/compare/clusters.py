# SPDX-License-Identifier: BSD-2-Clause
"""What runs over several clusters take, beside what they took in the paper."""
from compare.html import Bad, figure_of_table, section, table
from compare.machine import warnings_of
from compare.plan import CLUSTERS, HAND
from compare.tables import (NOTHING, markdown, number, ratio, seconds, speedup,
                            what_went_wrong)

# Nanri and others, Table 4: seconds of an LU decomposition of 1200 rows, by
# clusters and nodes of each; and those of a serial program.
NANRI = '<a href="#nanri">Nanri and others</a>'
ROWS = "1200"
ELAPSED = {(1, 1): 42.463, (1, 2): 21.675, (1, 3): 14.721,
           (2, 1): 23.801, (2, 2): 14.275, (2, 3): 11.707}
SERIAL = 32.878
FAR = ("far_requests", "far_messages", "far_pages", "far_kept")


def paper_base(data):
    """What its speedups are against, if they are to be like ours."""
    return SERIAL if data.bases["lu"].line() == HAND else ELAPSED[1, 1]


def paper_elapsed(c, point):
    """Its time of such a run; None if it has none."""
    if (c.app != "lu" or c.network != CLUSTERS or c.per_host() != 1 or
            not point.good or point.good[0]["result"].get("size") != ROWS):
        return None
    if c.line() == HAND:
        return SERIAL if c.ranks == 1 else None
    return ELAPSED.get((c.clusters, c.hosts))


def paper_curves(data, app, network):
    """By name, (ranks, speedup) of the paper's runs that are like ours."""
    found = {}
    for c, point in data.in_order():
        elapsed = paper_elapsed(c, point)
        if (c.app, c.network) == (app, network) and elapsed and (
                c.line() != HAND):
            name = f"paper, {c.clusters} cluster{'s' * (c.clusters > 1)}"
            found.setdefault(name, {})[c.ranks] = paper_base(data) / elapsed
    return {name: sorted(rows.items()) for name, rows in found.items()}


def paper_cells(data, c, point):
    elapsed = paper_elapsed(c, point)
    if elapsed is None:
        return [NOTHING, NOTHING]
    return [seconds(elapsed), speedup(paper_base(data) / elapsed)]


HEAD = ["clusters", "hosts of each", "ranks", "median s", "speedup"]
PAPER_HEAD = ["paper, s", "its speedup"]
COST_HEAD = ["communication", "far requests", "far messages", "requests each",
             "far pages", "far kept"]


def cost_cells(point):
    share = point.communication()
    requests, messages, pages, kept = map(point.counter, FAR)
    return [NOTHING if share is None else f"{share:.0%}", number(requests),
            number(messages), ratio(requests, messages), number(pages),
            number(kept)]


def time_cells(data, point):
    if not point.times:
        return [Bad(what_went_wrong(point)), NOTHING]
    return [seconds(point.median()), speedup(data.speedup(point))]


def points_of(data):
    """What was run there: each version over more and more clusters."""
    points = [(c, point) for c, point in data.in_order()
              if c.network == CLUSTERS]
    order = list(dict.fromkeys((c.app, data.version_name(c.line()))
                               for c, _ in points))
    return sorted(points, key=lambda pair: order.index(
        (pair[0].app, data.version_name(pair[0].line()))))


def rows_make(data):
    """The head, and a row for each configuration that was run."""
    points = points_of(data)
    beside = any(paper_elapsed(c, point) for c, point in points)
    rows = []
    for c, point in points:
        crowd = "*" * (c.ranks > data.cores)
        rows.append([c.app, data.version_name(c.line()), c.clusters, c.hosts,
                     f"{c.ranks}{crowd}"] + time_cells(data, point) +
                    paper_cells(data, c, point) * beside + cost_cells(point))
    head = (["application", "version"] + HEAD + PAPER_HEAD * beside +
            COST_HEAD)
    return head, rows, beside


def about_text(data, nanri, beside):
    """In words, with that name for the paper."""
    text = (f"Speedups are against {data.base_text()}.  Communication is the"
            " part of a rank's time, on average of all ranks, that is not"
            " computation: page faults, synchronisation, in which ranks also"
            " wait for slower ones, and service for others.  Of all gateways"
            " together: requests that went to other clusters, the messages"
            " that they were gathered in, the pages in those requests, and"
            " pages that did not have to come, because the gateway had kept"
            " them for another rank.  One cluster is a job without a gateway;"
            " MPI by hand ends where a cluster does.")
    if beside:
        text += (f"  Beside them Table 4 of {nanri}: LU of {ROWS} rows on PCs"
                 " of 200 MHz, one process on each, against"
                 f" {paper_base(data)} s; the 2.8 of its text is against its"
                 f" serial program, {SERIAL} s.")
    if max(data.ranks) > data.cores:
        text += (f"  * More ranks than cores, of which there are {data.cores}:"
                 " they take turns.")
    return text


def clusters_section(data, names):
    if CLUSTERS not in data.networks:
        return ""
    head, rows, beside = rows_make(data)
    return section("clusters", "Clusters", figure_of_table(
        names.next("Table"), table(head, rows, 2),
        about_text(data, NANRI, beside) +
        f"  In the form of Table 4 of {NANRI}." * (not beside)))


def clusters_text(data):
    """The same in Markdown."""
    head, rows, beside = rows_make(data)
    notes = [about_text(data, "Nanri and others", beside)] + warnings_of(data)
    return "\n\n".join(notes) + "\n\n" + markdown(head, rows)
