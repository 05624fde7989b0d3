# SPDX-License-Identifier: BSD-2-Clause
"""The whole: from the command line to the exit status."""
import os
import sys

from launch.trouble import Trouble
from launch.words import Parser
from report.compare import Comparison
from report.page import page_of
from report.run import Run
from report.text import text_of

ABOUT = """\
Says what got better and worse from one run to the other, in seconds, by
place: lines, memory, locks and barriers.  A.html and B.html are pages that
HEARTH_REPORT wrote; see hearth-report(1).
"""


def options_read(version):
    parser = Parser(prog="hearth-report", description=ABOUT)
    parser.add_argument("a", metavar="A.html", help="the run before")
    parser.add_argument("b", metavar="B.html", help="the run after")
    parser.add_argument("--html", metavar="OUT",
                        help="write a page for a browser instead")
    parser.add_argument("-V", "--version", action="version",
                        version=f"hearth-report {version}")
    return parser.parse_args()


def whole_write(path, text):
    """The file is there whole or not at all."""
    name = f"{path}.{os.getpid()}.tmp"
    try:
        with open(name, "w", encoding="utf-8",
                  errors="backslashreplace") as file:
            file.write(text)
        os.replace(name, path)
    except OSError as problem:
        if os.path.exists(name):
            os.unlink(name)
        raise Trouble(f"{path} cannot be written:"
                      f" {problem.strerror}") from None


def text_write(text):
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Trouble(f"cannot write: {problem.strerror}") from None


def main(built):
    sys.stderr.reconfigure(errors="backslashreplace")
    try:
        options = options_read(built.version)
        comparison = Comparison(Run(options.a), Run(options.b))
        if options.html:
            whole_write(options.html, page_of(comparison))
        else:
            text_write(text_of(comparison))
    except Trouble as problem:
        print(f"hearth-report: {problem}", file=sys.stderr)
        return problem.status
    return 0
