# SPDX-License-Identifier: BSD-2-Clause
"""Which files of src/ one operation between two ranks executes.

    python3 ways.py BUILD SOURCE > REPORT

BUILD is configured with CFLAGS="-O0 -gdwarf-4 -finstrument-functions" and has
tests/ways/ways, which does a read fault, the first store to a copy, a diff, or
a contended lock; each runs once here over both transports.

Rank 1 asks and rank 0 answers.  `asks` is the thread of rank 1 that faults or
calls; `answers` the one of rank 0 that calls, if it does; and `serves` that
thread of rank 0 which serves other ranks.  For each come the files it entered
functions of: .c files, which are counted, and headers, each with the functions.
"""

import os
import subprocess
import sys
from collections import defaultdict

WAYS = ["fault", "store", "diff", "lock"]
TRANSPORTS = ["mpi", "udp"]
TRIES = 10
LATE = 3  # a rank had no core in time
SERVERS = {"src/transport/mpi/helper.c", "src/transport/udp/server.c"}


def once(build, source, way, transport):
    env = dict(os.environ, HEARTH_NODE_SIZE="1", HEARTH_TRANSPORT=transport)
    for _ in range(TRIES):
        done = subprocess.run(
            ["sh", os.path.join(source, "tests/run-mpi"), "--once", "60", "2",
             program(build), way], env=env, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        text = done.stdout.decode(errors="replace")
        if done.returncode == 0:
            return text
        if done.returncode != LATE:
            break
    sys.exit(f"{text}ways.py: {way} over {transport}: {done.returncode}")


def program(build):
    return os.path.join(build, "tests/ways/ways")


def main_address(build):
    names = subprocess.run(["nm", program(build)], stdout=subprocess.PIPE,
                           check=True).stdout.decode()
    return next(int(line.split()[0], 16) for line in names.splitlines()
                if line.endswith(" T main"))


def of_source(build, source, path):
    """As the source folder names a file; an object from a compiler cache may
    name it in another clone."""
    of_src = "src/" + path.rpartition("/src/")[2]
    if os.path.exists(os.path.join(source, of_src)):
        return of_src
    return os.path.relpath(os.path.join(build, path), source)


def places(build, source, addresses):
    """The file of src/ and the name of the function at each address."""
    text = "\n".join(hex(a) for a in addresses)
    lines = subprocess.run(["addr2line", "-f", "-e", program(build)],
                           input=text.encode(), stdout=subprocess.PIPE,
                           check=True).stdout.decode().splitlines()
    for name, place in zip(lines[::2], lines[1::2]):
        path = place.rsplit(":", 1)[0]
        yield of_source(build, source, path), name


def entered(build, source, text):
    """By rank and thread: of each file of src/ the functions."""
    rows = [line.split()[1:] for line in text.splitlines()
            if line.startswith("way ")]
    base = main_address(build)
    found = defaultdict(lambda: defaultdict(set))
    for (rank, thread, _), (path, name) in zip(
            rows, places(build, source, [base + int(r[2]) for r in rows])):
        if path.startswith("src/"):
            found[int(rank), int(thread)][path].add(name)
    return found


def roles(found):
    serving = [files for (rank, thread), files in found.items()
               if rank == 0 and thread > 0 and SERVERS & set(files)]
    return {"asks": found.get((1, 0), {}), "answers": found.get((0, 0), {}),
            "serves": serving[0] if serving else {}}


def count(files, suffix):
    return sum(path.endswith(suffix) for path in files)


def details(title, of_role):
    for role, files in of_role.items():
        if files:
            print(f"\n{title}, {role}: {count(files, '.c')} .c, "
                  f"{count(files, '.h')} .h")
        for path in sorted(files, key=lambda p: (p[-1], p)):
            print(f"  {path}: {' '.join(sorted(files[path]))}")


def main(build, source):
    of_way = {f"{way} {transport}":
              roles(entered(build, source, once(build, source, way,
                                                transport)))
              for way in WAYS for transport in TRANSPORTS}
    print(f"{'.c files':12}{'asks':>9}{'answers':>9}{'serves':>9}{'all':>9}")
    for title, of_role in of_way.items():
        every = set().union(*of_role.values())
        print(f"{title:12}" + "".join(
            f"{count(files, '.c'):9}" for files in [*of_role.values(), every]))
    for title, of_role in of_way.items():
        details(title, of_role)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
