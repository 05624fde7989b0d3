/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "migrate_agree.h"

#include <stdlib.h>

#include "base/report.h"
#include "collective.h"
#include "transport/transport.h"
#include "world.h"

enum { TAG = 28000 }; /* and one a round */

static struct hearthi_collective_way
way(void)
{
    return (struct hearthi_collective_way){ "hearth_barrier",
                                            hearthi_world.comm, TAG,
                                            hearthi_requests_wait };
}

void
hearthi_barrier_gather(const void *mine, size_t bytes, void *all)
{
    const struct hearthi_collective_way w = way();

    hearthi_collective_gather_by(&w, mine, bytes, all);
}

/* What comes twice does no harm. */
void
hearthi_barrier_or(uint8_t *bits, size_t bytes)
{
    int      n = hearthi_world.size, me = hearthi_world.rank;
    uint8_t *more = malloc(bytes);

    const struct hearthi_collective_way w = way();

    if (more == NULL)
        hearthi_fatal("hearth_barrier", "no memory for %zu bytes", bytes);
    for (int have = 1, round = 0; have < n; have *= 2, round++) {
        hearthi_collective_swap_by(&w, bits, (me + have) % n, more,
                                   (me - have + n) % n, bytes, round);
        for (size_t i = 0; i < bytes; i++)
            bits[i] |= more[i];
    }
    free(more);
}
