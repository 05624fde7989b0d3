# SPDX-License-Identifier: BSD-2-Clause
"""What the jobs say: whole lines, with the cluster's name or without."""
import os
import selectors
import signal
import sys

from launch.trouble import stop_note

CHUNK = 65536


class Stream:
    def __init__(self, pipe, out, label):
        self.pipe = pipe
        self.out = out
        self.label = label
        self.part = b""  # of a line

    def take(self):
        """What has come.  False at the end."""
        chunk = os.read(self.pipe.fileno(), CHUNK)
        lines = (self.part + chunk).split(b"\n")
        self.part = lines.pop()
        if not chunk and self.part:
            lines.append(self.part)
        self.say(b"".join(self.label + line + b"\n" for line in lines))
        return bool(chunk)

    def say(self, text):
        """Whoever does not listen any more wants no more of it."""
        try:
            while text:
                text = text[os.write(self.out, text):]
        except BrokenPipeError:
            stop_note(signal.SIGPIPE)


class Output:
    def __init__(self):
        self.selector = selectors.DefaultSelector()

    def add(self, process, label):
        for pipe, out in ((process.stdout, sys.stdout),
                          (process.stderr, sys.stderr)):
            self.selector.register(pipe, selectors.EVENT_READ,
                                   Stream(pipe, out.fileno(), label.encode()))

    def pass_on(self, seconds):
        """What comes within that time.  Returns whether something did."""
        ready = self.selector.select(seconds)
        for key, _ in ready:
            if not key.data.take():
                self.selector.unregister(key.fileobj)
        return bool(ready)

    def end(self):
        """The rest, when nobody is left that would say more."""
        while self.selector.get_map() and self.pass_on(0):
            pass
