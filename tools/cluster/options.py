# SPDX-License-Identifier: BSD-2-Clause
"""The command line."""
import argparse
import re
from typing import NamedTuple

from launch.clusters import MOST_CLUSTERS, MOST_HOSTS
from launch.link import LINK, link_parse
from launch.trouble import Wrong
from launch.words import (Parser, different, duration, number, rate, words,
                          wrong)

MPIS = ("openmpi", "mpich")

ABOUT = """\
Starts clusters of test hosts on this machine, and a program over them.  Each
cluster has a private network, of the same addresses as the others'; its first
host is its gateway, and the gateways are joined by a link.  CLUSTERS is 2x3 for
two clusters of three hosts, 3,2 for one of three and one of two.  Options may
stand before and after CLUSTERS; what follows PROGRAM is for the program.  See
hearth-cluster(1).
"""


class Cut(NamedTuple):
    seconds: float
    every: float


def lan(text):
    rate(text)
    return "" if text == "none" else text


def cut(text):
    parts = text.split("/")
    if len(parts) != 2:
        wrong(f"'{text}' is not of the form 5s/20s")
    made = Cut(*map(duration, parts))
    if not 0 < made.seconds < made.every:
        wrong(f"'{text}' is not a part of the time")
    return made


def clusters(text):
    """The numbers of hosts: [3, 3] for 2x3, [3, 2] for 3,2."""
    hosts = []
    for part in text.split(","):
        found = re.fullmatch("(([1-9][0-9]{0,2})x)?([1-9][0-9]{0,5})", part)
        if not found:
            wrong(f"'{text}' is not of the form 2x3 or 3,2")
        hosts += [int(found.group(3))] * int(found.group(2) or 1)
    if len(hosts) > MOST_CLUSTERS:
        wrong(f"{text}: {MOST_CLUSTERS} clusters are the most")
    if max(hosts) > MOST_HOSTS:
        wrong(f"{text}: {MOST_HOSTS} hosts of a cluster are the most")
    return hosts


def names(text):
    for name in different(text):
        if not re.fullmatch("[a-z][a-z0-9-]{0,30}", name):
            wrong(f"'{name}' is not a name of lower-case letters, digits and"
                  " hyphens")
    return different(text)


def mpis(text):
    for name in words(text):
        if name not in MPIS:
            wrong(f"'{name}' is not one of {', '.join(MPIS)}")
    return words(text)


def numbers(text):
    return [number(word) for word in words(text)]


def variable(text):
    """[CLUSTER:]NAME=VALUE, as (cluster or nothing, name, value)."""
    found = re.fullmatch("(?:([a-z][a-z0-9-]*):)?([A-Za-z_][A-Za-z0-9_]*)"
                         "=(.*)", text, re.DOTALL)
    return found.groups() if found else wrong(
        f"'{text}' is not of the form NAME=VALUE or CLUSTER:NAME=VALUE")


def program_for(text):
    mpi, equals, path = text.partition("=")
    if not equals or not path or mpi not in MPIS:
        wrong(f"'{text}' is not of the form MPI=PROGRAM, such as mpich=./prog")
    return mpi, path


def parser_make(built):
    p = Parser(prog="hearth-cluster", description=ABOUT, allow_abbrev=False,
               usage="hearth-cluster [OPTION]... CLUSTERS [OPTION]... PROGRAM"
               " [ARGUMENT]...",
               formatter_class=argparse.RawDescriptionHelpFormatter)
    add = p.add_argument
    add("--link", type=link_parse, metavar="RATE,DELAY",
        help="the link between gateways: bits a second, or none, and how late"
        " they are each way (1gbit,0.1ms)")
    add("--cut", type=cut, metavar="TIME/EVERY",
        help="the link is cut for so long at the end of each such time, as in"
        " 5s/20s")
    add("--lan", type=lan, metavar="RATE", default="1gbit",
        help="each host's line in its cluster, or none (1gbit)")
    add("--mpi", type=mpis, metavar="LIST", default=[built.mpi],
        help="openmpi or mpich, one for all clusters, or one for each"
        f" ({built.mpi})")
    add("--program-for", type=program_for, metavar="MPI=PROGRAM",
        action="append", default=[],
        help="PROGRAM as built with that MPI; %%m in PROGRAM does it, too: it"
        " is replaced by the MPI's name")
    add("--ranks-per-host", type=numbers, metavar="LIST", default=[1],
        help="ranks on each host, a number for all clusters, or one for each"
        " (1)")
    add("--env", type=variable, metavar="[CLUSTER:]NAME=VALUE",
        action="append", default=[],
        help="a variable of the program, in all clusters or in one; those that"
        " are there are handed on")
    add("--names", type=names, metavar="LIST",
        help="the clusters' names (c0,c1,...)")
    add("--label", action="store_true",
        help="begin each line of output with its cluster's name")
    add("--grace", type=duration, metavar="TIME", default=10.0,
        help="what others have to end in when one cluster has failed (10s)")
    add("--version", action="version",
        version=f"hearth-cluster (hearth {built.version})")
    add("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return p


def each(values, n, option):
    """One value for all, or one for each of n."""
    if len(values) not in (1, n):
        raise Wrong(f"{option}: {len(values)} for {n} clusters")
    return values * n if len(values) == 1 else values


def options_check(options):
    n = len(options.hosts)
    options.mpi = each(options.mpi, n, "--mpi")
    options.ranks_per_host = each(options.ranks_per_host, n,
                                  "--ranks-per-host")
    if options.names is None:
        options.names = [f"c{i}" for i in range(n)]
    if len(options.names) != n:
        raise Wrong(f"--names: {len(options.names)} for {n} clusters")
    for name, _, _ in options.env:
        if name is not None and name not in options.names:
            raise Wrong(f"--env {name}:...: there is no cluster of that name")
    if n == 1 and (options.link or options.cut):
        raise Wrong("--link and --cut are for more than one cluster")
    options.link = options.link or LINK


def options_read(built, words_given=None):
    """A first parse ends at CLUSTERS, a second at PROGRAM."""
    parser = parser_make(built)
    options = parser.parse_args(words_given)
    if not options.rest:
        raise Wrong("no clusters are named; see hearth-cluster --help")
    try:
        options.hosts = clusters(options.rest[0])
    except argparse.ArgumentTypeError as problem:
        raise Wrong(str(problem))
    parser.parse_args(options.rest[1:], options)
    if not options.rest:
        raise Wrong("no program is named; see hearth-cluster --help")
    options.program, *options.arguments = options.rest
    options_check(options)
    return options
