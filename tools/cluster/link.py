# SPDX-License-Identifier: BSD-2-Clause
"""What the gateways are joined by: a device of each, and hearth-wire."""
import subprocess

from cluster.needs import wire_find
from launch.trouble import Trouble

DEVICE = "wan"


class Wire:
    def __init__(self, built, options, clusters):
        self.clusters = clusters
        cut = options.cut or (0, 1)
        self.command = [wire_find(built)]
        self.command += [f"{number:.9f}" for number in (*options.link, *cut)]
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
