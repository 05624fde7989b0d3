# SPDX-License-Identifier: BSD-2-Clause
"""
What hearth-compare and hearth-cluster share.

    bed      test hosts on this machine
    session  the end of a job
    words    the command line
    built    what make knows
    trouble  what ends a tool early
"""
