/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A fetch whose pages are all in the cache is answered at once.  One of a page
 * that is on its way already waits for it; it is looked at again when a fetch
 * has come, or what was on its way is not to be kept.  All others go on, and
 * are kept when they have come, unless something has dropped them meanwhile
 * (kept.h).
 */
#include "config.h"

#include "far.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "base/stat.h"
#include "gate.h"
#include "kept.h"
#include "notice/notice.h"
#include "space/heap.h"
#include "world.h"

/* A fetch that waits, or that is on its way. */
struct fetch {
    struct fetch      *next;
    uint64_t           number; /* on its way */
    struct hearthi_ask ask;    /* its body, of runs, behind it */
};

static struct {
    struct fetch *waiting, *going;
    uint64_t      number;
    bool          look; /* again at those that wait */
} f;

static void
list_free(struct fetch **first)
{
    while (*first != NULL) {
        struct fetch *one = *first;

        *first = one->next;
        free(one);
    }
}

void
hearthi_far_close(void)
{
    list_free(&f.waiting);
    list_free(&f.going);
}

static struct fetch *
fetch_of(const struct hearthi_ask *ask)
{
    struct fetch *one = malloc(sizeof *one + ask->len);

    if (one == NULL)
        hearthi_fatal("gateway", "no memory for a fetch");
    one->next = NULL;
    one->number = 0;
    memcpy(&one->ask, ask, sizeof *ask + ask->len);
    return one;
}

static const struct hearthi_ask_run *
runs_of(const struct hearthi_ask *ask, size_t *n)
{
    *n = ask->len / sizeof(struct hearthi_ask_run);
    return hearthi_ask_body(ask);
}

/* The least that is known of any of its pages. */
static enum hearthi_cached
fetch_look(const struct hearthi_ask *ask)
{
    size_t                        n;
    const struct hearthi_ask_run *run = runs_of(ask, &n);
    enum hearthi_cached           least = HEARTHI_CACHED;
    bool                          coming = false;

    for (size_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < run[i].count; p++) {
            enum hearthi_cached is = hearthi_kept_look(run[i].page + p);

            coming |= is == HEARTHI_COMING;
            if (is < least)
                least = is;
        }
    return coming ? HEARTHI_COMING : least;
}

static void
fetch_from_cache(const struct hearthi_ask *ask)
{
    size_t                        n, page = hearthi_heap.page, bytes = 0;
    const struct hearthi_ask_run *run = runs_of(ask, &n);
    char                         *to;

    for (size_t i = 0; i < n; i++)
        bytes += run[i].count * page;
    to = hearthi_gate_body(bytes);
    for (size_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < run[i].count; p++, to += page)
            memcpy(to, hearthi_kept_page(run[i].page + p), page);
    hearthi_count(far_kept, bytes / page);
    hearthi_gate_answer_body(*ask, bytes);
}

static void
fetch_go(int cluster, const struct hearthi_ask *ask)
{
    size_t                        n;
    const struct hearthi_ask_run *run = runs_of(ask, &n);
    struct fetch                 *one = fetch_of(ask);

    one->number = ++f.number;
    one->next = f.going;
    f.going = one;
    for (size_t i = 0; i < n; i++) {
        hearthi_kept_expect(&run[i], one->number);
        hearthi_count(far_pages, run[i].count);
    }
    hearthi_gate_pass(cluster, ask, run);
}

static bool
fetch_try(const struct hearthi_ask *ask)
{
    switch (fetch_look(ask)) {
    case HEARTHI_CACHED: fetch_from_cache(ask); return true;
    case HEARTHI_COMING: return false;
    case HEARTHI_UNKNOWN: break;
    }
    fetch_go(hearthi_cluster_of((int)ask->to), ask);
    return true;
}

static void
stores_drop(const struct hearthi_ask *ask)
{
    const char *at = hearthi_ask_body(ask), *end = at + ask->len;

    while (at < end) {
        struct hearthi_ask_bytes run;

        memcpy(&run, at, sizeof run);
        hearthi_kept_drop_at(run.home, run.at, run.len);
        at += sizeof run + hearthi_ask_round(run.len);
    }
    f.look = true;
}

void
hearthi_far_pass(int cluster, const struct hearthi_ask *ask)
{
    if (ask->op == HEARTHI_ASK_FETCH) {
        if (!fetch_try(ask)) {
            struct fetch **last = &f.waiting;

            while (*last != NULL)
                last = &(*last)->next;
            *last = fetch_of(ask);
        }
        return;
    }
    if (ask->op == HEARTHI_ASK_STORE)
        stores_drop(ask);
    if (ask->op == HEARTHI_ASK_ATOMIC) {
        hearthi_kept_drop_at(ask->to, ask->at, sizeof(uint64_t));
        f.look = true;
    }
    hearthi_gate_pass(cluster, ask, hearthi_ask_body(ask));
}

/* ---- answers ---- */

static bool
is_same(const struct fetch *one, const struct hearthi_ask *head)
{
    return one->ask.rank == head->rank && one->ask.slot == head->slot &&
           one->ask.n == head->n;
}

static void
fetch_came(const struct hearthi_ask *head, const char *body)
{
    struct fetch                **at = &f.going, *one;
    const struct hearthi_ask_run *run;
    size_t                        n;

    while (*at != NULL && !is_same(*at, head))
        at = &(*at)->next;
    one = *at;
    if (one == NULL)
        return;
    *at = one->next;
    run = runs_of(&one->ask, &n);
    for (size_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < run[i].count; p++, body += hearthi_heap.page)
            hearthi_kept_fill(run[i].page + p, one->number, body);
    free(one);
    f.look = true;
}

void
hearthi_far_hand(const struct hearthi_ask *head, const void *body)
{
    switch ((enum hearthi_ask_op)head->op) {
    case HEARTHI_ASK_FETCH: fetch_came(head, body); break;
    case HEARTHI_ASK_ACQUIRE:
    case HEARTHI_ASK_WAIT:
        if (head->kind & HEARTHI_ASK_EVERYTHING)
            hearthi_kept_drop_all();
        else
            hearthi_kept_drop(body, head->len / sizeof(struct hearthi_notice));
        f.look = true;
        break;
    case HEARTHI_ASK_GATHER:
    case HEARTHI_ASK_BARRIER: f.look = true; break; /* round.c has dropped */
    default: break;
    }
    hearthi_gate_hand(head, body);
}

void
hearthi_far_forget(const struct hearthi_ask *ask)
{
    hearthi_kept_drop(hearthi_ask_body(ask), 1);
    f.look = true;
    hearthi_gate_answer(*ask, NULL, 0);
}

void
hearthi_far_turn(void)
{
    while (f.look && f.waiting != NULL) {
        struct fetch **at = &f.waiting;

        f.look = false;
        while (*at != NULL) {
            struct fetch *one = *at;

            if (fetch_try(&one->ask)) {
                *at = one->next;
                free(one);
            } else {
                at = &one->next;
            }
        }
    }
    f.look = false;
}
