# SPDX-License-Identifier: BSD-2-Clause
"""What the gateways are joined by: a device of each, and hearth-wire."""
import os
import subprocess
from typing import NamedTuple

from launch.trouble import Trouble, Wrong
from launch.words import BITS, duration, rate, wrong

DEVICE = "wan"


class Link(NamedTuple):
    bits: float   # a second; 0: any number
    delay: float  # seconds, each way

    def text(self):
        """As it is parsed."""
        unit = next((unit for unit in ("gbit", "mbit", "kbit")
                     if self.bits >= BITS[unit]), None)
        bits = "none" if unit is None else f"{self.bits / BITS[unit]:g}{unit}"
        return f"{bits},{self.delay * 1e3:g}ms"


def link_parse(text):
    """RATE,DELAY."""
    parts = text.split(",")
    if len(parts) != 2:
        wrong(f"'{text}' is not of the form RATE,DELAY, such as 1gbit,0.1ms")
    made = Link(rate(parts[0]), duration(parts[1]))
    if made.delay > 10:
        wrong(f"{text}: a delay of more than 10s")
    return made


LINK = link_parse("1gbit,0.1ms")


def wire_find(built):
    """Beside this program in a build folder, else where it was installed."""
    for folder in (built.programs, built.helpers):
        path = os.path.join(folder, "hearth-wire")
        if os.access(path, os.X_OK):
            return path
    raise Wrong(f"there is no hearth-wire in {built.helpers}")


def tun_check():
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as problem:
        raise Wrong(f"the link needs /dev/net/tun: {problem.strerror}")


class Wire:
    def __init__(self, built, clusters, link, cut=None):
        self.clusters = clusters
        self.command = [wire_find(built)]
        self.command += [f"{number:.9f}" for number in (*link,
                                                        *(cut or (0, 1)))]
        self.command += [cluster.host(0) for cluster in clusters]
        self.process = None

    def up(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        if self.process.stdout.readline() != "up\n":
            self.process.wait()
            self.check()
        for cluster in self.clusters:
            # The queue has room for the window of a long fat link.
            cluster.call(0, "ip", "link", "set", "dev", DEVICE, "addrgenmode",
                         "none", "txqueuelen", "4096", "up")
            cluster.join(DEVICE, 24)

    def check(self):
        """The link is there, or this is trouble."""
        if self.process is not None and self.process.poll() is not None:
            said = self.process.stderr.read().strip() or "no reason given"
            raise Trouble(f"the link has ended: {said}")

    def down(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
