# SPDX-License-Identifier: BSD-2-Clause
"""
Test hosts on this machine: network namespaces, joined by links of some rate.

The scripts of the tests make them, testbed/hosts, and start jobs on them,
testbed/run.
"""
import os
import shutil
import subprocess

from launch.trouble import Trouble

TOOLS = ("ip", "tc", "unshare", "bash", "hostname")


def bed_lack(mpi, tools=TOOLS):
    """What there is not for test hosts, or nothing."""
    if mpi not in ("openmpi", "mpich"):
        return "this MPI's way to name hosts is not known"
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in tools:
        if shutil.which(tool) is None:
            return f"there is no {tool}"
    return ""


class Bed:
    """Hosts whose namespaces have names that begin with this one."""

    def __init__(self, data, name):
        self.name = name
        self.data = data
        self.script = os.path.join(data, "testbed", "hosts")

    def call(self, *words):
        """Run the hosts script out of the terminal's reach."""
        return subprocess.run(
            ["bash", self.script, *words], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True,
            env={**os.environ, "MPI_TESTBED": self.name})

    def up(self, hosts, rate, loss=""):
        made = self.call("up", str(hosts), rate, loss)
        if made.returncode != 0:
            said = made.stdout.strip().splitlines() or ["no reason given"]
            raise Trouble(f"no test hosts here: {said[-1]}")

    def end(self):
        self.call("end")

    def down(self):
        self.call("down")

    def command(self, mpi, hosts, per, program):
        return ["bash", os.path.join(self.data, "testbed", "run"), mpi,
                str(hosts), str(per)] + program


# When the tool is gone, however it went, its end of the pipe is closed: then
# whoever is on its hosts is ended, they are taken down, and its files go.
GUARD = """
trap '' HUP INT TERM
cat >/dev/null
folder=$1
shift
for MPI_TESTBED; do
    export MPI_TESTBED
    bash "$0" down
done
test -z "$folder" || rm -rf "$folder"
"""


class Guard:
    def __init__(self, beds, folder=""):
        self.process = subprocess.Popen(
            ["sh", "-c", GUARD, beds[0].script, folder] +
            [bed.name for bed in beds],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            start_new_session=True)

    def end(self):
        """Returns when all is taken down."""
        self.process.stdin.close()
        self.process.wait()
