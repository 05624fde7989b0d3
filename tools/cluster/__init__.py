# SPDX-License-Identifier: BSD-2-Clause
"""
The parts of hearth-cluster.

    main     the whole: from the command line to the exit status
    options  the command line
    needs    what the machine must have, and what it has left of others
    cluster  the hosts of a cluster, its job, and the file of clusters
    link     what the gateways are joined by
    jobs     all that run, until they have ended
    output   what they say

What it shares with hearth-compare is in the package launch.  The C program
wire.c is the link itself.
"""
