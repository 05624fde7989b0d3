# SPDX-License-Identifier: BSD-2-Clause
"""
What hearth-compare, hearth-cluster and hearth-report share.

    bed      test hosts on this machine
    clusters of test hosts, and the file that names them
    link     what their gateways are joined by
    session  the end of a job
    words    the command line
    built    what make knows
    trouble  what ends a tool early
"""
