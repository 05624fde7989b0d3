# SPDX-License-Identifier: BSD-2-Clause
"""
Networks.  A place starts jobs on one of them:

    up()                       make what it needs, or raise Trouble
    jobs(c, program, settings) what starts the program there, for each job of
                               MPI: a command, and variables; settings are
                               those that it has besides
    end()                      end all that a run may have left behind, or
                               raise Trouble if the place is not any more
    down()                     unmake it
    by_run_mpi                 does that start jobs there?

Scripts of the tests are used for that: run-mpi knows the environment that
each MPI wants, and testbed/ hosts that are network namespaces.
"""
import os
import shutil
import socket

from compare.plan import CLUSTERS
from launch.bed import Bed, Guard, bed_lack
from launch.clusters import Cluster, Clusters, handler_ranks, machine_check
from launch.trouble import Trouble, Wrong


class Fast:
    """Virtual nodes: ranks of this machine that share no pages.  MPI's
    messages go through shared memory."""

    name = "fast"
    by_run_mpi = True

    def __init__(self, built):
        self.built = built

    def up(self):
        pass

    # No limit of time but a last resort: job.py has its own.
    def jobs(self, c, program, settings):
        words = ["sh", os.path.join(self.built.data, "run-mpi"), "--once",
                 "86400", str(c.ranks)]
        return [(words + program, self.environment(c, settings))]

    def environment(self, c, settings):
        return {"MPIEXEC": self.built.launcher, "MPI_FLAVOUR": self.built.mpi,
                "HEARTH_NODE_SIZE": str(c.per_host())}

    def end(self):
        pass

    def down(self):
        pass


class Real(Fast):
    """The hosts of a file, through the launcher of a cluster."""

    name = "real"

    def __init__(self, built, options):
        super().__init__(built)
        self.hosts = options.real_hosts
        self.launcher = options.launcher or built.launcher

    def up(self):
        if shutil.which(self.launcher.split()[0]) is None:
            raise Trouble(f"network real: there is no {self.launcher}")
        if "srun" in self.launcher:
            return  # Slurm knows its hosts; names need not say where they are
        for host in self.hosts:
            try:
                socket.getaddrinfo(host, None)
            except OSError:
                raise Wrong(f"unknown host '{host}'")

    def launch_words(self, c, settings):
        names = self.hosts[:c.hosts]
        per = c.per_host()
        if "srun" in self.launcher:
            return ["-N", str(c.hosts), f"--ntasks-per-node={per}", "-w",
                    ",".join(names)]
        if self.built.mpi == "mpich":
            # Intel MPI's launcher puts all ranks of -hosts a:1,b:1 on a.
            return ["-hosts", ",".join(names), "-ppn", str(per)]
        with_slots = ",".join(f"{name}:{per}" for name in names)
        given = [name for name in os.environ if name.startswith("HEARTH_")]
        given += list(settings)
        return ["--host", with_slots] + ["-x " + name
                                         for name in sorted(set(given))]

    def environment(self, c, settings):
        words = [self.launcher] + self.launch_words(c, settings)
        return {"MPIEXEC": " ".join(words), "MPI_FLAVOUR": self.built.mpi}


class Gigabit:
    """Test hosts on this machine, joined by links of 1 gbit a second."""

    RATE = "1gbit"
    by_run_mpi = False

    def __init__(self, built, name, bed, hosts):
        self.built = built
        self.name = name
        self.loss = name.partition("loss=")[2]
        self.hosts = hosts
        self.bed = Bed(built.data, bed)
        self.guard = None

    def up(self):
        lack = bed_lack(self.built.mpi)
        if lack:
            raise Trouble(f"network {self.name}: {lack}")
        self.guard = Guard([self.bed])
        try:
            self.bed.up(self.hosts, self.RATE, self.loss)
        except Trouble as problem:
            raise Trouble(f"network {self.name}: {problem}")

    def jobs(self, c, program, settings):
        return [(self.bed.command(self.built.mpi, c.hosts, c.per_host(),
                                  program),
                 {"MPIEXEC": self.built.launcher,
                  "MPI_TESTBED": self.bed.name})]

    def end(self):
        self.bed.end()

    def down(self):
        if self.guard is not None:
            self.guard.end()
            self.guard = None


class Several:
    """Clusters of such hosts, whose gateways are joined by a link."""

    name = CLUSTERS
    by_run_mpi = False

    def __init__(self, built, options, bed):
        self.built = built
        self.clusters = Clusters(built, [
            Cluster(built, bed, f"c{number}", number, max(options.hosts),
                    Gigabit.RATE)
            for number in range(max(options.clusters))], options.link)

    def up(self):
        try:
            machine_check([self.built.mpi], len(self.clusters.all))
            self.clusters.up("hearth-compare.")
        except Trouble as problem:
            raise type(problem)(f"network {self.name}: {problem}")

    def jobs(self, c, program, settings):
        """One cluster is a job that needs no gateway."""
        some = self.clusters.all[:c.clusters]
        several, more = [{}], 0
        if len(some) > 1:
            file = self.clusters.file_write([c.hosts * c.per_host()
                                             for _ in some])
            several = [cluster.member(file) for cluster in some]
            more = handler_ranks({**os.environ, **settings})
        return [(cluster.bed.command(self.built.mpi, c.hosts, c.per_host(),
                                     program),
                 {**self.clusters.files(), **member,
                  **cluster.environment(self.built.launcher, more)})
                for cluster, member in zip(some, several)]

    def end(self):
        self.clusters.end()
        self.clusters.check()

    def down(self):
        self.clusters.down()


def place_about(name, options):
    """For the page."""
    if name == "fast":
        return "virtual nodes on one machine; MPI carries by shared memory"
    if name == "real":
        return "the hosts of a file"
    loss = name.partition("loss=")[2]
    text = (f"network namespaces on one machine, {Gigabit.RATE} a link, MPI"
            f" over TCP{f', {loss} % of the UDP datagrams lost' * bool(loss)}")
    if name == CLUSTERS and max(options.clusters) > 1:
        rate, delay = options.link.text().split(",")
        text += (f", in clusters whose gateways are joined by {rate} with"
                 f" {delay} each way")
    return text


def place_make(built, options, name, number):
    if name == "fast":
        return Fast(built)
    if name == "real":
        return Real(built, options)
    bed = f"hc{os.getpid()}{chr(ord('a') + number)}"
    if name == CLUSTERS:
        return Several(built, options, bed)
    return Gigabit(built, name, bed, max(options.hosts))


class Places:
    """All that are asked for; gone at the end of a with statement."""

    def __init__(self, built, options):
        self.all = {name: place_make(built, options, name, number)
                    for number, name in enumerate(options.networks)}

    def __enter__(self):
        try:
            for place in self.all.values():
                place.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_):
        self.down()

    def down(self):
        for place in self.all.values():
            place.down()
