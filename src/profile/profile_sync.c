/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What locks and barriers cost.  Entries of locks are found by their numbers,
 * those of barriers by the place of the call.
 */
#include "config.h"

#include "base/stat.h"
#include "caller.h"
#include "profile.h"

/* Relaxed, here and below: profile.h says why. */
static struct hearthi_profile_lock *
lock_of(struct hearthi_profile *p, int sync)
{
    enum { TRIES = 32 };
    uint32_t key = (uint32_t)sync + 1;

    for (uint32_t n = 0; n < TRIES; n++) {
        struct hearthi_profile_lock *l =
            &p->lock[(key + n) & (HEARTHI_PROFILE_LOCKS - 1)];
        uint32_t none = 0;

        if (__atomic_load_n(&l->key, __ATOMIC_RELAXED) == key ||
            __atomic_compare_exchange_n(&l->key, &none, key, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            none == key)
            return l;
    }
    __atomic_fetch_add(&p->dropped, 1, __ATOMIC_RELAXED);
    return NULL;
}

uintptr_t
hearthi_profile_place(const void *from)
{
    uintptr_t at = (uintptr_t)from - 1;

    return hearthi_caller_is_program(at) ? at : hearthi_caller_here();
}

static void
most_note(uint64_t *most, uint64_t ns)
{
    if (*most < ns)
        *most = ns;
}

static void
vote(struct hearthi_profile_lock *l, uintptr_t at, uint64_t ns)
{
    if (l->at == at) {
        l->vote_ns += ns;
    } else if (l->vote_ns < ns) {
        l->at = at;
        l->vote_ns = ns - l->vote_ns;
    } else {
        l->vote_ns -= ns;
    }
}

/* The holder is alone, but a flag may be waited for by several threads. */
void
hearthi_profile_taken(int sync, const void *from, uint64_t begin, uint64_t end)
{
    struct hearthi_profile      *p = hearthi_profile;
    struct hearthi_profile_lock *l = p == NULL ? NULL : lock_of(p, sync);
    uint64_t                     ns = end > begin ? end - begin : 0;

    if (l == NULL || end == 0)
        return;
    vote(l, hearthi_profile_place(from), ns);
    __atomic_fetch_add(&l->n, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&l->wait_ns, ns, __ATOMIC_RELAXED);
    most_note(&l->longest_ns, ns);
    l->faults_before = hearthi_tally.counter.fault_ns;
    l->taken_at = end;
}

/* Held for so long, it was computed meanwhile. */
enum { LONG_NS = 100000 };

void
hearthi_profile_giving(int sync, uint64_t now)
{
    struct hearthi_profile      *p = hearthi_profile;
    struct hearthi_profile_lock *l = p == NULL ? NULL : lock_of(p, sync);
    uint64_t                     ns, faults;

    if (l == NULL)
        return;
    p->given = (struct hearthi_profile_given){ 0 };
    if (l->taken_at == 0)
        return;
    ns = now - l->taken_at;
    faults = hearthi_tally.counter.fault_ns - l->faults_before;
    l->held_ns += ns;
    l->holds++;
    l->computed += ns >= LONG_NS + faults;
    l->taken_at = 0;
}

/* Another thread of the rank may hold it by now. */
void
hearthi_profile_gave(int sync)
{
    struct hearthi_profile      *p = hearthi_profile;
    struct hearthi_profile_lock *l = p == NULL ? NULL : lock_of(p, sync);
    bool                         same;

    if (l == NULL || p->given.diffs == 0)
        return;
    if (l->one_word == 0)
        l->word = p->given.word;
    same = !p->given.wide && l->word == p->given.word;
    __atomic_fetch_add(same ? &l->one_word : &l->wider, 1, __ATOMIC_RELAXED);
}

static uint32_t
barrier_of(struct hearthi_profile *p, uintptr_t at)
{
    for (uint32_t i = 0; i < HEARTHI_PROFILE_BARRIERS; i++) {
        if (p->barrier[i].at == 0)
            p->barrier[i].at = at;
        if (p->barrier[i].at == at)
            return i;
    }
    p->dropped++;
    return HEARTHI_PROFILE_BARRIERS;
}

/* All ranks pass as many barriers and keep the same of them. */
static void
sample_note(struct hearthi_profile *p, uint32_t barrier, uint64_t ns)
{
    uint64_t n = p->barriers++;

    if (n == p->every * HEARTHI_PROFILE_SAMPLES) {
        for (uint32_t i = 0; i < HEARTHI_PROFILE_SAMPLES / 2; i++)
            p->sample[i] = p->sample[2 * i];
        p->every *= 2;
    }
    if (n % p->every == 0)
        p->sample[n / p->every] = (struct hearthi_profile_sample){
            .barrier = barrier,
            .wait_us = (uint32_t)(ns / 1000),
        };
}

/* One thread of a rank at a time is in a barrier. */
void
hearthi_profile_barrier_passed(const void *from, uint64_t wait_ns)
{
    struct hearthi_profile *p = hearthi_profile;
    uint32_t                i;

    if (p == NULL)
        return;
    i = barrier_of(p, hearthi_profile_place(from));
    if (i < HEARTHI_PROFILE_BARRIERS) {
        p->barrier[i].n++;
        p->barrier[i].wait_ns += wait_ns;
        most_note(&p->barrier[i].longest_ns, wait_ns);
    }
    sample_note(p, i, wait_ns);
}
