# SPDX-License-Identifier: BSD-2-Clause
"""The command line."""
import argparse
import re

from launch.trouble import Wrong


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Wrong(message.replace("argument ", "", 1) +
                    f"; see {self.prog} --help")


def words(text):
    """LIST: words with commas between them."""
    found = [word for word in text.split(",") if word]
    if not found:
        raise argparse.ArgumentTypeError("an empty list")
    return found


def different(text):
    """LIST of which no word is there twice."""
    found = words(text)
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"{text} names something twice")
    return found


def number(text):
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a whole number of 1 or more")
    return int(text)
