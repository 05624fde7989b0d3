/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "stat.h"

#include <inttypes.h>
#include <string.h>

hearth_stats hearthi_stats;

static const struct {
    const char *name, *help;
} table[HEARTHI_STAT_COUNT] = {
#define STAT(name, help) { #name, help },
#include "stat.def"
#undef STAT
};

/* The table and the public struct have the same members in the same order,
 * so a counter is also its index. */
#define STAT(name, help)                                       \
    _Static_assert(offsetof(hearth_stats, name) ==             \
                       HEARTHI_STAT_##name * sizeof(uint64_t), \
                   #name " stands elsewhere in hearth_stats");
#include "stat.def"
#undef STAT
_Static_assert(sizeof(hearth_stats) == HEARTHI_STAT_COUNT * sizeof(uint64_t),
               "hearth_stats has a member that stat.def has not");

static uint64_t *
counter(hearth_stats *s, enum hearthi_stat which)
{
    return (uint64_t *)(void *)((char *)s + which * sizeof(uint64_t));
}

void
hearthi_stats_reset(void)
{
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
        __atomic_store_n(counter(&hearthi_stats, (enum hearthi_stat)i), 0,
                         __ATOMIC_RELAXED);
}

void
hearthi_stats_copy(hearth_stats *to)
{
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++) {
        enum hearthi_stat which = (enum hearthi_stat)i;

        *counter(to, which) =
            __atomic_load_n(counter(&hearthi_stats, which), __ATOMIC_RELAXED);
    }
}

const char *
hearthi_stat_name(enum hearthi_stat which)
{
    return table[which].name;
}

const char *
hearthi_stat_help(enum hearthi_stat which)
{
    return table[which].help;
}

static int
is_time(const char *name)
{
    size_t len = strlen(name);

    return len > 3 && strcmp(name + len - 3, "_ns") == 0;
}

void
hearthi_stats_print(FILE *out, const hearth_stats *sum, int ranks)
{
    hearth_stats s = *sum;

    fprintf(out, "hearth: counters, summed over %d rank%s\n", ranks,
            ranks == 1 ? "" : "s");
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++) {
        uint64_t n = *counter(&s, (enum hearthi_stat)i);

        if (is_time(table[i].name))
            fprintf(out, "hearth: %-13s %14.3f s  %s\n", table[i].name,
                    (double)n * 1e-9, table[i].help);
        else
            fprintf(out, "hearth: %-13s %14" PRIu64 "    %s\n", table[i].name,
                    n, table[i].help);
    }
}
