/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <stdlib.h>

#include "part.h"

void
hearthi_cost_add(struct hearthi_cost *to, const struct hearthi_cost *c)
{
    to->reads += c->reads;
    to->writes += c->writes;
    to->ahead += c->ahead;
    to->diffs += c->diffs;
    to->diff_bytes += c->diff_bytes;
    to->ns += c->ns;
}

static const struct hearthi_cost
    *sorted; /* by whose ns: qsort(3) has no room */

static int
dearer(const void *a, const void *b)
{
    uint64_t x = sorted[*(const uint32_t *)a].ns;
    uint64_t y = sorted[*(const uint32_t *)b].ns;

    return (x < y) - (x > y);
}

static bool
is_dear(const struct hearthi_cost *c)
{
    return c->reads + c->writes + c->ahead + c->diffs + c->ns > 0;
}

size_t
hearthi_costs_dearest(const struct hearthi_cost *cost, size_t n, bool all,
                      uint32_t *out)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (all || is_dear(&cost[i]))
            out[k++] = (uint32_t)i;
    sorted = cost;
    qsort(out, k, sizeof *out, dearer);
    return k;
}
