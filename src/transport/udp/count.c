/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages and bytes by operation, and what was refused by reason.
 */
#include "config.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/option.h"
#include "base/stat.h"
#include "udp.h"
#include "world.h"

static struct {
    _Atomic uint64_t messages[HEARTHI_UDP_OPS], bytes[HEARTHI_UDP_OPS];
    _Atomic uint64_t refused[HEARTHI_UDP_REASONS];
} count;

enum { COUNTERS = sizeof count / sizeof(uint64_t) };

static const char *const reasons[HEARTHI_UDP_REASONS] = {
    "", "length", "operation", "rank", "place", "seal", "sequence"
};

/* Before the first datagram of a start. */
void
hearthi_udp_counts_reset(void)
{
    memset(&count, 0, sizeof count);
}

void
hearthi_udp_count_sent(unsigned op, unsigned messages, size_t bytes)
{
    unsigned i = hearthi_udp_index(op);

    atomic_fetch_add_explicit(&count.messages[i], messages,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&count.bytes[i], bytes, memory_order_relaxed);
    hearthi_count(messages, messages);
    hearthi_count(message_bytes, bytes);
}

void
hearthi_udp_count_refused(enum hearthi_udp_reason reason)
{
    atomic_fetch_add_explicit(&count.refused[reason], 1,
                              memory_order_relaxed);
    hearthi_count(refused, 1);
}

static void
counts_print(const uint64_t *sum)
{
    static const uint8_t op[HEARTHI_UDP_OPS] = {
        HEARTHI_UDP_NULL, HEARTHI_UDP_EXIT,     HEARTHI_UDP_GETP,
        HEARTHI_UDP_GETPGRANT, HEARTHI_UDP_DIFF, HEARTHI_UDP_DIFFGRANT,
        HEARTHI_UDP_BARR, HEARTHI_UDP_BARRGRANT, HEARTHI_UDP_ACQ,
        HEARTHI_UDP_ACQGRANT, HEARTHI_UDP_WAIT, HEARTHI_UDP_WAITGRANT,
        HEARTHI_UDP_INV, HEARTHI_UDP_WTNT, HEARTHI_UDP_REL,
        HEARTHI_UDP_BCAST
    };

    for (int i = 0; i < HEARTHI_UDP_OPS; i++)
        if (sum[i] > 0)
            fprintf(stderr,
                    "hearth: %-13s %14" PRIu64 "    messages, %" PRIu64
                    " bytes\n",
                    hearthi_udp_name(op[i]), sum[i],
                    sum[HEARTHI_UDP_OPS + i]);
    for (int i = 1; i < HEARTHI_UDP_REASONS; i++)
        if (sum[2 * HEARTHI_UDP_OPS + i] > 0)
            fprintf(stderr,
                    "hearth: %-13s %14" PRIu64 "    datagrams refused\n",
                    reasons[i], sum[2 * HEARTHI_UDP_OPS + i]);
}

void
hearthi_udp_counts_print(void)
{
    uint64_t mine[COUNTERS], sum[COUNTERS];

    for (int i = 0; i < HEARTHI_UDP_OPS; i++) {
        mine[i] = count.messages[i];
        mine[HEARTHI_UDP_OPS + i] = count.bytes[i];
    }
    for (int i = 0; i < HEARTHI_UDP_REASONS; i++)
        mine[2 * HEARTHI_UDP_OPS + i] = count.refused[i];
    HEARTHI_MPI(MPI_Reduce(mine, sum, COUNTERS, MPI_UINT64_T, MPI_SUM, 0,
                           hearthi_world.comm));
    if (hearthi_world.rank == 0)
        counts_print(sum);
}
