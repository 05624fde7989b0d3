# SPDX-License-Identifier: BSD-2-Clause
"""
Options of the library that are compared with what it does by default: the
words of --switch, and whether the library takes them.

A switch is a name for the page and the variables that are set for its runs.
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
from typing import NamedTuple

from compare.machine import OURS
from launch.trouble import Trouble, Wrong

PREFIX = "HEARTH_"


class Switch(NamedTuple):
    name: str
    settings: dict


def option_parse(word, text):
    """OPTION=VALUE[,VALUE...]: the variable, and its values."""
    name, equals, values = word.partition("=")
    name = name.upper()
    if not name.startswith(PREFIX):
        name = PREFIX + name
    values = values.split(",")
    if not re.fullmatch(PREFIX + "[A-Z0-9_]+", name) or not equals:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not of the form [NAME:] OPTION=VALUE[,VALUE...]")
    if "" in values:
        raise argparse.ArgumentTypeError(f"'{text}': {word} is without value")
    if name in OURS:
        raise argparse.ArgumentTypeError(
            f"'{text}': {name} is set by hearth-compare itself")
    return name, values


def switches_parse(text):
    """One of several options together, or one for each value of an option."""
    label, colon, rest = text.rpartition(":") if re.match(
        "[^=:]*:", text) else ("", "", text)
    label = label.strip()
    try:
        words = shlex.split(rest)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"'{text}': {problem}")
    given = [option_parse(word, text) for word in words]
    if not given or (colon and not label):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not of the form [NAME:] OPTION=VALUE[,VALUE...]")
    if len({name for name, _ in given}) < len(given):
        raise argparse.ArgumentTypeError(f"'{text}' names an option twice")
    if (label or len(given) > 1) and any(len(v) > 1 for _, v in given):
        raise argparse.ArgumentTypeError(
            f"'{text}': several values are for one option without a name")
    if label or len(given) > 1:
        settings = {name: values[0] for name, values in given}
        return [Switch(label or settings_text(settings), settings)]
    name, values = given[0]
    return [Switch(settings_text({name: value}), {name: value})
            for value in values]


def settings_text(settings):
    return " ".join(f"{name.removeprefix(PREFIX)}={value}"
                    for name, value in settings.items())


def switches_join(given):
    """All of a command line, in order."""
    switches = [switch for some in given for switch in some]
    names = [switch.name for switch in switches]
    for name in names:
        if names.count(name) > 1:
            raise Wrong(f"--switch: two are named '{name}'")
    return switches


def complaint_find(said, switch):
    """What the library says of one of its variables; empty if nothing."""
    for line in said.splitlines():
        if line.startswith("hearth: ") and any(
                re.search(rf"\b{name}\b", line) for name in switch.settings):
            return line.removeprefix("hearth: ").removeprefix(
                "hearth_init: ")
    return ""


def switch_try(built, switch, transport):
    """Have the library read it, as it does at the start of a program."""
    info = os.path.join(built.programs, "hearth-info")
    if not os.path.exists(info):
        raise Trouble(f"there is no {info}, which says what --switch may name")
    environment = {**os.environ, "MPIEXEC": built.launcher,
                   "MPI_FLAVOUR": built.mpi, **switch.settings,
                   "HEARTH_TRANSPORT": transport}
    done = subprocess.run(
        ["sh", os.path.join(built.data, "run-mpi"), "--once", "60", "1", info,
         "--probe"], env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace")
    return complaint_find(done.stdout, switch)


def switches_check(built, switches, transports):
    """Before anything runs: does the library know these, and these values?"""
    pairs = [(s, t) for s in switches for t in transports]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda p: switch_try(built, *p), pairs))
    for (switch, _), complaint in zip(pairs, said):
        if complaint:
            raise Wrong(f"--switch {switch.name}: {complaint}")
