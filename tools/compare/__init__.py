# SPDX-License-Identifier: BSD-2-Clause
"""
The parts of hearth-compare.

    main     the whole: from the command line to the page
    options  the command line, checked before anything runs
    switches options of the library that are compared with its defaults
    plan     configurations, their order, and which are left to run
    places   networks: what starts a job on them
    job      one run of a program, and its end
    room     whether the disks have room for it
    state    the file of finished runs, from which a comparison goes on
    machine  what the machine is, and what warns of its numbers
    figures  medians, speedups, parts of the time, counters
    plot     pictures, by gnuplot
    page     the page;  tables, clusters and html are its means

What it shares with hearth-cluster is in the package launch.
"""
