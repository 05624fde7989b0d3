/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

enum { PROVABLE = 20 }; /* cities, in 40 MB */

/* TSPLIB's table of optimal lengths (STSP.html). */
static const struct {
    const char *name;
    int32_t     length;
} known[] = {
    { "burma14", 3323 },   { "ulysses16", 6859 }, { "gr17", 2085 },
    { "gr21", 2707 },      { "ulysses22", 7013 }, { "gr24", 1272 },
    { "fri26", 937 },      { "bayg29", 1610 },    { "bays29", 2020 },
};

static int32_t
known_length(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].length;
    return 0;
}

bool
tsp_verifiable(const struct tsp *t)
{
    return t->cities <= PROVABLE || known_length(t->name) != 0;
}

/*
 * The length of the shortest tour by dynamic programming over sets of cities
 * (Bellman, J. ACM 9, 1962; Held and Karp, J. SIAM 10, 1962): best[set][i] is
 * the length of the shortest way from the last city through the set to its
 * city i.
 */
static int32_t
shortest_length(const struct app_run *run, const struct tsp *t)
{
    const int      n = t->cities - 1; /* all but the last city */
    const uint32_t all = ((uint32_t)1 << n) - 1;
    int32_t       *best =
        app_private(run, ((size_t)all + 1) * (size_t)n, sizeof *best);
    int32_t shortest = INT32_MAX;

    for (uint32_t set = 1; set <= all; set++)
        for (int i = 0; i < n; i++) {
            const uint32_t before = set & ~((uint32_t)1 << i);
            int32_t        way = INT32_MAX;

            if (before == set)
                continue;
            if (before == 0)
                way = t->distance[n][i];
            for (uint32_t left = before; left != 0; left &= left - 1) {
                const int     j = __builtin_ctz(left);
                const int32_t by =
                    best[before * (size_t)n + (size_t)j] + t->distance[j][i];

                way = by < way ? by : way;
            }
            best[set * (size_t)n + (size_t)i] = way;
        }
    for (int i = 0; i < n; i++) {
        int32_t by = best[all * (size_t)n + (size_t)i] + t->distance[i][n];

        shortest = by < shortest ? by : shortest;
    }
    free(best);
    return shortest;
}

void
tsp_verify(struct app_run *run, const struct tsp *t, const uint8_t *city,
           int32_t length)
{
    const int32_t want = known_length(t->name);
    bool          seen[TSP_CITIES] = { false };
    int32_t       sum = 0;

    for (int i = 0; i < t->cities; i++) {
        seen[city[i]] = true;
        sum += t->distance[city[i]][city[(i + 1) % t->cities]];
    }
    for (int i = 0; i < t->cities; i++)
        app_verdict(run, seen[i], "the tour leaves out city %d", i + 1);
    app_verdict(run, sum == length,
                "the tour is %" PRId32 " long and not %" PRId32, sum, length);
    app_verdict(run, want == 0 || length == want,
                "found %" PRId32 ", TSPLIB's shortest tour is %" PRId32,
                length, want);
    if (t->cities > PROVABLE)
        return;
    sum = shortest_length(run, t);
    app_verdict(run, length == sum,
                "found %" PRId32 ", the shortest tour is %" PRId32, length,
                sum);
}
