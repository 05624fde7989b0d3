/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads of a rank that is still inside a barrier which others have left: the
 * news has come, and is not applied yet.
 */
#include <pthread.h>

#include "behind.h"
#include "coherence/coherence.h"
#include "threads.h"

enum { OUT = 23, LOCK = 93, FLAG = 930 };

/* What the last rank reads while it is inside, and what rank 0, which wrote
 * that word, does before. */
struct scene {
    int64_t *p;
    int64_t  value;
    bool     in_section, by_flag, all;
};

/* ---- the last rank, which leaves a barrier late ---- */

static void *
acquire_and_read(void *arg)
{
    struct scene *s = arg;

    if (s->by_flag)
        hearth_flag_wait(FLAG);
    else
        hearth_lock(LOCK);
    s->value = *s->p;
    if (!s->by_flag)
        hearth_unlock(LOCK);
    return NULL;
}

static struct scene *inside;

static void
exchange_late(const struct hearthi_notice *own, size_t n, bool invalidate_all,
              struct hearthi_barrier_notices *news)
{
    pthread_t thread;

    (barrier_prompt->collective.barrier)(own, n, invalidate_all, news);
    if (!inside->in_section)
        told_by(0, OUT);
    pthread_create(&thread, NULL, acquire_and_read, inside);
    pthread_join(thread, NULL);
}

static void
barrier_late(struct scene *s)
{
    inside = s;
    barrier_by(exchange_late);
}

/* ---- rank 0 ---- */

struct holder {
    struct scene *scene;
    _Atomic bool  wrote, passed;
};

static void *
hold_and_write(void *arg)
{
    struct holder *h = arg;

    hearth_lock(LOCK);
    *h->scene->p = h->scene->value;
    h->wrote = true;
    while (!h->passed)
        sleep_ms(1);
    hearth_unlock(LOCK);
    return NULL;
}

static void
pass_beside_a_section(struct scene *s)
{
    struct holder h = { .scene = s };
    pthread_t     thread;

    pthread_create(&thread, NULL, hold_and_write, &h);
    while (!h.wrote)
        sleep_ms(1);
    barrier();
    h.passed = true;
    pthread_join(thread, NULL);
}

static void
pass_and_release(struct scene *s)
{
    *s->p = s->value;
    barrier();
    if (s->by_flag) {
        hearth_flag_set(FLAG);
    } else {
        hearth_lock(LOCK);
        hearth_unlock(LOCK);
    }
    tell(ranks - 1, OUT);
}

static void *
lock_and_write(void *arg)
{
    const struct scene *s = arg;

    hearth_lock(LOCK);
    *s->p = s->value;
    hearth_unlock(LOCK);
    return NULL;
}

static void *
write_and_bring_home(void *arg)
{
    const struct scene *s = arg;

    *s->p = s->value;
    hearth_release(s->all ? NULL : s->p, s->all ? 0 : sizeof *s->p);
    return NULL;
}

/* ---- */

/* A page with its home at rank 0: the others have a copy that is not a first
 * one, nor reported. */
static int64_t *
page_shared(void)
{
    int64_t *p = pages_new(1);

    copies_take(p, 1, 0);
    return p;
}

/* What rank 0 wrote has gone into the barrier, by whichever thread, and is
 * forgotten there.  Then it releases, with nothing more to tell; the last rank
 * acquires, and would tell by an old log that it has all. */
static void
play(struct scene *s, int64_t value)
{
    bool run = threads_allowed() && apart(0, ranks - 1);

    s->p = page_shared();
    s->value = me == 0 ? value : 0;
    if (run && me == ranks - 1)
        barrier_late(s);
    else if (run && me == 0 && s->in_section)
        pass_beside_a_section(s);
    else if (run && me == 0)
        pass_and_release(s);
    else
        barrier();
    if (run && me == ranks - 1)
        expect_eq(s->value, value);
    barrier();
    expect_eq(*s->p, run ? value : 0);
    barrier();
    hearth_free(s->p);
    all_expected();
}

START_TEST(what_a_barrier_took_from_a_section_is_seen_behind_the_lock)
{
    play(&(struct scene){ .in_section = true }, 1);
}
END_TEST

START_TEST(what_a_barrier_took_before_a_section_is_seen_behind_the_lock)
{
    if (release_consistency())
        play(&(struct scene){ .in_section = false }, 2);
}
END_TEST

START_TEST(what_a_barrier_took_is_seen_behind_a_flag)
{
    play(&(struct scene){ .by_flag = true }, 3);
    if (me == 0)
        hearth_flag_reset(FLAG);
    barrier();
}
END_TEST

static bool
three_apart(void)
{
    return threads_allowed() && ranks > 2 && apart(0, ranks - 1) &&
           apart(0, 1) && apart(1, ranks - 1);
}

/* Rank 0 is two barriers ahead of the last rank, but for their ends: inside
 * the second while that one is inside the first, which learns of the write and
 * tells it by its arrival at the second. */
START_TEST(what_a_rank_two_epochs_ahead_wrote_is_seen_behind_the_barrier)
{
    bool         run = three_apart();
    struct scene s = { .p = page_shared(), .value = me == 0 ? 4 : 0 };

    if (run && me == ranks - 1)
        barrier_late(&s);
    else
        barrier();
    if (run && me == 0)
        barrier_behind(lock_and_write, &s, OUT);
    else
        barrier();
    expect_eq(*s.p, run ? 4 : 0);
    if (run && me == ranks - 1)
        expect_eq(s.value, 4);
    barrier();
    hearth_free(s.p);
    all_expected();
}
END_TEST

/* The write has missed the barrier in which rank 0 is, but the last rank knows
 * of it by a message before it arrives there. */
static void
acquire_and_arrive(bool all)
{
    bool         run = three_apart();
    struct scene s = { .p = page_shared(), .value = 5, .all = all };

    if (run && me == 0) {
        barrier_behind(write_and_bring_home, &s, OUT);
    } else {
        if (run && me == ranks - 1) {
            told_by(0, OUT);
            hearth_acquire(all ? NULL : s.p, all ? 0 : sizeof *s.p);
        }
        barrier();
    }
    expect_eq(*s.p, run ? 5 : 0);
    barrier();
    hearth_free(s.p);
    all_expected();
}

START_TEST(what_was_released_beside_a_barrier_is_told_by_who_acquired_it)
{
    acquire_and_arrive(false);
    acquire_and_arrive(true);
}
END_TEST

void
threads_late_tests(TCase *tc)
{
    tcase_add_test(
        tc, what_was_released_beside_a_barrier_is_told_by_who_acquired_it);
    tcase_add_test(tc,
                   what_a_barrier_took_from_a_section_is_seen_behind_the_lock);
    tcase_add_test(
        tc, what_a_barrier_took_before_a_section_is_seen_behind_the_lock);
    tcase_add_test(tc, what_a_barrier_took_is_seen_behind_a_flag);
    tcase_add_test(
        tc, what_a_rank_two_epochs_ahead_wrote_is_seen_behind_the_barrier);
}
