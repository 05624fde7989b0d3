# SPDX-License-Identifier: BSD-2-Clause
"""Medians, speedups, parts of the time, counters: all numbers of the page."""
import statistics

from compare.plan import (HAND, base_configuration, cluster_numbers, line_name,
                          version_name)

PARTS = ("computation", "page fault", "explicit access", "synchronisation",
         "service")
DISTRIBUTIONS = ("diff_bytes", "interval_us", "burst")
PAGE_MESSAGES = ("GETP", "GETPGRANT")


class Point:
    """The runs of one configuration."""

    def __init__(self, configuration, runs):
        self.configuration = configuration
        self.runs = runs
        self.good = [run for run in runs if run["status"] == "ok"]
        self.times = [run["seconds"] for run in self.good]
        self.typical = self.typical_find()

    def median(self):
        return statistics.median(self.times) if self.times else None

    def typical_find(self):
        """The run whose counters stand for all: the one with the median time,
        of those that did not verify, because that is work too."""
        counted = [run for run in self.good if run.get("stats")]
        plain = [run for run in counted if not run["verify"]] or counted
        if not plain:
            return None
        plain.sort(key=lambda run: run["seconds"])
        return plain[(len(plain) - 1) // 2]

    def counter(self, name):
        """Summed over ranks; None where it is not known."""
        if self.typical is None:
            return None
        return self.typical["stats"].get("sum", {}).get(name)

    def counter_mean(self, name):
        """Over runs, as Mocha's Table 3 has it."""
        values = [run["stats"].get("sum", {}).get(name) for run in self.good
                  if run.get("stats")]
        values = [v for v in values if v is not None]
        return statistics.mean(values) if values else None

    def per_rank(self, name):
        value = self.counter(name)
        return None if value is None else value / self.configuration.ranks

    def page_errors(self):
        """Messages of page requests that were sent again, over runs: what
        Mocha's Table 3 has."""
        counted = [run["stats"].get("rank", []) for run in self.good
                   if run.get("stats")]
        sent = [sum(rank.get("messages", {}).get(name, {}).get("resent", 0)
                    for rank in ranks for name in PAGE_MESSAGES)
                for ranks in counted]
        return statistics.mean(sent) if sent else None

    def parts(self):
        """Seconds of a rank, on average, for each of PARTS; or None.  What is
        none of the others is computation."""
        spent = {name: self.per_rank(name + "_ns")
                 for name in ("fault", "lock", "barrier", "explicit",
                              "service")}
        if self.typical is None or spent["fault"] is None:
            return None
        total = self.seconds_counted()
        if total is None:
            return None
        fault = spent["fault"] / 1e9
        asked = (spent["explicit"] or 0) / 1e9
        waits = ((spent["lock"] or 0) + (spent["barrier"] or 0)) / 1e9
        service = (spent["service"] or 0) / 1e9
        rest = max(0.0, total - fault - asked - waits - service)
        return dict(zip(PARTS, (rest, fault, asked, waits, service)))

    def communication(self):
        """The share of the time that is not computation; or None."""
        parts = self.parts()
        if parts is None or sum(parts.values()) == 0:
            return None
        return 1 - parts["computation"] / sum(parts.values())

    def seconds_counted(self):
        """Of a rank, on average: the time that the counters are of."""
        stats = self.typical["stats"]
        ranks = [rank["seconds"] for rank in stats.get("rank", [])
                 if "seconds" in rank]
        return statistics.mean(ranks) if ranks else stats.get("seconds")

    def distribution(self, name):
        """Counts by lower bound, of all ranks; empty where not known.  Bounds
        are powers of two, and those in between are there with 0."""
        counts = {}
        ranks = self.typical["stats"].get("rank", []) if self.typical else []
        for rank in ranks:
            for low, count in rank.get("distributions", {}).get(name, []):
                counts[low] = counts.get(low, 0) + count
        low = min((low for low in counts if low > 0), default=0)
        while 0 < low < max(counts):
            low *= 2
            counts.setdefault(low, 0)
        return dict(sorted(counts.items()))


class Data:
    """The comparison, as the page wants it."""

    def __init__(self, plan, apps, state, options):
        self.options = options
        self.done, self.left = plan.done(), len(plan.left())
        self.identity = state.identity
        self.sessions = [record["session"] for record in state.records
                         if "session" in record]
        self.cores = min(s["machine"]["cores"] for s in self.sessions)
        self.apps = {app.name: app for app in apps}
        self.configurations = plan.configurations
        self.points = {c: Point(c, plan.runs[c]) for c in plan.configurations}
        self.bases = {app.name: base_configuration(options, app)
                      for app in apps}
        self.lines = list(dict.fromkeys(
            c.line() for c in sorted(plan.configurations,
                                     key=lambda c: c.line() == HAND)))
        self.networks = options.networks
        self.clusters = cluster_numbers(options, options.networks)
        self.ranks = sorted({self.ranks_of(clusters, hosts)
                             for clusters in self.clusters
                             for hosts in options.hosts})

    def ranks_of(self, clusters, hosts):
        return clusters * hosts * self.options.ranks_per_host

    def line_name(self, line):
        return line_name(line, self.lines)

    def version_name(self, line):
        """Without its clusters."""
        return version_name(line, self.lines)

    def base_text(self):
        """What speedups are against, in words."""
        names = list(dict.fromkeys(self.version_name(c.line())
                                   for c in self.bases.values()))
        return (f"one rank of {', or without that '.join(names)}, "
                f"on network {self.networks[0]}")

    def point(self, app, network, line, ranks):
        """None where that was not asked for."""
        for c, point in self.points.items():
            if (c.app, c.network, c.line(), c.ranks) == (
                    app, network, line, ranks) and c.ranks in self.ranks:
                return point
        return None

    def most(self, app, network, line):
        """On the most ranks; None where that was not asked for."""
        found = (self.point(app, network, line, ranks)
                 for ranks in reversed(self.ranks))
        return next((point for point in found if point is not None), None)

    def most_text(self):
        """How many ranks these are."""
        most = {clusters: self.ranks_of(clusters, self.options.hosts[-1])
                for clusters in self.clusters}
        if len(most) == 1:
            return f"{self.ranks[-1]} ranks"
        return " or ".join(
            f"{ranks} ranks of {clusters} cluster{'s' * (clusters > 1)}"
            for clusters, ranks in most.items())

    def speedup(self, point, seconds=None):
        """Of the median, or of a time of the same configuration."""
        base = self.points[self.bases[point.configuration.app]].median()
        seconds = point.median() if seconds is None else seconds
        return base / seconds if base and seconds else None

    def curve(self, app, network, line):
        """(ranks, speedup, least, most) where there are runs."""
        found = []
        for ranks in self.ranks:
            point = self.point(app, network, line, ranks)
            if point is not None and self.speedup(point):
                found.append((ranks, self.speedup(point),
                              self.speedup(point, max(point.times)),
                              self.speedup(point, min(point.times))))
        return found

    def in_order(self):
        """All that was run, each version on more and more ranks."""
        apps = list(self.apps)
        return sorted(
            ((c, point) for c, point in self.points.items() if point.runs),
            key=lambda pair: (apps.index(pair[0].app),
                              self.networks.index(pair[0].network),
                              self.lines.index(pair[0].line()),
                              pair[0].ranks))

    def largest(self):
        """(app, network, line, point) on the most ranks; Hearth's only."""
        for app in self.apps:
            for network in self.networks:
                for line in self.lines:
                    point = self.most(app, network, line)
                    if line != HAND and point is not None:
                        yield app, network, line, point

    def bad(self):
        return [(c, run) for c, point in self.points.items()
                for run in point.runs if run["status"] != "ok"]
