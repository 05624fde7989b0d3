# SPDX-License-Identifier: BSD-2-Clause
"""What the machine is, and what warns of its numbers."""
import os
import platform
import re
import shlex
import subprocess
import sys
import time

BUSY = 0.25  # share of the cores in use at which times are doubtful
LOOK = 1     # seconds
# What hearth-compare sets by itself, run by run.
OURS = ("HEARTH_STATS", "HEARTH_TRANSPORT", "HEARTH_CONSISTENCY",
        "HEARTH_NODE_SIZE", "HEARTH_CLUSTERS", "HEARTH_CLUSTER")


def first_match(path, pattern):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return ""
    return found.group(1).strip() if found else ""


def version_text(program):
    try:
        done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=20,
                              errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def launcher_version(launcher):
    """Open MPI says it in the first line, MPICH in the second."""
    found = re.search(r"(?:Version:?|\)) *([0-9][0-9.a-z]*)",
                      version_text(launcher))
    return found.group(1) if found else ""


def cores():
    return len(os.sched_getaffinity(0))


def memory_text():
    kib = first_match("/proc/meminfo", r"^MemTotal: *([0-9]+) kB")
    return f"{int(kib) / 2**20:.1f} GiB" if kib else ""


def processor_text():
    return (first_match("/proc/cpuinfo", r"^model name\s*: (.*)") or
            first_match("/proc/cpuinfo", r"^(?:cpu|Model)\s*: (.*)") or
            platform.machine())


def machine_describe(built):
    """Name and value, in the order of the page's table."""
    system = (first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)') or
              platform.system())
    return {
        "host": platform.node(),
        "processor": processor_text(),
        "cores": cores(),
        "memory": memory_text(),
        "system": system,
        "kernel": platform.release(),
        "Hearth": built.version,
        "MPI": f"{built.mpi} {launcher_version(built.launcher)}".strip(),
        "gnuplot": version_text("gnuplot"),
        "Python": platform.python_version(),
    }


def processor_times():
    """Ticks of all cores since the start: at work (also for other guests of
    the host), and all."""
    line = first_match("/proc/stat", r"^cpu +([0-9 ]+)$")
    user, nice, system, idle, wait, irq, softirq, stolen = (
        int(word) for word in (line or "0 0 0 0 0 0 0 0").split()[:8])
    work = user + nice + system + irq + softirq + stolen
    return work, work + idle + wait


def busy_share():
    """What is in use of the cores just now.  The load average would remember
    what ran a minute ago: a compiler, or the comparison before."""
    work, whole = processor_times()
    time.sleep(LOOK)
    work_after, whole_after = processor_times()
    return (work_after - work) / max(whole_after - whole, 1)


def session_describe(built):
    """One start of hearth-compare, of which a comparison may have several."""
    return {"began": time.strftime("%Y-%m-%d %H:%M:%S %z"),
            "busy": round(busy_share(), 2),
            "machine": machine_describe(built)}


def settings_of(environment):
    """The user's own options of the library."""
    return {name: value for name, value in sorted(environment.items())
            if name.startswith("HEARTH_") and name not in OURS}


def busy_warnings(sessions):
    for session in sessions:
        if session["busy"] > BUSY:
            yield (f"On {session['began']} the machine was at work already:"
                   f" {session['busy']:.0%} of its cores were in use.  Times"
                   " are not to be trusted.")


def crowd_warnings(data):
    """Ranks of this machine, that is of all networks but the real one."""
    ranks = max((c.ranks for c in data.configurations if c.network != "real"),
                default=0)
    if ranks > data.cores:
        yield (f"Up to {ranks} ranks ran on {data.cores}"
               f" core{'s' * (data.cores > 1)}."
               "  Where ranks outnumber cores they take turns: such points"
               " show what the protocol does, and not how fast a cluster"
               " would be.")


def unfinished_warnings(data):
    if data.left > 0:
        yield (f"Unfinished: {data.done} of {data.done + data.left} runs are"
               " here.  The same command goes on from there: "
               f"{shlex.join(['hearth-compare'] + sys.argv[1:])}")


def warnings_of(data):
    found = list(unfinished_warnings(data))
    found += list(busy_warnings(data.sessions))
    found += crowd_warnings(data)
    if any(s["machine"] != data.sessions[0]["machine"]
           for s in data.sessions):
        found.append("The comparison went on on another machine, or with"
                     " other versions, than it began with.")
    if not any(point.typical for point in data.points.values()):
        found.append("The library did not write what it counted"
                     " (HEARTH_STATS=json:FILE), so that there are times"
                     " only.")
    return found
