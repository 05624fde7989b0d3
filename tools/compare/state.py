# SPDX-License-Identifier: BSD-2-Clause
"""
The file of finished runs: a line of JSON for each, after a first line that
says which comparison it is.  Every line is on disk before the next run starts.
"""
import fcntl
import json
import os

from launch.trouble import Trouble, Wrong

NAME = "state.jsonl"
FORMAT = 1


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value)


def identity_compare(folder, old, new):
    for name in sorted(set(old) | set(new)):
        if old.get(name) != new.get(name):
            raise Wrong(
                f"{folder} holds a comparison with another {name}: "
                f"{text_of(old.get(name))}, and not {text_of(new.get(name))};"
                " name another --out")


def files_write(folder, texts):
    """Write files that are there whole, or not at all, and all of them or
    none."""
    paths = {os.path.join(folder, name): text for name, text in texts.items()}
    try:
        for path, text in paths.items():
            with open(path + ".tmp", "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for path in paths:
            os.replace(path + ".tmp", path)
    except OSError as problem:
        for other in paths:
            if os.path.exists(other + ".tmp"):
                os.unlink(other + ".tmp")
        raise Trouble(f"{path}: {problem.strerror}")


class State:
    def __init__(self, folder, identity):
        self.folder = folder
        self.path = os.path.join(folder, NAME)
        self.records = []
        # As it will be read again: tuples are lists.
        self.identity = json.loads(json.dumps(identity))
        self.folder_open()
        self.file_open()
        if not self.lines_read():  # nothing has been run
            self.file.close()
            self.first_write()
            self.file_open()
            self.lines_read()

    def folder_open(self):
        try:
            os.makedirs(self.folder, exist_ok=True)
            found = os.listdir(self.folder)
        except OSError as problem:
            raise Trouble(f"{self.folder}: {problem.strerror}")
        # What a full disk may have left of an earlier attempt is ours.
        if NAME not in found and set(found) - {NAME + ".tmp"}:
            raise Wrong(f"{self.folder} holds something else; name another"
                        " --out")
        if NAME not in found:
            self.first_write()

    def first_write(self):
        first = {"hearth-compare": FORMAT, "options": self.identity}
        files_write(self.folder, {NAME: json.dumps(first) + "\n"})

    def file_open(self):
        try:
            self.file = open(self.path, "rb+", buffering=0)
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Trouble("another hearth-compare is at work in"
                          f" {self.folder}")
        except OSError as problem:
            raise Trouble(f"{self.path}: {problem.strerror}")

    def lines_read(self):
        """What is not a whole line was being written when the machine went
        down, and is forgotten.  False if that is another comparison, of which
        nothing has been run."""
        data = self.file.read()
        self.length = data.rfind(b"\n") + 1
        try:
            lines = [json.loads(line) for line in
                     data[:self.length].decode().splitlines()]
            first = lines[0]
            known = first["hearth-compare"] == FORMAT
            options = first["options"]
        except (ValueError, LookupError, TypeError):
            known = False
        if not known:
            raise Wrong(f"{self.path} is not of this hearth-compare; name"
                        " another --out")
        self.records = lines[1:]
        if options != self.identity and not self.records:
            return False
        identity_compare(self.folder, options, self.identity)
        self.file.truncate(self.length)
        self.file.seek(self.length)
        return True

    def append(self, record):
        """Whole or not at all, on a full disk too."""
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        try:
            written = 0
            while written < len(line):
                written += self.file.write(line[written:])
            os.fsync(self.file.fileno())
            self.length += len(line)
            self.records.append(record)
        except OSError as problem:
            os.ftruncate(self.file.fileno(), self.length)
            raise Trouble(f"{self.path}: {problem.strerror}; when that is "
                          "mended, the same command goes on from there")
