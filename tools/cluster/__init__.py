# SPDX-License-Identifier: BSD-2-Clause
"""
The parts of hearth-cluster.

    main     the whole: from the command line to the exit status
    options  the command line
    needs    launchers and programs, and what the machine has left of others
    job      the job of a cluster
    jobs     all that run, until they have ended
    output   what they say

What it shares with hearth-compare is in the package launch, the clusters and
their hosts too.  The C program wire.c is the link itself.
"""
