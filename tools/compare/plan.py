# SPDX-License-Identifier: BSD-2-Clause
"""
Configurations, their order, and which runs are left.

Rounds: each configuration once, then each again, so that a machine whose speed
drifts does that to all of them.  The first run of a configuration verifies.
"""
import statistics
from typing import NamedTuple

CLUSTERS = "clusters"  # the network that may have several
GIVEN_UP = 2  # failures of a configuration after which it is not run again


class Line(NamedTuple):
    """Which line of a picture it is on."""

    transport: str
    consistency: str
    switch: str = ""
    clusters: int = 1


HAND = Line("none", "")


class Configuration(NamedTuple):
    app: str
    network: str
    transport: str    # none: written by hand in MPI
    consistency: str
    hosts: int        # of each cluster
    ranks: int        # of all
    switch: str = ""  # its name; empty: the library's defaults
    clusters: int = 1

    def line(self):
        return Line(self.transport, self.consistency, self.switch,
                    self.clusters)

    def all_hosts(self):
        return self.clusters * self.hosts

    def per_host(self):
        """Ranks of each host."""
        return self.ranks // self.all_hosts()

    def text(self, names=None):
        where = f"{self.hosts} host{'s' * (self.hosts > 1)}"
        if self.clusters > 1:
            where = f"{self.clusters} clusters of {where}"
        if self.ranks != self.all_hosts():
            where += f" with {self.ranks} ranks"
        return (f"{self.app} {version_name(self.line(), names)}, {where}, "
                f"{self.network}")


def version_name(line, lines=None):
    """Its consistency is worth a word where there are several."""
    if line == HAND:
        return "MPI by hand"
    name = f"Hearth {line.transport}"
    if lines is None or len({of.consistency for of in lines
                             if of != HAND}) > 1:
        name += f" {line.consistency}"
    return f"{name}, {line.switch}" if line.switch else name


def line_name(line, lines):
    """So are its clusters where some have several."""
    name = version_name(line, lines)
    if line == HAND or all(of.clusters == 1 for of in lines):
        return name
    return f"{name} in {line.clusters} cluster{'s' * (line.clusters > 1)}"


def line_usual(line):
    """The same with the library's defaults."""
    return line._replace(switch="")


def base_line(options, app):
    if options.base == "hand" and app.by_hand and not options.no_hand:
        return HAND
    return Line(options.transports[0], options.consistency[0])


def configuration_make(app, network, line, hosts, per):
    return Configuration(app.name, network, line.transport, line.consistency,
                         hosts, line.clusters * hosts * per, line.switch,
                         line.clusters)


def base_configuration(options, app):
    return configuration_make(app, options.networks[0],
                              base_line(options, app), 1, 1)


def cluster_numbers(options, networks):
    """Over how many clusters there are runs on these networks."""
    return sorted({number for network in networks for number in
                   (options.clusters if network == CLUSTERS else [1])})


def lines_make(options, app, network):
    """By hand there is one cluster: that is where MPI ends."""
    numbers = cluster_numbers(options, [network])
    switches = [""] + [switch.name for switch in options.switches]
    lines = [Line(t, c, s, n) for n in numbers for t in options.transports
             for c in options.consistency for s in switches]
    by_hand = app.by_hand and not options.no_hand and 1 in numbers
    return lines + [HAND] * by_hand


def configurations_make(options, apps):
    made = []
    for app in apps:
        made.append(base_configuration(options, app))
        made += [configuration_make(app, network, line, hosts,
                                    options.ranks_per_host)
                 for network in options.networks for hosts in options.hosts
                 for line in lines_make(options, app, network)]
    return list(dict.fromkeys(made))  # the base is one of them, mostly


class Plan:
    """What is done and what is left; told of each run by add()."""

    def __init__(self, configurations, repeat):
        self.configurations = configurations
        self.repeat = repeat
        self.runs = {c: [] for c in configurations}

    def add(self, configuration, record):
        self.runs[configuration].append(record)

    def hopeless(self, configuration):
        runs = self.runs[configuration]
        bad = [run["status"] for run in runs if run["status"] != "ok"]
        return len(bad) >= GIVEN_UP or "refused" in bad

    def left(self):
        """Runs that are left, in order, as (round, configuration)."""
        return [(turn, c) for turn in range(1, self.repeat + 1)
                for c in self.configurations
                if len(self.runs[c]) < turn and not self.hopeless(c)]

    def verify(self, configuration):
        """Until one run of it has been verified."""
        return all(run["status"] != "ok" for run in self.runs[configuration])

    def done(self):
        return sum(len(runs) for runs in self.runs.values())

    def bad(self):
        return [(c, run) for c, runs in self.runs.items() for run in runs
                if run["status"] != "ok"]

    def seconds_expected(self, configuration):
        """From its own runs, those of the application, or all; else None."""
        def walls(chosen):
            return [run["wall"] for c in chosen for run in self.runs[c]]

        alike = [c for c in self.configurations if c.app == configuration.app]
        for chosen in ([configuration], alike, self.configurations):
            if walls(chosen):
                return statistics.median(walls(chosen))
        return None

    def seconds_left(self):
        expected = [self.seconds_expected(c) for _, c in self.left()]
        return None if None in expected else sum(expected)
