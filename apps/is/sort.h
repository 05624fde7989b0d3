/* SPDX-License-Identifier: BSD-2-Clause */
/* What both versions of IS share: the keys and their verification. */
#ifndef APPS_IS_SORT_H
#define APPS_IS_SORT_H

#include "npb.h"

enum { IS_ITERATIONS = 10, IS_TESTS = 5 };

/* A class of NPB, and its partial verification. */
struct problem {
    int     log_keys, log_values;
    int32_t at[IS_TESTS], rank[IS_TESTS];
    bool    up[IS_TESTS];
};

/* A rank's part of it all. */
struct sort {
    const struct problem *problem;
    size_t                count, values; /* of all keys; of buckets */
    size_t                from, to;      /* my keys */
    int32_t              *key;           /* my keys, from 0 on */
    int32_t              *rank;          /* and their ranks */
    int32_t              *next; /* by value: my keys; then, the next rank */
};

/* The arrays of a sort, and my keys. */
void is_sort_init(struct sort *s, const struct app_run *run,
                  enum npb_class class);
void is_sort_free(struct sort *s);

/* Change the two keys of an iteration, and count mine. */
void is_keys_count(struct sort *s, int iteration);

/* Give my keys the ranks that begin at s->next. */
void is_keys_rank(struct sort *s);

/* A key, by its number of all; NULL if it is not mine. */
int32_t *is_key_find(const struct sort *s, size_t at);

/* less: how many keys are less than the key of this test. */
void is_rank_verify(struct app_run *run, const struct problem *p, int test,
                    int iteration, int32_t less);

/* Put keys at their ranks. */
void is_keys_place(struct app_run *run, int32_t *sorted, const struct sort *s,
                   const int32_t *key, const int32_t *rank, size_t keys);

/* Key number i of the sorted sequence, and the one before it. */
bool is_pair_verify(struct app_run *run, size_t i, int32_t before,
                    int32_t key);

#endif
