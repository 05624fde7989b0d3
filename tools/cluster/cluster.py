# SPDX-License-Identifier: BSD-2-Clause
"""The hosts of a cluster, its job, and the file of clusters."""
import os
import secrets
import subprocess

from cluster.needs import PREFIX, launcher_find, program_find
from launch.bed import Bed
from launch.trouble import Trouble

PORT = 7100


class Cluster:
    def __init__(self, built, options, number):
        self.name = options.names[number]
        self.hosts = options.hosts[number]
        self.per = options.ranks_per_host[number]
        self.mpi = options.mpi[number]
        self.lan = options.lan
        self.bed = Bed(built.data, f"{PREFIX}{os.getpid()}c{number}h")
        # Of those that documentation may have, and no network has.
        self.gateway = f"192.0.2.{number + 1}"
        self.launcher = launcher_find(built, self.mpi)
        self.program = [program_find(built, options, self.mpi)]
        self.program += options.arguments
        self.given = {name: value for cluster, name, value in options.env
                      if cluster in (None, self.name)}
        # A rank that the program does not see, on the gateway.
        handler = {**os.environ, **self.given}.get("HEARTH_GATEWAY")
        self.more = 1 if handler == "rank" else 0

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

    def environment(self, file, folder):
        """The job's.  Open MPI keeps files of a job that is killed: here they
        go with the folder."""
        return {**os.environ, "OMPI_MCA_orte_tmpdir_base": folder,
                "HEARTH_CLUSTERS": file, "HEARTH_CLUSTER": self.name,
                **self.given, "MPIEXEC": self.launcher,
                "MPI_TESTBED": self.bed.name,
                "MPI_TESTBED_HOST": self.name + "h",
                "MPI_TESTBED_MORE": str(self.more)}

    def join(self, device, prefix):
        """The gateway gets its address for others."""
        self.call(0, "ip", "addr", "add", f"{self.gateway}/{prefix}", "dev",
                  device)

    def start(self, file, folder):
        """The job, a session of its own."""
        return subprocess.Popen(
            self.bed.command(self.mpi, self.hosts, self.per, self.program),
            env=self.environment(file, folder), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)


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


def clusters_file_write(built, folder, clusters):
    """The file that tells each cluster of all.  Returns its path."""
    key = os.path.join(folder, "clusters.key")
    path = os.path.join(folder, "clusters.conf")
    key_make(built, key)
    with open(path, "w", encoding="ascii") as out:
        out.write(f"key = {key}\n")
        for cluster in clusters:
            out.write(f"\n[{cluster.name}]\n"
                      f"gateway = {cluster.gateway}:{PORT}\n"
                      f"ranks = {cluster.hosts * cluster.per}\n")
    return path
