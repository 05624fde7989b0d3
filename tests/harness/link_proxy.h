/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A bad network between two ends: a thread that carries bytes, and after some
 * of them cuts the connection, spoils a byte, or carries none any more, not of
 * new connections either, for a while.  Or it loses what is long.
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
    double   calm;   /* seconds without trouble after that, at least */
    int      piece; /* instead: with this one of those carried, from 1, once */
    enum trouble what;
    int          most; /* bytes at once: of more, and what follows, nothing */
    int          slow; /* so many bytes at once, and in 20 ms */
    bool unspoilt;     /* a byte spoilt in the first handshake ends a job */
    _Atomic bool over; /* it shall end */
    int          had[TROUBLES];
};

/* In a thread, until nobody listens any more where it connects to, or the
 * program ends. */
void proxy_start(struct proxy *p);

#endif
