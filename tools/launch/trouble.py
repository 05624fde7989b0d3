# SPDX-License-Identifier: BSD-2-Clause
"""What ends a tool early."""
import signal


class Trouble(Exception):
    """Something does not work here: one line, exit status 1."""

    status = 1


class Wrong(Trouble):
    """The command line asks for what is not: exit status 2."""

    status = 2


class Stopped(Exception):
    """A signal has asked to end."""


# A signal only leaves its number here.  It is looked at where a job can be
# ended and nothing is half done: stop_check().
asked_by = None


def stop_note(number, _=None):
    global asked_by
    asked_by = number


def stop_take():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # under nohup it is
            signal.signal(number, stop_note)


def stop_check():
    if asked_by is not None:
        raise Stopped
