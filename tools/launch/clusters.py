# SPDX-License-Identifier: BSD-2-Clause
"""Clusters of test hosts on this machine, and the file that names them."""
import os
import secrets
import subprocess
import tempfile

from launch.bed import TOOLS, Bed, Guard, bed_lack
from launch.link import Wire, tun_check
from launch.trouble import Trouble, Wrong, stop_check

PORT = 7100
MOST_CLUSTERS = 16
MOST_HOSTS = 250


class Cluster:
    """Hosts with a private network, the first of which is the gateway."""

    def __init__(self, built, bed, name, number, hosts, lan):
        self.name = name
        self.hosts = hosts
        self.lan = lan
        self.bed = Bed(built.data, f"{bed}c{number}h")
        # Of those that documentation may have, and no network has.
        self.gateway = f"192.0.2.{number + 1}"

    def up(self):
        self.bed.up(self.hosts, self.lan)
        # Who has another network behind it does not pass on, either way.
        for host in range(self.hosts):
            self.call(host, "sh", "-c",
                      "echo 0 >/proc/sys/net/ipv4/ip_forward")

    def host(self, number):
        return f"{self.bed.name}{number}"

    def call(self, host, *words):
        """Run a command on a host, or say what went wrong."""
        done = subprocess.run(
            ["ip", "netns", "exec", self.host(host), *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True)
        if done.returncode != 0:
            raise Trouble(f"cluster {self.name}: {' '.join(words)}: "
                          f"{done.stdout.strip() or 'failed'}")

    def join(self, device, prefix):
        """The gateway gets its address for others."""
        self.call(0, "ip", "addr", "add", f"{self.gateway}/{prefix}", "dev",
                  device)

    def environment(self, launcher, more=0):
        """What a job on these hosts has for testbed/run; with a number of
        ranks that the gateway has besides."""
        return {"MPIEXEC": launcher, "MPI_TESTBED": self.bed.name,
                "MPI_TESTBED_HOST": self.name + "h",
                "MPI_TESTBED_MORE": str(more)}

    def member(self, file):
        """What tells it that it is one of several."""
        return {"HEARTH_CLUSTERS": file, "HEARTH_CLUSTER": self.name}


def handler_ranks(environment):
    """Ranks that the program does not see, on each gateway."""
    return 1 if environment.get("HEARTH_GATEWAY") == "rank" else 0


class Clusters:
    """Some, and their link: there after up(), gone after down(), or when this
    process is."""

    def __init__(self, built, members, link, cut=None):
        self.built = built
        self.all = members
        self.wire = None
        if len(members) > 1:
            self.wire = Wire(built, members, link, cut)
        self.folder = None
        self.guard = None

    def up(self, prefix):
        """Files are in a folder whose name begins with that."""
        self.folder = tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}.")
        self.guard = Guard([cluster.bed for cluster in self.all], self.folder)
        for cluster in self.all:
            cluster.up()
            stop_check()
        if self.wire is not None:
            self.wire.up()
        else:  # who waits for others at that address finds it there
            self.all[0].join("lo", 32)

    def check(self):
        """The link is there, or this is trouble."""
        if self.wire is not None:
            self.wire.check()

    def files(self):
        """Open MPI (4 by the first, 5 by the second) keeps files of a job that
        is killed: here they go with the folder."""
        return {"OMPI_MCA_orte_tmpdir_base": self.folder,
                "PRTE_MCA_prte_tmpdir_base": self.folder}

    def file_write(self, ranks):
        """The file that tells each of the first clusters of all of these,
        which have so many ranks.  Returns its path."""
        key = os.path.join(self.folder, "clusters.key")
        path = os.path.join(self.folder, "clusters.conf")
        if not os.path.exists(key):
            key_make(self.built, key)
        with open(path, "w", encoding="ascii") as out:
            out.write(f"key = {key}\n")
            for cluster, number in zip(self.all, ranks):
                out.write(f"\n[{cluster.name}]\n"
                          f"gateway = {cluster.gateway}:{PORT}\n"
                          f"ranks = {number}\n")
        return path

    def end(self):
        """End all that jobs may have left behind."""
        for cluster in self.all:
            cluster.bed.end()

    def down(self):
        if self.wire is not None:
            self.wire.down()
        if self.guard is not None:
            self.guard.end()
            self.guard = None


def key_make(built, path):
    """By the gateway's own program, where there is one."""
    maker = os.path.join(built.programs, "hearth-gateway")
    if os.access(maker, os.X_OK):
        made = subprocess.run([maker, "--new-key", path],
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if made.returncode != 0:
            raise Trouble(f"no key: {made.stdout.strip()}")
        return
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as out:
        out.write(secrets.token_hex(32) + "\n")


def folder_check():
    """What is in the folder of temporary files is on all hosts."""
    try:
        folder = os.path.realpath(tempfile.gettempdir())
    except OSError as problem:
        raise Wrong(problem.strerror)
    if os.path.commonpath([folder, "/dev/shm"]) == "/dev/shm":
        raise Wrong(f"TMPDIR is {folder}, but each host has a /dev/shm of its"
                    " own")


def machine_check(mpis, count):
    """It has what so many clusters need, or this is wrong."""
    folder_check()
    for mpi in mpis:
        lack = bed_lack(mpi, TOOLS + ("mount",))
        if lack:
            raise Wrong(lack)
    if count > 1:
        tun_check()
