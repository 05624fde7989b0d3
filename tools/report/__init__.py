# SPDX-License-Identifier: BSD-2-Clause
"""
The parts of hearth-report.

    main     the whole: from the command line to the exit status
    run      one run, from the page that HEARTH_REPORT wrote
    compare  two runs: places that are the same, and what each cost
    text     the comparison for a terminal
    page     the comparison for a browser

What it shares with other tools is in the package launch.
"""
