/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A bad network between two ends: a thread that carries bytes, and after some
 * of them cuts the connection, spoils a byte, or carries none any more, not of
 * new connections either, for a while.
 */
#ifndef HEARTH_LINK_PROXY_H
#define HEARTH_LINK_PROXY_H

#include <stdbool.h>
#include <stdint.h>

enum trouble { TROUBLE_CUT, TROUBLE_SPOIL, TROUBLE_SILENT, TROUBLES };

struct proxy {
    int      listener, port, to; /* where it listens, whom it connects to */
    uint64_t seed;
    uint64_t every;  /* bytes between two troubles, about; 0: no trouble */
    double   silent; /* seconds */
    int      had[TROUBLES];
};

/* One for a program; it ends with it. */
void proxy_start(struct proxy *p);

#endif
