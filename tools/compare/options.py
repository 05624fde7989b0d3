# SPDX-License-Identifier: BSD-2-Clause
"""The command line, checked before anything runs."""
import argparse
import os
import re
import shlex

from compare.plan import CLUSTERS
from compare.switches import switches_join, switches_parse
from launch.clusters import MOST_CLUSTERS, MOST_HOSTS
from launch.link import LINK, link_parse
from launch.trouble import Trouble, Wrong
from launch.words import Parser, different, number

TRANSPORTS = ("mpi", "udp")
CONSISTENCIES = ("release", "scope")
MOST_RANKS = 1024

ABOUT = """\
Runs Hearth's applications over each transport, number of hosts and network
that is named, beside the same problems written by hand in MPI, and writes
index.html (self-contained), runs.csv and results.json.  Stopped, it goes on
where it was when the same command is given again; see hearth-compare(1).
"""


def choice_list(choices):
    def parse(text):
        for word in different(text):
            if word not in choices:
                raise argparse.ArgumentTypeError(
                    f"'{word}' is not one of {', '.join(choices)}")
        return different(text)
    return parse


def numbers(text):
    return sorted(number(word) for word in different(text))


def network(text):
    """fast, real, gigabit, gigabit:loss=PERCENT or clusters."""
    if text in ("fast", "real", "gigabit", CLUSTERS):
        return text
    loss = re.fullmatch(r"gigabit:loss=([0-9]+(\.[0-9])?)", text)
    if loss and 0 < float(loss.group(1)) <= 50:
        return text
    if loss:
        raise argparse.ArgumentTypeError(
            f"{text}: the loss is not within 0.1 and 50 percent")
    raise argparse.ArgumentTypeError(
        f"unknown network '{text}'; there are fast, gigabit,"
        " gigabit:loss=PERCENT, clusters and real")


def networks(text):
    return [network(word) for word in different(text)]


def application_arguments(text):
    """APP=WORDS, quoted as in a shell."""
    app, equals, rest = text.partition("=")
    if not equals or not app:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not of the form APP=ARGUMENTS")
    try:
        return app, shlex.split(rest)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"'{text}': {problem}")


def parser_make(built):
    p = Parser(prog="hearth-compare", description=ABOUT, allow_abbrev=False,
               formatter_class=argparse.RawDescriptionHelpFormatter)
    add = p.add_argument
    add("--apps", type=different, metavar="LIST", default=["all"],
        help="applications, or all (all)")
    add("--transports", type=choice_list(TRANSPORTS), metavar="LIST",
        default=list(TRANSPORTS), help="mpi, udp (mpi,udp)")
    add("--consistency", type=choice_list(CONSISTENCIES), metavar="LIST",
        default=["release"], help="release, scope (release)")
    add("--switch", type=switches_parse, action="append", metavar="WORDS",
        default=[], help="an option of the library that is compared with its"
        " default: OPTION=VALUE[,VALUE...], or several together under a"
        " name: 'NAME: OPTION=VALUE OPTION=VALUE'; may be repeated")
    add("--hosts", type=numbers, metavar="LIST", default=[1, 2, 4],
        help="numbers of hosts, of each cluster (1,2,4)")
    add("--ranks-per-host", type=number, metavar="N", default=1,
        help="ranks on each host (1)")
    add("--networks", type=networks, metavar="LIST", default=["fast"],
        help="fast, gigabit, gigabit:loss=PERCENT, clusters, real (fast)")
    add("--clusters", type=numbers, metavar="LIST",
        help="for network clusters: numbers of clusters (1,2)")
    add("--link", type=link_parse, metavar="RATE,DELAY",
        help="for network clusters: the link between gateways, as of"
             f" hearth-cluster ({LINK.text()})")
    add("--hostfile", metavar="FILE",
        help="the hosts of network real, a line each")
    add("--launcher", metavar="COMMAND", default=None,
        help="for network real: the launcher of Hearth's MPI, or srun"
             f" ({built.launcher or 'none'}; srun within a job of Slurm)")
    add("--repeat", type=number, metavar="N", default=5,
        help="runs of each, of which medians count (5)")
    add("--small", action="store_true",
        help="the applications' small sizes")
    add("--arguments", type=application_arguments, action="append",
        metavar="APP=WORDS", default=[],
        help="more arguments for an application")
    add("--no-hand", action="store_true",
        help="leave out the programs written by hand in MPI")
    add("--base", choices=("hearth", "hand"), default="hearth",
        help="speedups are against one rank of Hearth, or of the program"
             " written by hand where there is one (hearth)")
    add("--timeout", type=number, metavar="SECONDS", default=600,
        help="a run that takes longer has hung (600)")
    add("--programs", metavar="FOLDER", default=built.programs,
        help="where hearth-NAME are (beside hearth-compare)")
    add("--out", metavar="FOLDER", help="where to write")
    add("--list", action="store_true", help="list the applications")
    add("--version", action="version",
        version=f"hearth-compare (hearth {built.version})")
    return p


def hosts_read(path):
    """The names in a file of hosts: the first word of each line, without the
    number of slots that MPICH writes after a colon."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.split("#")[0].split() for line in file]
    except (OSError, UnicodeDecodeError) as problem:
        raise Wrong(f"--hostfile {path}: "
                    f"{getattr(problem, 'strerror', None) or 'not a text'}")
    names = [line[0].split(":")[0] for line in lines if line]
    if len(set(names)) < len(names):
        raise Wrong(f"--hostfile {path} names a host twice")
    return names


def real_check(options):
    if options.hostfile is None:
        raise Wrong("network real needs --hostfile")
    options.real_hosts = hosts_read(options.hostfile)
    if len(options.real_hosts) < max(options.hosts):
        raise Wrong(f"{max(options.hosts)} hosts are asked for, and "
                    f"{options.hostfile} has {len(options.real_hosts)}")
    if options.launcher is None:
        options.launcher = "srun" if "SLURM_JOB_ID" in os.environ else ""


def clusters_check(options):
    """Without several there is one of each other network."""
    if CLUSTERS not in options.networks:
        if options.clusters or options.link:
            raise Wrong("--clusters and --link are for network clusters")
        options.clusters = [1]
        return
    options.clusters = options.clusters or [1, 2]
    most = max(options.clusters)
    if most > MOST_CLUSTERS:
        raise Wrong(f"--clusters {most}: {MOST_CLUSTERS} are the most")
    if most == 1 and options.link:
        raise Wrong("--link is for more than one cluster")
    options.link = options.link or LINK


def size_check(options):
    hosts, clusters = max(options.hosts), max(options.clusters)
    ranks = clusters * hosts * options.ranks_per_host
    if ranks > MOST_RANKS:
        of = f"--clusters {clusters} of " * (clusters > 1)
        raise Wrong(f"{of}--hosts {hosts} makes {ranks} ranks; {MOST_RANKS}"
                    " are the most")
    beds = [n for n in options.networks
            if n.startswith("gigabit") or n == CLUSTERS]
    if beds and hosts > MOST_HOSTS:
        raise Wrong(f"--hosts {hosts}: network {beds[0]} has {MOST_HOSTS}")


def options_check(options):
    options.programs = os.path.abspath(options.programs)
    options.switches = switches_join(options.switch)
    if options.out is None and not options.list:
        raise Wrong("--out is needed; see hearth-compare --help")
    clusters_check(options)
    size_check(options)
    options.real_hosts = []
    if "real" in options.networks:
        real_check(options)
    elif options.hostfile is not None or options.launcher is not None:
        raise Wrong("--hostfile and --launcher are for network real")


def options_read(built, words_given=None):
    options = parser_make(built).parse_args(words_given)
    options_check(options)
    if not built.launcher and not options.list:
        raise Trouble("Hearth was built without an MPI launcher")
    return options


def options_identity(options, settings):
    """What must be the same for a comparison to go on: all that has a part in
    the numbers, and not how often and how patiently."""
    same = ("apps", "transports", "consistency", "hosts", "ranks_per_host",
            "networks", "real_hosts", "launcher", "small", "arguments",
            "no_hand", "base", "programs")
    identity = {name: getattr(options, name) for name in same}
    identity["environment"] = settings
    if options.switches:
        identity["switches"] = options.switches
    if CLUSTERS in options.networks:
        identity["clusters"] = options.clusters
        identity["link"] = options.link.text()
    return identity
