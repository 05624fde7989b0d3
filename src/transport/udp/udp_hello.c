/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the servers are.  A host may have several addresses, and another host
 * may reach only some of them: so a hello goes to all of them, and the one
 * from which the first answer came is used.
 *
 * A server answers no rank whose hello it has not had (server.c).  All hellos
 * of a rank, whichever thread says them, have numbers in a rising row.
 */
#include "config.h"

#include "udp_hello.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "cluster.h"
#include "socket.h"
#include "udp_job.h"

struct way { /* to a rank */
    uint16_t       n, port;
    bool           answered; /* by one address, which is in use */
    atomic_bool    passes;   /* of the first rank of a machine: full size */
    struct in_addr at[HEARTHI_ADDRESSES];
};

static struct way      *ways;
static pthread_mutex_t  mutex = PTHREAD_MUTEX_INITIALIZER; /* of `answered` */
static _Atomic uint64_t hellos;

atomic_bool *hearthi_udp_met_with;

void
hearthi_udp_hello_open(void)
{
    size_t n = (size_t)hearthi_cluster.size;

    hellos = UINT64_C(1) << 63;
    ways = calloc(n, sizeof *ways);
    hearthi_udp_met_with = calloc(n, sizeof *hearthi_udp_met_with);
    hearthi_udp.server = calloc(n, sizeof *hearthi_udp.server);
    if (ways == NULL || hearthi_udp_met_with == NULL ||
        hearthi_udp.server == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_udp_hello_close(void)
{
    free(ways);
    free(hearthi_udp_met_with);
    free(hearthi_udp.server);
    ways = NULL;
    hearthi_udp_met_with = NULL;
    hearthi_udp.server = NULL;
}

static struct sockaddr_in
address(const struct way *w, uint64_t i)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = w->port,
                                 .sin_addr = w->at[i] };
}

void
hearthi_udp_ways_set(int rank, const struct hearthi_addresses *all)
{
    struct way *w = &ways[rank];

    w->n = (uint16_t)all->n;
    w->port = all->at[0].v4.sin_port;
    for (int i = 0; i < all->n; i++)
        w->at[i] = all->at[i].v4.sin_addr;
    hearthi_udp.server[rank] = address(w, 0);
}

void
hearthi_udp_ways_text(int rank, char *text, size_t size)
{
    const struct way *w = &ways[rank];

    text[0] = '\0';
    for (unsigned i = 0; i < w->n; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s",
                 i > 0 ? ", " : "", inet_ntoa(w->at[i]));
}

uint64_t
hearthi_udp_hello_number(void)
{
    return atomic_fetch_add(&hellos, 1) + 1;
}

void
hearthi_udp_hello_send(int fd, struct hearthi_udp_message *m)
{
    const struct way *w = &ways[m->to];

    for (m->at = 0; m->at < w->n; m->at++) {
        struct sockaddr_in to = address(w, m->at);

        hearthi_udp_send(fd, &to, m, NULL);
    }
}

void
hearthi_udp_hello_heard(const struct hearthi_udp_message *m)
{
    struct way *w = &ways[m->from];

    if (m->at >= w->n)
        return;
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_HELLO);
    if (!w->answered)
        hearthi_udp.server[m->from] = address(w, m->at);
    w->answered = true;
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_HELLO);
}

bool
hearthi_udp_size_passes(int rank)
{
    return ways[hearthi_cluster.machine_of[rank]].passes;
}

void
hearthi_udp_size_passed(int rank)
{
    ways[hearthi_cluster.machine_of[rank]].passes = true;
}

void
hearthi_udp_met_set(int rank)
{
    atomic_store_explicit(&hearthi_udp_met_with[rank], true,
                          memory_order_release);
}
