# SPDX-License-Identifier: BSD-2-Clause
"""The command line."""
import argparse
import re

from launch.trouble import Wrong

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60}
BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Wrong(message.replace("argument ", "", 1) +
                    f"; see {self.prog} --help")


def wrong(text):
    raise argparse.ArgumentTypeError(text)


def words(text):
    """LIST: words with commas between them."""
    found = [word for word in text.split(",") if word]
    if not found:
        wrong("an empty list")
    return found


def different(text):
    """LIST of which no word is there twice."""
    found = words(text)
    if len(set(found)) < len(found):
        wrong(f"{text} names something twice")
    return found


def number(text):
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        wrong(f"'{text}' is not a whole number of 1 or more")
    return int(text)


def measure(text, units, example):
    """A number with a unit."""
    found = re.fullmatch(r"([0-9]{1,6}(\.[0-9]{1,6})?)([a-z]+)", text)
    if not found or found.group(3) not in units:
        wrong(f"'{text}' is not of the form {example}")
    return float(found.group(1)) * units[found.group(3)]


def duration(text):
    return measure(text, SECONDS, "0.1ms, 5s or 1min")


def rate(text):
    """Bits a second, at least a kilobit; 0 is none."""
    if text == "none":
        return 0
    bits = measure(text, BITS, "1gbit, 100mbit or none")
    if not 1e3 <= bits <= 1e12:
        wrong(f"{text} is not within 1kbit and 1000gbit")
    return bits
