# SPDX-License-Identifier: BSD-2-Clause
"""The whole: from the command line to the page."""
import os
import shutil
import sys
import time

from compare import (apps, clusters, export, figures, job, machine, options,
                     page, plot, room, switches, tables)
from compare.places import Places
from compare.plan import CLUSTERS, Configuration, Plan, configurations_make
from compare.state import State, files_write
from launch import trouble
from launch.trouble import Stopped, Trouble, Wrong, stop_check


class Progress:
    """A line for each run, and on a terminal one that moves."""

    def __init__(self, plan):
        self.plan = plan
        self.moving = sys.stderr.isatty()
        self.head = ""

    def begin(self, turn, configuration):
        total = self.plan.done() + len(self.plan.left())
        place = f"{self.plan.done() + 1:{len(str(total))}}/{total}"
        left = self.plan.seconds_left()
        left = "" if left is None else f", {duration(left)} left"
        lines = {c.line() for c in self.plan.configurations}
        self.head = (f"[{place}{left}] round {turn} of {self.plan.repeat}: "
                     f"{configuration.text(lines)}")
        self.show("")

    def say(self, text):
        """A line of its own."""
        end = "\r\033[K" if self.moving else ""
        print(f"{end}{text}", file=sys.stderr, flush=True)

    def tick(self, seconds):
        self.show(f", {duration(seconds)}")

    def show(self, more):
        if self.moving:
            width = shutil.get_terminal_size().columns - 1
            text = (self.head + more)[:width]
            print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)

    def end(self, record):
        said = (f"{record['seconds']:.3f} s" if record["status"] == "ok" else
                f"{record['status'].upper()}: {record['why']}")
        self.say(f"{self.head}: {said}")


def asking(built, asked):
    """What starts an application that is asked for its --help: within a job
    of Slurm's a mpiexec may start nothing, or on another host."""
    if "real" in asked.networks and asked.launcher:
        return built._replace(launcher=asked.launcher)
    return built


def duration(seconds):
    seconds = int(seconds + 0.5)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02} min"


class Comparison:
    def __init__(self, built, asked):
        self.built = built
        self.asked = asked
        room.temporary_check()
        self.apps = apps.apps_choose(asking(built, asked), asked.programs,
                                     asked.apps)
        asked.apps = [app.name for app in self.apps]
        self.switches = {s.name: s.settings for s in asked.switches}
        switches.switches_check(built, asked.switches, asked.transports)
        self.arguments = {name: [] for name in asked.apps}
        for name, words in asked.arguments:
            if name not in self.arguments:
                raise Wrong(f"--arguments {name}=...: {name} is not among"
                            " --apps")
            self.arguments[name] += words
        self.counting = True
        self.settings = machine.settings_of(os.environ)
        self.plan = Plan(configurations_make(asked, self.apps), asked.repeat)
        self.progress = Progress(self.plan)

    def state_open(self):
        identity = options.options_identity(self.asked, self.settings)
        identity["hearth"] = f"{self.built.version} {self.built.mpi}"
        self.state = State(self.asked.out, identity)
        self.stats = os.path.join(os.path.abspath(self.asked.out), "stats.tmp")
        for record in self.state.records:
            if "configuration" in record:
                self.plan.add(Configuration(**record["configuration"]), record)
        self.room = room.page_room(self.asked.out, self.plan)
        if self.plan.done() > 0:
            print(f"hearth-compare: going on after {self.plan.done()} runs",
                  file=sys.stderr)

    def run_counted(self, place, turn, c):
        """A library that cannot write what it counts is asked once."""
        record = self.run_one(place, turn, c)
        if any("HEARTH_STATS" in line for line in record.get("output", [])):
            self.counting = False
            self.progress.say("hearth-compare: times only: "
                              f"{record['output'][0]}")
            record = self.run_one(place, turn, c)
        return record

    def run_one(self, place, turn, c):
        verify = self.plan.verify(c)
        program = [os.path.join(self.asked.programs, apps.PREFIX + c.app)]
        program += ["--small"] * self.asked.small
        program += ["--verify"] * verify + self.arguments[c.app]
        settings = {}
        if c.transport == "none":
            program.append("--mpi")
        else:
            settings = {"HEARTH_TRANSPORT": c.transport,
                        "HEARTH_CONSISTENCY": c.consistency,
                        **self.switches.get(c.switch, {})}
        if self.counting:
            settings["HEARTH_STATS"] = "json:" + self.stats
        try:
            record = job.job_run(place, c, program, settings,
                                 self.asked.timeout, self.progress.tick)
        finally:
            stats = job.stats_read(self.stats)
        return {"configuration": c._asdict(), "round": turn,
                "verify": verify, **record, "stats": stats}

    def run_all(self):
        """Returns when no run is left."""
        if not self.plan.left():
            return
        with Places(self.built, self.asked) as places:
            stop_check()
            self.state.append(
                {"session": machine.session_describe(self.built)})
            while self.plan.left():
                turn, c = self.plan.left()[0]
                self.progress.begin(turn, c)
                record = self.run_counted(places.all[c.network], turn, c)
                self.progress.end(record)
                self.state.append(record)
                self.plan.add(c, record)
                stop_check()

    def write(self):
        data = figures.Data(self.plan, self.apps, self.state, self.asked)
        texts = {"runs.csv": export.csv_text(data),
                 "results.json": export.json_text(data),
                 "index.html": page.page_text(data)}
        if self.asked.switches:
            texts["switches.md"] = tables.switches_text(data)
        if CLUSTERS in self.asked.networks:
            texts["clusters.md"] = clusters.clusters_text(data)
        self.room.free()
        files_write(self.asked.out, texts)

    def write_unfinished(self):
        """Of what is there; true if there is a page."""
        if self.plan.done() == 0:
            return False
        try:
            self.write()
        except Trouble:  # what ended the runs is what is to be said
            return False
        return True


def page_path(asked):
    return os.path.join(asked.out, "index.html")


def compare(built, asked):
    if not asked.list:
        plot.gnuplot_require()
    comparison = Comparison(built, asked)
    if asked.list:
        for app in comparison.apps:
            by_hand = ", and by hand in MPI" if app.by_hand else ""
            print(f"{app.name:10} {app.about}{by_hand}")
        return 0
    comparison.state_open()
    began = time.monotonic()
    try:
        comparison.run_all()
    except Stopped:
        there = comparison.write_unfinished()
        what = f"; the page of them is {page_path(asked)}" * there
        comparison.progress.say(
            f"hearth-compare: stopped after {comparison.plan.done()} runs"
            f"{what}; the same command goes on from there")
        raise
    except Trouble:
        comparison.write_unfinished()
        raise
    comparison.write()
    print(f"hearth-compare: {comparison.plan.done()} runs, "
          f"{duration(time.monotonic() - began)} now; the page is "
          f"{page_path(asked)}", file=sys.stderr)
    bad = comparison.plan.bad()
    if bad:
        print(f"hearth-compare: {len(bad)} runs failed; the page says which",
              file=sys.stderr)
    return 1 if bad else 0


def main(built):
    trouble.stop_take()
    try:
        return compare(built, options.options_read(built))
    except Stopped:
        return 128 + trouble.asked_by
    except Trouble as problem:
        print(f"hearth-compare: {problem}", file=sys.stderr)
        return problem.status
