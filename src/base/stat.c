/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "stat.h"

#include <inttypes.h>
#include <string.h>

#include "timing.h"

enum { NS_OF_SECOND = 1000000000 };

struct hearthi_tally hearthi_tally;

_Thread_local
    __attribute__((tls_model("initial-exec"))) unsigned hearthi_depth;
bool                                                    hearthi_waiting;

static const struct row {
    const char *name, *help;
} table[HEARTHI_STAT_COUNT] = {
#define STAT(name, help) { #name, help },
#include "base/stat.def"
#undef STAT
};

static const struct row distributions[HEARTHI_DISTRIBUTIONS] = {
#define DISTRIBUTION(name, help) { #name, help },
#include "distribution.def"
#undef DISTRIBUTION
};

/* stat.def is made of the public struct (stat.awk): a counter is also its
 * index. */
_Static_assert(sizeof(hearth_stats) == HEARTHI_STAT_COUNT * sizeof(uint64_t),
               "stat.awk takes every member of hearth_stats");

static const uint64_t *
numbers_of(const void *t)
{
    return t;
}

/* Relaxed, here and below: stat.h says why. */
static void
numbers_copy(void *to, int n)
{
    const uint64_t *from = numbers_of(&hearthi_tally);

    for (int i = 0; i < n; i++)
        ((uint64_t *)to)[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

void
hearthi_tally_take(struct hearthi_tally *to)
{
    uint64_t *from = (uint64_t *)(void *)&hearthi_tally;
    uint64_t *n = (uint64_t *)(void *)to;

    for (int i = 0; i < HEARTHI_TALLY; i++)
        n[i] = __atomic_exchange_n(from + i, 0, __ATOMIC_RELAXED);
}

void
hearthi_tally_reset(void)
{
    struct hearthi_tally none;

    hearthi_tally_take(&none);
}

void
hearthi_tally_copy(struct hearthi_tally *to)
{
    numbers_copy(to, HEARTHI_TALLY);
}

void
hearthi_stats_copy(hearth_stats *to)
{
    numbers_copy(to, HEARTHI_STAT_COUNT);
}

void
hearthi_tally_add(struct hearthi_tally *to, const struct hearthi_tally *from)
{
    uint64_t *n = (uint64_t *)(void *)to;

    for (int i = 0; i < HEARTHI_TALLY; i++)
        hearthi_stat_add(n + i, numbers_of(from)[i]);
}

uint64_t
hearthi_stat_value(const hearth_stats *s, enum hearthi_stat which)
{
    return numbers_of(s)[which];
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

const char *
hearthi_distribution_name(enum hearthi_distribution which)
{
    return distributions[which].name;
}

const char *
hearthi_distribution_help(enum hearthi_distribution which)
{
    return distributions[which].help;
}

bool
hearthi_stat_is_time(enum hearthi_stat which)
{
    const char *name = table[which].name;
    size_t      len = strlen(name);

    return len > 3 && strcmp(name + len - 3, "_ns") == 0;
}

/* In whole numbers: a decimal point of printf(3) is a comma in some locales.
 */
void
hearthi_stat_print(FILE *out, enum hearthi_stat which, uint64_t n)
{
    const struct row *r = &table[which];
    int               words = (int)strcspn(r->help, ";:,(");

    if (hearthi_stat_is_time(which))
        fprintf(out, "%-15s %10" PRIu64 ".%03" PRIu64 " s  %.*s\n",
                r->name, n / NS_OF_SECOND,
                n % NS_OF_SECOND / (NS_OF_SECOND / 1000), words, r->help);
    else
        fprintf(out, "%-15s %14" PRIu64 "    %.*s\n", r->name, n,
                words, r->help);
}
