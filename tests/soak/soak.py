# SPDX-License-Identifier: BSD-2-Clause
"""soak.py -- draw runs of the random programs, and count; see ./soak --help.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time

import job

RUN_SECONDS = 12
KILL_SECONDS = 120
# The random program notices itself when it does not get on; this is for what
# holds it up so that it cannot.
LIMIT_SECONDS = 900
HIGHEST = ("mpi_files_left",)


def arguments_read():
    p = argparse.ArgumentParser()
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    p.add_argument("--scenes", default="")
    p.add_argument("--clusters", default="1,1,2,3", type=lambda text: [
        int(n) for n in text.split(",")])
    p.add_argument("--mpis", default="openmpi mpich")
    return p.parse_args()


def clusters_draw(drawn, args, r):
    """How many, and for how long their links are cut again and again.  One
    job of Open MPI cannot be split with the transport mpi.
    """
    split = drawn["mpi"] != "openmpi" or drawn["transport"] == "udp"
    if 1 not in args.clusters and not split:
        drawn["transport"], split = "udp", True
    drawn["clusters"] = r.choice(
        [n for n in args.clusters if n <= drawn["ranks"] and
         (n == 1 or split and drawn["kind"] == "worlds")] or [1])
    drawn["cut"] = r.choice((0, 0, 0.5, 5)) if drawn["clusters"] > 1 else 0
    # There a gateway's thread calls MPI.
    if drawn["clusters"] > 1 and drawn["transport"] == "mpi":
        drawn["threads"] = "multiple"


def draw(number, args):
    """The number-th run of this seed: its MPI and transport go round."""
    r = random.Random(args.seed * 1000003 + number)
    mpis = args.mpis.split()
    only = 1 not in args.clusters
    ranks = max(r.choice((2, 2, 3, 4)), min(args.clusters))
    kill = r.randrange(6) == 0 and not only
    many = not kill and r.randrange(12) == 0
    drawn = {
        "number": number,
        "kind": "kill" if kill else "worlds",
        "mpi": mpis[number % len(mpis)],
        "transport": ("mpi", "udp")[number // len(mpis) % 2],
        "ranks": 8 if many else ranks,
        "nodes": r.choice([n for n in (1, 1, 1, 2, 2, 0) if n < ranks]),
        "consistency": r.choice(("release", "release", "scope")),
        "threads": r.choice(("multiple", "multiple", "multiple", "funneled")),
        "small": r.randrange(3) == 0,
        "debug": r.randrange(2) == 0,
        "seconds": KILL_SECONDS if kill else RUN_SECONDS,
        "seed": r.randrange(1, 1 << 31),
        "limit": LIMIT_SECONDS,
        "scenes": args.scenes or ("tries" if many else ""),
        "victim": r.randrange(ranks),
        "kill_after": r.random() ** 2 * 8,
    }
    # MPICH's launcher kills all others in milliseconds if it may.
    drawn["patient"] = (kill and drawn["mpi"] == "mpich" and
                        r.randrange(3) > 0)
    # Microseconds; where threads synchronise beside the main one.
    drawn["late_barriers"] = (r.choice((0, 0, 300, 3000))
                              if drawn["threads"] == "multiple" else 0)
    drawn["late_calls"] = r.randrange(3) == 0
    drawn["protect"] = r.choice(("auto", "auto", "mprotect"))
    clusters_draw(drawn, args, r)
    return drawn


class Soak:
    def __init__(self, args):
        self.args = args
        self.begin = time.monotonic()
        self.running = []
        self.number = self.passed = self.failed = 0
        self.sum, self.kinds, self.lines = {}, {}, {}
        self.hide_shm = job.can_hide_shm()
        self.folder = tempfile.mkdtemp(
            prefix=time.strftime("%Y%m%d-%H%M%S-"),
            dir=os.path.join(job.TOP, "build", "soak"))

    def say(self, text):
        print(f"{time.monotonic() - self.begin:6.0f} s  {text}", flush=True)

    def numbers(self):
        """One line; what is counted over all runs that came to an end."""
        seconds = time.monotonic() - self.begin
        rate = self.sum.get("checked", 0) / max(seconds, 1)
        parts = [f"{v:,} {k}" for k, v in self.sum.items() if v]
        parts += [f"{n} kills {k}" for k, n in sorted(self.lines.items())]
        return (f"{self.passed} passed, {self.failed} failed; "
                f"{', '.join(parts)}; {rate:,.0f} checked a second")

    def add(self, done):
        for name, value in done.tally.items():
            before = self.sum.get(name, 0)
            self.sum[name] = max(before, value) if name in HIGHEST \
                else before + value
        if done.told_in:
            self.lines[done.told_in] = self.lines.get(done.told_in, 0) + 1
        if done.verdict is None:
            self.passed += 1
            return
        kind, text = done.verdict
        self.failed += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.say(f"FAIL: {kind}: {text}")
        print(f"          repeat: {done.repeat()}")
        if done.killed_at:
            after = done.killed_at - done.started
            print(f"          killed {after:.1f} s after the launch; where "
                  "it then is depends on the machine: --after")
        print(f"          output: {done.log}", flush=True)

    def go_on(self):
        return time.monotonic() - self.begin < self.args.minutes * 60

    def run(self):
        told = self.begin
        while self.go_on() or self.running:
            while self.go_on() and len(self.running) < self.args.jobs:
                j = job.Job(draw(self.number, self.args), self.folder,
                            self.hide_shm)
                j.start()
                self.running.append(j)
                self.number += 1
            for j in [j for j in self.running if j.poll()]:
                self.running.remove(j)
                self.add(j)
            if time.monotonic() - told >= 60:
                told += 60
                self.say(self.numbers())
            time.sleep(0.2)

    def stop(self):
        for j in self.running:
            j.end()

    def finish(self):
        self.say(self.numbers())
        for kind, n in sorted(self.kinds.items()):
            self.say(f"{n} failed: {kind}")
        if not self.hide_shm:
            self.say("not root: files in /dev/shm were not looked for")
        if not self.failed:
            try:
                os.rmdir(self.folder)
            except OSError:
                pass
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


def interrupted(number, frame):
    raise KeyboardInterrupt


def main():
    args = arguments_read()
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGINT, interrupted)
    soak = Soak(args)
    soak.say(f"seed {args.seed}, {args.minutes:g} minutes, {args.jobs} at a "
             f"time, failures in {soak.folder}")
    try:
        soak.run()
    except KeyboardInterrupt:
        soak.say("interrupted")
        soak.stop()
    return soak.finish()


if __name__ == "__main__":
    sys.exit(main())
