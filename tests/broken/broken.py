#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""broken.py -- break the rules of the protocol one at a time, and show that
the tests see each.  The file rules.list beside this has them: what a rule
guards, the edit of the sources that breaks it, and the tests that must fail
then.

The sources are copied to a folder, and built there.  First all tests concerned
run as the sources are, and must pass.  Then, for each rule, the edit is made,
what the tests need is built, they run, and the edit is undone.  A line for
each rule and test says how many runs failed, and the next one what failed
first: a test's verdict or, with --debug, an assertion.  The status is 0 if
every run failed.

    tests/broken/broken.py                      all rules, each test once
    tests/broken/broken.py --times 3 overtaken twin-merge
    tests/broken/broken.py --debug --build /tmp/broken
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
LIMIT_SECONDS = 600
SETTINGS = ("HEARTH_", "TEST_", "MPI_TEST_", "MAKE", "OMPI_", "CFLAGS")


class Trouble(Exception):
    """Something is wrong with the list, or with the build."""


class Rule:
    def __init__(self, name):
        self.name, self.what, self.path = name, "", ""
        self.tests = []  # of each: the program and variables of make
        self.old, self.new = [], []
        self.always = []  # variables of make that all tests have

    def take(self, line):
        """A line of the list: "file PATH" and so on, or one of the edit, which
        begins with " ", "-" or "+" as in a patch."""
        word, _, rest = line.partition(" ")
        if line[0] in " -+":
            if line[0] != "+":
                self.old.append(line[1:])
            if line[0] != "-":
                self.new.append(line[1:])
        elif word == "what":
            self.what = f"{self.what} {rest}".strip()
        elif word == "file":
            self.path = rest
        elif word == "test":
            self.tests.append(shlex.split(rest))
        else:
            raise Trouble(f"{self.name}: what is '{line}'?")

    def check(self, top):
        """The text with the edit made; or says what is wrong with the rule."""
        if not (self.what and self.path and self.tests and
                self.old != self.new):
            raise Trouble(f"{self.name}: what, file, test or edit is missing")
        path = top / self.path
        if not path.exists():
            raise Trouble(f"{self.name}: there is no {self.path}")
        text, old = path.read_text(), "\n".join(self.old) + "\n"
        if text.count(old) != 1:
            raise Trouble(f"{self.name}: {self.path} has the old text "
                          f"{text.count(old)} times, not once")
        return text.replace(old, "\n".join(self.new) + "\n")


def rules_read():
    rules, always = [], []
    for line in (HERE / "rules.list").read_text().splitlines():
        if line.startswith("rule "):
            rules.append(Rule(line[5:]))
        elif line.startswith("always "):
            always += shlex.split(line)[1:]
        elif line.strip() and not line.startswith("#"):
            rules[-1].take(line)
    for rule in rules:
        rule.always = always
    names = [r.name for r in rules]
    for name in names:
        if names.count(name) > 1:
            raise Trouble(f"{name}: two rules have this name")
    return rules


def rules_check(rules):
    """True if all of them fit the sources."""
    wrong = 0
    for rule in rules:
        try:
            rule.check(TOP)
        except Trouble as why:
            print(why)
            wrong += 1
    return wrong == 0


# ---- the build ----


class Build:
    def __init__(self, folder, debug, mpicc):
        self.source = folder / "source"
        self.folder = folder / ("debug" if debug else "build")
        self.words = [f"CC={mpicc}", "--enable-werror"]
        self.words += ["--enable-debug"] if debug else []
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(SETTINGS)}

    def run(self, words, cwd):
        """Its status and what it says; it ends in time."""
        with subprocess.Popen(words, cwd=cwd, env=self.environment, text=True,
                              errors="replace", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as p:
            try:
                text, _ = p.communicate(timeout=LIMIT_SECONDS)
            except BaseException as why:
                os.killpg(p.pid, signal.SIGTERM)
                if not isinstance(why, subprocess.TimeoutExpired):
                    raise
                text, _ = p.communicate()
            return p.returncode, text

    def must(self, words, cwd):
        status, text = self.run(words, cwd)
        if status != 0:
            raise Trouble(f"{text[-3000:]}\n{' '.join(map(str, words))}: "
                          f"status {status}")
        return text

    def files_copy(self):
        """Those that differ, so that the next make has little to do."""
        names = self.must(
            ["git", "ls-files", "-c", "-o", "--exclude-standard"], TOP)
        for name in names.splitlines():
            at, to = TOP / name, self.source / name
            if not at.is_file() or \
                    to.is_file() and to.read_bytes() == at.read_bytes():
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(at, to)
            shutil.copymode(at, to)

    def make_ready(self):
        self.files_copy()
        if not (self.source / "configure").exists():
            self.must(["./autogen.sh"], self.source)
        if not (self.folder / "Makefile").exists():
            self.folder.mkdir(exist_ok=True)
            self.must([self.source / "configure", *self.words], self.folder)

    def make(self, goals):
        return self.run(["make", "-s", "-k", f"-j{os.cpu_count()}", *goals],
                        self.folder)

    def test(self, program, variables, build):
        """Run it, after what it needs was built.  None if it passes, or what
        was seen first."""
        stem = self.folder / re.sub(r"\.(mpi|tap|sh)$", "", program)
        log = stem.parent / (stem.name + ".log")
        trs = stem.parent / (stem.name + ".trs")
        trs.unlink(missing_ok=True)
        goals = ["test", "T=" + os.path.relpath(stem, self.folder / "tests")]
        if not build:
            goals = ["check-TESTS", "TESTS=" + program, "check_PROGRAMS=",
                     "check_LTLIBRARIES="]
        _, text = self.make(goals + variables)
        if not trs.exists():
            raise Trouble(f"{text[-3000:]}\n{program}: it was not built")
        results = re.findall(r"^:test-result: (\w+)", trs.read_text(), re.M)
        if not set(results) - {"SKIP"}:
            return "skipped"
        if set(results) <= {"PASS", "SKIP", "XFAIL"}:
            return None
        return first_seen(log.read_text(errors="replace"))


def text_short(text):
    """Of a verdict of Check's: the test, and what did not hold."""
    of_check = re.search(r"tests/[\w/.]+:[^:]+:(\w+): (.*)", text)
    return f"{of_check[1]}: {of_check[2]}" if of_check else text


def first_seen(log):
    """An assertion ends the job, so verdicts of its tests came before; that a
    program has ended, and what a script makes of it, came after."""
    ended = r" did not finish -- | -- |Early exit with return value"
    bad = re.findall(r"^(?:# )*not ok\S* -? ?(.*)", log, re.M)
    verdicts = [text for text in bad if not re.search(ended, text)]
    verdicts += re.findall(r" had: (not ok .*)", log)
    asserted = re.search(r"assertion: (\S+:\d+): (\w+)", log)
    if verdicts:
        return text_short(verdicts[0])
    if asserted:
        return f"assertion {asserted[1]} {asserted[2]}"
    return bad[0] if bad else "an error"


# ---- all of it ----


def test_name(test):
    return " ".join([re.sub(r"^tests/", "", test[0])] +
                    [shlex.quote(v) for v in test[1:]])


def sound_check(build, rules):
    """Without an edit all pass."""
    done = set()
    for test in [t for rule in rules for t in rule.tests]:
        if tuple(test) in done:
            continue
        done.add(tuple(test))
        seen = build.test(test[0], rules[0].always + test[1:], True)
        if seen is not None:
            raise Trouble(f"{test_name(test)} does not pass as it is: {seen}")
        print(f"passes as it is: {test_name(test)}", flush=True)


def rule_try(build, rule, times):
    """Of each of its tests: how many runs failed, and what was seen first."""
    path = build.source / rule.path
    before, after = path.read_text(), rule.check(build.source)
    found = []
    try:
        path.write_text(after)
        for test in rule.tests:
            seen = [build.test(test[0], rule.always + test[1:], turn == 0)
                    for turn in range(times)]
            failed = [s for s in seen if s is not None and s != "skipped"]
            found.append((test, len(failed), (failed + ["nothing"])[0]))
    finally:
        path.write_text(before)
    return found


def rules_try(build, rules, times):
    failed = runs = 0
    wide = max(len(rule.name) for rule in rules)
    for rule in rules:
        for test, n, seen in rule_try(build, rule, times):
            print(f"{rule.name:{wide}}  {n} of {times}  {test_name(test)}\n"
                  f"{'':{wide}}          {seen[:160]}", flush=True)
            failed += n
            runs += times
    print(f"{failed} of {runs} runs failed")
    return failed == runs


def arguments_read():
    p = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("rule", nargs="*", help="those to break; all by default")
    p.add_argument("--list", action="store_true",
                   help="say what the rules are, and end")
    p.add_argument("--check", action="store_true",
                   help="look whether each edit fits the sources, and end")
    p.add_argument("--times", type=int, default=1, help="runs of each test")
    p.add_argument("--debug", action="store_true", help="with assertions")
    p.add_argument("--build", type=pathlib.Path, metavar="FOLDER",
                   help="where copy and build stay for the next time; by "
                   "default a temporary folder, which is removed")
    p.add_argument("--mpicc", default="mpicc.openmpi", help="the compiler")
    p.add_argument("--trust", action="store_true",
                   help="leave out the runs without an edit")
    return p.parse_args()


def rules_find(names):
    rules = rules_read()
    for name in names:
        if name not in [r.name for r in rules]:
            raise Trouble(f"there is no rule {name}: see --list")
    return [r for r in rules if not names or r.name in names]


def work(args, folder):
    rules = rules_find(args.rule)
    build = Build(folder, args.debug, args.mpicc)
    build.make_ready()
    if not args.trust:
        sound_check(build, rules)
    return rules_try(build, rules, args.times)


def ended(number, _):
    sys.exit(128 + number)


def main():
    args = arguments_read()
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, ended)
    try:
        if args.list:
            for rule in rules_find(args.rule):
                print(f"{rule.name} ({rule.path}): {rule.what}")
            return 0
        if args.check:
            return 0 if rules_check(rules_read()) else 1
        if not rules_check(rules_find(args.rule)):
            return 2
        if args.build is not None:
            args.build.mkdir(parents=True, exist_ok=True)
            return 0 if work(args, args.build.resolve()) else 1
        with tempfile.TemporaryDirectory(prefix="broken.") as folder:
            return 0 if work(args, pathlib.Path(folder)) else 1
    except Trouble as why:
        print(f"broken.py: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
