/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sort.h"

/*
 * Partial verification, of NPB's is.c (2.3 to 3.4.2): in iteration i the
 * number of keys less than key `at` is `rank`, plus i if `up`, else minus i.
 * NPB writes the ranks of W and A with other offsets, by which iteration they
 * are for; here they are all for iteration 0.
 */
static const struct problem problems[NPB_CLASSES] = {
    [NPB_S] = { 16,
                11,
                { 48427, 17148, 23627, 62548, 4431 },
                { 0, 18, 346, 64917, 65463 },
                { true, true, true, false, false } },
    [NPB_W] = { 20,
                16,
                { 357773, 934767, 875723, 898999, 404505 },
                { 1249 - 2, 11698 - 2, 1039987, 1043896, 1048018 },
                { true, true, false, false, false } },
    [NPB_A] = { 23,
                19,
                { 2112377, 662041, 5336171, 3642833, 4250760 },
                { 104 - 1, 17523 - 1, 123928 - 1, 8288932 + 1, 8388264 + 1 },
                { true, true, true, false, false } },
};

/* My keys: values / 4 times the sum of four random numbers, rounded down. */
static void
keys_start(struct sort *s)
{
    uint64_t x = npb_jump(314159265, 4 * s->from);

    for (size_t i = 0; i < s->to - s->from; i++) {
        uint64_t sum = 0;

        for (int k = 0; k < 4; k++)
            sum += x = npb_next(x);
        s->key[i] = (int32_t)(sum >> (48 - s->problem->log_values));
    }
}

void
is_sort_init(struct sort *s, const struct app_run *run, enum npb_class class)
{
    s->problem = &problems[class];
    s->count = (size_t)1 << s->problem->log_keys;
    s->values = (size_t)1 << s->problem->log_values;
    s->from = app_part(s->count, run->rank, run->ranks);
    s->to = app_part(s->count, run->rank + 1, run->ranks);
    s->key = app_private(run, s->to - s->from, sizeof *s->key);
    s->rank = app_private(run, s->to - s->from, sizeof *s->rank);
    s->next = app_private(run, s->values, sizeof *s->next);
    keys_start(s);
}

void
is_sort_free(struct sort *s)
{
    free(s->next);
    free(s->rank);
    free(s->key);
}

int32_t *
is_key_find(const struct sort *s, size_t at)
{
    return s->from <= at && at < s->to ? &s->key[at - s->from] : NULL;
}

static void
key_change(struct sort *s, size_t at, size_t value)
{
    int32_t *key = is_key_find(s, at);

    if (key != NULL)
        *key = (int32_t)value;
}

void
is_keys_count(struct sort *s, int iteration)
{
    key_change(s, (size_t)iteration, (size_t)iteration);
    key_change(s, (size_t)iteration + IS_ITERATIONS,
               s->values - (size_t)iteration);
    memset(s->next, 0, s->values * sizeof *s->next);
    for (size_t i = 0; i < s->to - s->from; i++)
        s->next[s->key[i]]++;
}

void
is_keys_rank(struct sort *s)
{
    for (size_t i = 0; i < s->to - s->from; i++)
        s->rank[i] = s->next[s->key[i]]++;
}

void
is_rank_verify(struct app_run *run, const struct problem *p, int test,
            int iteration, int32_t less)
{
    int32_t want = p->rank[test] + (p->up[test] ? iteration : -iteration);

    app_verdict(run, less == want,
                "iteration %d: %" PRId32 " keys are less than number %" PRId32
                ", there should be %" PRId32,
                iteration, less, p->at[test], want);
}

void
is_keys_place(struct app_run *run, int32_t *sorted, const struct sort *s,
           const int32_t *key, const int32_t *rank, size_t keys)
{
    for (size_t i = 0; i < keys && !run->failed; i++)
        if (rank[i] >= 0 && (size_t)rank[i] < s->count)
            sorted[rank[i]] = key[i];
        else
            app_verdict(run, false, "a key has rank %" PRId32, rank[i]);
}

bool
is_pair_verify(struct app_run *run, size_t i, int32_t before, int32_t key)
{
    bool ok = key >= 0 && before <= key;

    if (key < 0)
        app_verdict(run, false, "no key has rank %zu", i);
    else
        app_verdict(run, ok,
                    "keys %zu and %zu, %" PRId32 " and %" PRId32
                    ", are not in order",
                    i - 1, i, before, key);
    return ok;
}
