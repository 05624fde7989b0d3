# SPDX-License-Identifier: BSD-2-Clause
"""One run of the random programs: how it is started, ended and judged."""

import os
import re
import shlex
import signal
import struct
import subprocess
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
MARK = "SOAK_JOB"
# A job that is killed may be slow to end on a loaded machine.
GIVEUP_SECONDS = 5
KILL_BOUND = 45
# A rank's numbers have a page of the file of numbers; a name and a count each.
PAGE, ROW = os.sysconf("SC_PAGESIZE"), struct.Struct("24sQ")

# Of a rank that waits longer than HEARTH_WATCH, which may be a millisecond.
CALL = r"hearth_\w+(?: \([^()]*\)|\([^()]*\))?"
EXPECTED = re.compile(
    r"^(# tally .*|1\.\.1|ok - .*|done|"
    rf"hearth: rank \d+: job: rank \d+ waits in {CALL} since .* s, rank \d+ "
    rf"(?:in {CALL}|in a call before|is in no call that waits): the job goes "
    r"on .*|"
    rf"hearth: rank \d+: job: rank \d+ waits in {CALL} since .* s, and \d+ of "
    r"\d+ ranks wait: it takes long, or it hangs; the job goes on .*|"
    rf"hearth: rank \d+: job: all ranks are in {CALL} since .* s .*; the job "
    r"goes on|"
    r"hearth: rank 0: hearth_init: with this MPI .* waits until .*|"
    r"hearth: rank \d+: gateway: a connection from 127\.0\.0\.1:\d+ was refused"
    r", since .* \(it did not say who it is for .*|)$")
# What a launcher says of a killed rank is its own business.
HEARTH_LINE = re.compile(r"^hearth: ")
KILLED = re.compile(r"^random: .*, ([^,]*): killed$", re.M)
# Where a rank is that is in no job of Hearth's, or not any more, or not yet.
OUTSIDE = ("the start", "hearth_init", "hearth_finalize")


def can_hide_shm():
    """May a job have a /dev/shm of its own?"""
    return os.geteuid() == 0 and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


# $1 is a file for the names of what is left; the rest is the command.
HIDDEN = """left=$1; shift
mount -t tmpfs tmpfs /dev/shm || exit 99
"$@"; status=$?
sleep 0.5
ls -A /dev/shm >"$left"
exit $status"""
# A launcher does not pass on all that ranks have said, so that goes to the
# file $0.  MPICH's takes a child that a signal has ended for the end of the
# job, even if it is to let others alone, but not one that says so; and it
# tells all others by SIGUSR1, which must end neither a shell nor a rank: the
# next one might then be told of, and not the one that was killed.
TOLD = 'exec "$@" 2>>"$0"'
TOLD_PATIENT = 'trap "" USR1; "$@" 2>>"$0"; exit $?'


class Job:
    def __init__(self, config, folder, hide_shm):
        self.config = config
        self.log = os.path.join(folder, f"{config['number']:05d}.log")
        self.left = self.log + ".left"
        self.rows = self.log + ".tally"
        self.hide_shm = hide_shm
        self.mark = f"{os.getpid()}-{config['number']}"
        self.killed_at = None
        self.verdict = None
        self.tally = {}
        self.told_in = None  # how many lines, of a kill

    # ---- start ----

    def settings(self):
        c = self.config
        env = {"HEARTH_TRANSPORT": c["transport"],
               "HEARTH_NODE_SIZE": str(c["nodes"]),
               "HEARTH_CONSISTENCY": c["consistency"],
               "HEARTH_PROTECT": c["protect"],
               "MPI_TEST_THREADS": c["threads"],
               "MPIEXEC": "mpiexec." + c["mpi"] + (
                   " -disable-auto-cleanup" if c["patient"] else ""),
               "MPI_FLAVOUR": c["mpi"],
               "OMPI_MCA_mtl": "^ofi,psm,psm2",
               "OMPI_MCA_btl": "^ofi,openib,usnic"}
        if c["scenes"]:
            env["MPI_TEST_SCENES"] = c["scenes"]
        if c["clusters"] > 1:
            env["MPI_TEST_CLUSTERS"] = str(c["clusters"])
        if c["cut"]:
            env["MPI_TEST_CUT"] = str(c["cut"])
        if c["late_barriers"]:
            env["MPI_TEST_LATE_BARRIERS"] = str(c["late_barriers"])
        if c["late_calls"]:
            env["MPI_TEST_LATE_CALLS"] = "1"
        if c["kind"] == "kill":
            env["HEARTH_UDP_GIVEUP"] = f"{GIVEUP_SECONDS}s"
        return env

    def command(self, log):
        c = self.config
        small = "-small" if c["small"] else ""
        small += "-debug" if c["debug"] else ""
        words = ["sh", f"{TOP}/tests/run-mpi", "--once", str(c["limit"]),
                 str(c["ranks"])]
        if c["kind"] == "kill":
            words += ["sh", "-c", TOLD_PATIENT if c["patient"] else TOLD,
                      log]
        words += [f"{TOP}/build/soak-{c['mpi']}{small}/tests/random/random.mpi",
                  "--seconds", str(c["seconds"]), "--seed", str(c["seed"])]
        if c["kind"] == "kill":
            words += ["--kill", str(c["victim"]),
                      "--after", f"{c['kill_after']:.2f}"]
        return words

    def repeat(self):
        """What a killed job says is then in a file of its own."""
        env = [f"{k}={shlex.quote(v)}" for k, v in self.settings().items()]
        return " ".join(["env", *env, *map(
            shlex.quote, self.command(self.log + ".again"))])

    def start(self):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("HEARTH_", "MPI_TEST_"))}
        env.update(self.settings())
        env[MARK] = self.mark
        env["MPI_TEST_TALLY"] = self.rows
        words = self.command(self.log)
        if self.hide_shm:
            words = ["unshare", "-m", "sh", "-c", HIDDEN, "soak", self.left,
                     *words]
        with open(self.log, "a") as out:
            self.process = subprocess.Popen(
                words, env=env, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True)
        self.started = time.monotonic()

    # ---- while it runs ----

    def text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def kill_seen(self):
        """The rank that is to be killed says so before."""
        if self.config["kind"] == "kill" and not self.killed_at and \
                KILLED.search(self.text()):
            self.killed_at = time.monotonic()

    def processes(self):
        """All that carry our mark, wherever they have gone."""
        found = []
        mark = f"{MARK}={self.mark}".encode()
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as f:
                    if mark in f.read().split(b"\0"):
                        found.append(int(name))
            except OSError:
                continue
        return found

    def end(self):
        """Whatever is left of it goes."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.processes():
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            deadline = time.monotonic() + 5
            while self.processes() and time.monotonic() < deadline:
                time.sleep(0.1)

    def poll(self):
        """True when it has ended and been judged."""
        self.kill_seen()
        status = self.process.poll()
        if status is None:
            if self.killed_at and \
                    time.monotonic() - self.killed_at > kill_bound():
                self.end()
                self.process.wait()
                self.verdict = "hang", "did not end after a rank was killed"
                self.count()
                return True
            return False
        self.judge(status)
        return True

    # ---- judgement ----

    def count(self):
        """What the ranks did, however they ended."""
        if not os.path.exists(self.rows):
            return
        with open(self.rows, "rb") as f:
            pages = iter(lambda: f.read(PAGE), b"")
            for page in pages:
                page = page[:len(page) // ROW.size * ROW.size]
                for name, value in ROW.iter_unpack(page):
                    name = name.rstrip(b"\0").decode()
                    if name:
                        self.tally[name] = self.tally.get(name, 0) + value
        os.unlink(self.rows)

    def judge(self, status):
        text = self.text()
        self.kill_seen()
        self.count()
        self.verdict = (wrong_in(text, self.outside(text)) or
                        (self.judge_kill(status, text) if self.killed_at
                         else self.judge_whole(status, text)) or
                        self.judge_left())
        if self.verdict is None:
            os.unlink(self.log)
        if os.path.exists(self.left):
            os.unlink(self.left)

    def judge_whole(self, status, text):
        if status == 124:
            return "hang", f"did not end in {self.config['limit']} s"
        if status != 0 or not re.search("^done$", text, re.M):
            return "crash", f"exit status {status}"
        for line in text.splitlines():
            if not EXPECTED.match(line):
                return "unexpected line", line
        return None

    def judge_kill(self, status, text):
        """One line, which names who was killed; MPICH's launcher may be
        faster.  Nothing is promised where the rank was in no job."""
        c = self.config
        lines = [x for x in text.splitlines()
                 if HEARTH_LINE.match(x) and not EXPECTED.match(x)]
        outside = self.outside(text)
        self.tally["kills"] = 1
        self.told_in = ("outside of a job " if outside else "") + (
            "where MPICH kills all at once " if self.hasty() else "") + \
            f"told in {len(lines)} lines"
        if status == 0:
            return "bad exit", "status 0 though a rank was killed"
        if outside:
            return None
        if len(lines) > 1 or (not lines and not self.hasty()):
            return "unexpected line", f"{len(lines)} lines about a killed rank"
        named = rf"^hearth: rank \d+: .*: rank {c['victim']} \("
        if lines and not re.match(named, lines[0]):
            return "unexpected line", lines[0]
        return None

    def outside(self, text):
        """Was a rank killed that was in no job?"""
        return bool(self.killed_at) and \
            KILLED.search(text).group(1) in OUTSIDE

    def hasty(self):
        return self.config["mpi"] == "mpich" and not self.config["patient"]

    def judge_left(self):
        deadline = time.monotonic() + 10
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.2)
        left = self.processes()
        if left:
            self.end()
            return "left behind", f"processes {left}"
        names = ""
        if os.path.exists(self.left):
            with open(self.left) as f:
                names = " ".join(f.read().split())
        ours = [x for x in names.split() if "hearth" in x]
        if ours:
            return "left behind", f"/dev/shm has {' '.join(ours)}"
        self.tally["mpi_files_left"] = len(names.split())
        return None


def kill_bound():
    """Seconds; more on a machine that has more to do than it can."""
    return KILL_BOUND * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))


def wrong_in(text, outside):
    """What the random program itself found.  Without a job nobody notices that
    a rank is gone; others that wait for it in MPI do so for ever where the
    launcher lets them."""
    for pattern, kind in ((r"^random: .*: starved: .*$", "starved"),
                          (r"^random: .*thread \d+, step -?\d+: .*$",
                           "wrong data"),
                          (r"^random: .*: hangs$", "hang")):
        found = re.search(pattern, text, re.M)
        if found and not (outside and kind == "hang"):
            return kind, found.group(0)
    return None
