/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The seam: what carries pages, diffs, locks and barriers between nodes.  The
 * layers above never call RMA or sockets; a transport never knows what a diff
 * is for.  To add one: one folder, one table of functions, one row in
 * transport.c.
 *
 * "Blocks" means, here and in the headers of its parts: drives the progress of
 * others while it waits, and yields the core.
 */
#ifndef HEARTHI_TRANSPORT_H
#define HEARTHI_TRANSPORT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "collective_ops.h"
#include "data_ops.h"
#include "sync_ops.h"

struct hearthi_transport_ops {
    const char *name;

    /* Names of the kinds of its messages, and of its reasons to refuse one,
     * as the tally (stat.h) numbers them from 0 on; NULL behind the last. */
    const char *(*kind_name)(unsigned i);
    const char *(*reason_name)(unsigned i);

    /* Collective; after the segments.  Ends the job if it cannot work here. */
    void (*open)(void);
    void (*close)(void);

    /* registers tells whether a network card may hold the physical pages of
     * what this transport was given, home frames that can be reached and the
     * buffers of fetch and diff (but for messages that are received aside
     * while another is, which are the C library's): then none of them is
     * punched, unmapped or mapped anew before close, since the card would keep
     * the old ones. */
    bool (*registers)(void);

    /* Let others be served.  Local, cheap. */
    void (*progress)(void);

    struct hearthi_data_ops       data;
    struct hearthi_sync_ops       sync;
    struct hearthi_collective_ops collective;
};

extern const struct hearthi_transport_ops *hearthi_transport; /* in use */

extern const struct hearthi_transport_ops hearthi_transport_mpi;
extern const struct hearthi_transport_ops hearthi_transport_mpi_node;
extern const struct hearthi_transport_ops hearthi_transport_udp;
extern const struct hearthi_transport_ops hearthi_transport_udp_node;

/* The same, of a rank whose own home pages are copies to it, too
 * (HEARTH_RACES): what it fetches from itself and sends itself is copied here,
 * and goes past the transport, which owes that between nodes only.  One at a
 * time. */
const struct hearthi_transport_ops *
hearthi_transport_loopback(const struct hearthi_transport_ops *of);

/* The transport that hearthi_opt.transport names.  Collective. */
void hearthi_transport_open(void);

/* Blocks until n requests of ours are done: a collective must not keep the
 * core or stop serving others. */
void hearthi_requests_wait(MPI_Request *request, int n);

#endif
