/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "udp_hello.h"

#include "base/network.h"
#include "cluster.h"
#include "space/heap.h"

enum { ADDRESSES = HEARTHI_ADDRESSES };

_Static_assert(ADDRESSES <= 64, "a bit of a word for each");

struct host {             /* that a rank is on */
    uint64_t       hello; /* the largest number of one */
    uint64_t       came;  /* of that, by which addresses of this rank */
    unsigned       n;
    struct in_addr at[ADDRESSES];
};

static struct host *hosts; /* of each rank */

static size_t
hosts_bytes(void)
{
    return (size_t)hearthi_cluster.size * sizeof *hosts;
}

void
hearthi_udp_acl_open(void)
{
    hosts = hearthi_sparse(hosts_bytes());
}

void
hearthi_udp_acl_close(void)
{
    hearthi_sparse_free(hosts, hosts_bytes());
}

bool
hearthi_udp_acl_has(uint32_t rank, const struct sockaddr_in *from)
{
    const struct host *h = &hosts[rank];

    for (unsigned i = 0; i < h->n; i++)
        if (h->at[i].s_addr == from->sin_addr.s_addr)
            return true;
    return false;
}

/* A rank says a hello to each address of this one, once. */
static bool
hello_is_new(struct host *h, const struct hearthi_udp_message *m)
{
    uint64_t bit;

    if (m->at >= ADDRESSES || m->seq < h->hello)
        return false;
    bit = UINT64_C(1) << m->at;
    if (m->seq == h->hello && (h->came & bit) != 0)
        return false;
    h->came = m->seq > h->hello ? bit : h->came | bit;
    h->hello = m->seq;
    return true;
}

/* A rank says hello to all addresses of this one, so what it sends later comes
 * by one of those ways. */
bool
hearthi_udp_acl_hello(const struct hearthi_udp_message *m,
                      const struct sockaddr_in         *from)
{
    struct host *h = &hosts[m->from];

    if (!hello_is_new(h, m))
        return false;
    if (!hearthi_udp_acl_has(m->from, from) && h->n < ADDRESSES)
        h->at[h->n++] = from->sin_addr;
    return true;
}
