/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rate LANES MIB -- Mbit/s from the second cluster to the first over the link
 * of src/link, with so many connections, in messages of 256 KiB: of all, and
 * of the second half of them.  Runs in each cluster of hearth-cluster, on the
 * gateway.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "link/link.h"

enum { MESSAGE = 256 << 10, ON_THE_WAY = 64 << 20 };

static struct {
    int      n, came;
    uint64_t first, half, last; /* ns */
} r;

static void
message(void *arg, int cluster, const void *body, size_t len)
{
    uint64_t now = hearthi_clock_kernel();

    (void)arg, (void)cluster, (void)body, (void)len;
    r.came++;
    if (r.came == 1)
        r.first = now;
    if (r.came == r.n / 2)
        r.half = now;
    if (r.came == r.n)
        r.last = now;
}

static void
failed(void *arg, int cluster, const char *line)
{
    (void)arg, (void)cluster;
    fprintf(stderr, "rate: %s\n", line);
    exit(1);
}

static void
nothing(void *body)
{
    (void)body;
}

static void
all_send(struct hearthi_link *k)
{
    static char body[MESSAGE];

    for (int sent = 0; sent < r.n;) {
        while (sent < r.n && hearthi_link_unsent(k, 0) < ON_THE_WAY)
            sent += hearthi_link_give(k, 0, body, sizeof body, nothing);
        hearthi_link_turn(k, -1);
    }
}

static double
mbits(int messages, uint64_t ns)
{
    return 8e3 * messages * MESSAGE / (double)ns;
}

int
main(int argc, char **argv)
{
    const struct hearthi_link_calls calls = { .message = message,
                                              .failed = failed };
    struct hearthi_link_options     options = hearthi_link_defaults();
    struct hearthi_link_error       wrong;
    struct hearthi_conf            *conf =
        hearthi_conf_read(getenv("HEARTH_CLUSTERS"), &wrong);
    int me = hearthi_conf_find(conf, getenv("HEARTH_CLUSTER"), &wrong);
    struct hearthi_link *k;

    options.conns = argc > 1 ? atoi(argv[1]) : 1;
    r.n = 4 * (argc > 2 ? atoi(argv[2]) : 64);
    k = hearthi_link_open(conf, me, &options, &calls, NULL, &wrong);
    if (k == NULL) {
        fprintf(stderr, "rate: %s\n", wrong.text);
        return 1;
    }
    if (me == 1)
        all_send(k);
    if (!hearthi_link_finish(k))
        return 1;
    if (me == 0)
        printf("%d connections: %.0f Mbit/s, %.0f in the second half\n",
               options.conns, mbits(r.n - 1, r.last - r.first),
               mbits(r.n - r.n / 2, r.last - r.half));
    hearthi_link_close(k);
    return 0;
}
