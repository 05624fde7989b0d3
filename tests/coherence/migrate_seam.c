/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A page that moves from rank 0 to the last rank while other threads use it:
 * the last rank is late to ask for it, and what others do until then they have
 * done, or begun, after they passed the barrier, and before they freeze the
 * page.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "migrate.h"
#include "transport/transport.h"

enum { DONE = 61, LOCK = 62 };

/* What a thread of rank 1 does when it has a new copy, and one of rank 0 then.
 * `fresh`: memory of first touch, of which rank 0 has seen no sharer flag when
 * it comes to the barrier. */
struct scene {
    void (*third)(void);
    void (*old)(void);
    bool     stays, fresh;
    uint64_t epoch; /* before the barrier */
};

static const struct hearthi_transport_ops *prompt;
static int64_t                            *p;

static int
last(void)
{
    return ranks - 1;
}

static bool
may_play(void)
{
    return threads_allowed() && ranks > 2 && apart(0, 1) && apart(0, last()) &&
           apart(1, last());
}

/* An atomic step of rank 1 lasts until that rank has passed the barrier. */
static atomic_bool passed;

static uint64_t
atomic_late(int home, size_t at, const struct hearthi_atomic_op *step)
{
    tell(last(), DONE);
    while (!atomic_load(&passed))
        sched_yield();
    return prompt->data.atomic(home, at, step);
}

static void
barrier_late(const struct hearthi_notice *own, size_t n, bool invalidate_all,
             struct hearthi_barrier_notices *news)
{
    (prompt->collective.barrier)(own, n, invalidate_all, news);
    told_by(1, DONE);
}

/* Rank 0 has looked at its flags: now the last rank writes the page. */
static void
barrier_telling(const struct hearthi_notice *own, size_t n,
                bool                            invalidate_all,
                struct hearthi_barrier_notices *news)
{
    tell(last(), DONE);
    (prompt->collective.barrier)(own, n, invalidate_all, news);
}

static uint64_t
epoch_now(void)
{
    return __atomic_load_n(&hearthi_epochs.acquire, __ATOMIC_ACQUIRE);
}

/* Rank 1 sees the new value by a copy that came after the barrier. */
static void *
third_plays(void *scene)
{
    const struct scene *s = scene;

    while (s->fresh && epoch_now() == s->epoch)
        sched_yield();
    while (*(volatile int64_t *)p != 2)
        sched_yield();
    if (s->third != NULL)
        s->third();
    if (s->old != NULL) {
        tell(0, DONE);
        told_by(0, DONE);
    }
    tell(last(), DONE);
    return NULL;
}

static void *
old_plays(void *scene)
{
    const struct scene *s = scene;

    told_by(1, DONE);
    s->old();
    return NULL;
}

/* The page moves in this barrier. */
static void
moving_barrier(struct scene *s)
{
    struct hearthi_transport_ops ops = *hearthi_transport;
    pthread_t                    other;
    bool                         plays = me == 1 || (me == 0 && s->old);

    prompt = hearthi_transport;
    if (me == last())
        ops.collective.barrier = barrier_late;
    if (s->stays)
        ops.data.atomic = atomic_late;
    if (s->fresh && me == 0)
        ops.collective.barrier = barrier_telling;
    atomic_store(&passed, false);
    hearthi_transport = &ops;
    if (plays)
        pthread_create(&other, NULL, me == 1 ? third_plays : old_plays, s);
    if (s->fresh && me == last()) {
        told_by(0, DONE);
        *p = 2;
    }
    barrier();
    hearthi_transport = prompt;
    atomic_store(&passed, true);
    if (plays)
        pthread_join(other, NULL);
}

/* All have a copy, and the last rank alone has written the page. */
static void
page_use(void)
{
    p = words_on(0, 1);
    copies_take(p, 1, 0);
    if (me == last())
        *p = 1;
    barrier();
    expect_eq(*p, 1);
    barrier();
    if (me == last())
        *p = 2;
}

/* The page moves, unless something keeps it.  Returns false where it cannot be
 * played. */
static bool
play(struct scene s)
{
    if (!may_play())
        return false;
    if (s.fresh)
        p = hearth_alloc((size_t)ranks * page_bytes() / 8, 8,
                         hearth_first_touch());
    else
        page_use();
    expect_eq(hearth_home(p), 0);
    s.epoch = epoch_now();
    moving_barrier(&s);
    expect_eq(hearth_home(p), s.stays ? 0 : last());
    return true;
}

static uint64_t
getpages(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s.getpages;
}

START_TEST(copies_of_others_stay_and_are_told_of_stores)
{
    if (play((struct scene){ 0 })) {
        uint64_t before = getpages();

        if (me == 1) {
            expect_eq(*p, 2);
            expect_eq(getpages() - before, 0);
        }
        barrier();
        for (int64_t value = 3; value < 6; value++) {
            if (me == last())
                *p = value;
            barrier();
            expect_eq(*p, value);
            barrier();
        }
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* All find what the last rank has stored, and a word besides. */
static void
word_is_found(int i, int64_t value)
{
    barrier();
    expect_eq(p[0], 2);
    expect_eq(p[i], value);
    barrier();
    hearth_free(p);
}

static void
third_stores(void)
{
    p[1] = 11;
}

START_TEST(what_is_changed_in_a_copy_moves_along)
{
    if (play((struct scene){ .third = third_stores }))
        word_is_found(1, 11);
    all_expected();
}
END_TEST

/* In a critical section, which ends when the page is gone. */
static void
old_stores(void)
{
    hearth_lock(LOCK);
    p[2] = 12;
    tell(1, DONE);
    while (hearth_home(p) == 0)
        sched_yield();
    hearth_unlock(LOCK);
    tell(1, DONE);
}

static void
old_store_is_told(struct scene s)
{
    s.old = old_stores;
    if (play(s)) {
        if (me == 1) {
            told_by(0, DONE);
            hearth_lock(LOCK);
            expect_eq(p[2], 12);
            hearth_unlock(LOCK);
        }
        word_is_found(2, 12);
    }
    all_expected();
}

START_TEST(what_the_old_home_stored_is_told_when_it_releases)
{
    old_store_is_told((struct scene){ 0 });
}
END_TEST

/* The first copy goes, and the next one stays: rank 0 is told of it before. */
static void
third_copies(void)
{
    hearth_lock(LOCK);
    hearth_unlock(LOCK);
    (void)*(volatile int64_t *)p;
}

/* Rank 0 stores without a fault, since it has seen no flag. */
START_TEST(what_the_old_home_stored_unseen_is_told_when_it_releases)
{
    old_store_is_told(
        (struct scene){ .third = third_copies, .fresh = true });
}
END_TEST

static void
third_counts(void)
{
    hearth_fetch_add(&p[1], 13);
}

/* It would be carried out in a frame that has no page any more. */
START_TEST(what_is_in_an_atomic_step_stays)
{
    if (play((struct scene){ .third = third_counts, .stays = true })) {
        if (me == last())
            told_by(1, DONE); /* the step has ended */
        word_is_found(1, 13);
    }
    all_expected();
}
END_TEST

/* Of another page the barrier drops a copy, and then each step another one. */
static void
third_counts_again(void)
{
    int64_t *other = word(p, 1);

    for (int i = 0; i < 3; i++) {
        expect_eq(*(volatile int64_t *)other, 2);
        hearth_fetch_add(&other[1], 13);
    }
}

/* Rank 1 uses both pages in each interval, so a barrier brings them again. */
START_TEST(what_goes_several_times_in_a_barrier_is_brought_once)
{
    if (may_play()) {
        p = words_on(0, 2);
        copies_take(p, 2, 0);
        for (int64_t value = 1;; value++) {
            if (me == last())
                *p = value;
            if (me == 0)
                *word(p, 1) = value;
            if (value == 2)
                break;
            barrier();
            for (int i = 0; i < 2; i++)
                expect_eq(*word(p, i), value);
            barrier();
        }
        moving_barrier(&(struct scene){ .third = third_counts_again });
        expect_eq(hearth_home(p), last());
        barrier();
        expect_eq(word(p, 1)[1], 3 * 13);
        barrier();
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* A rank alone writes pages, and all see that. */
static void
pages_rewrite(int n, int writer, int64_t value)
{
    for (int i = 0; me == writer && i < n; i++)
        *word(p, i) = value;
    barrier();
    for (int i = 0; i < n; i++)
        expect_eq(*word(p, i), value);
    barrier();
}

/* Rank 1 has a copy of the first page again when all of them are to become
 * new, since rank 0 alone has written them in two intervals: that one does
 * not.  Nor was what they were reported for before an interval of rank 0's:
 * the last rank has written them since. */
START_TEST(what_somebody_has_a_copy_of_does_not_become_new)
{
    enum { PAGES = 40 };
    struct scene s = { 0 };
    hearth_stats now;

    if (may_play()) {
        p = words_on(0, PAGES);
        copies_take(p, PAGES, 0);
        pages_rewrite(PAGES, last(), 7);
        pages_rewrite(PAGES, 0, 1);
        for (int i = 0; me == 0 && i < PAGES; i++)
            *word(p, i) = 2;
        moving_barrier(&s);
        hearth_get_stats(&now);
        expect_eq((int64_t)now.renewed, me == 0 ? PAGES - 1 : 0);
        for (int64_t value = 3; value < 6; value++) {
            hearth_lock(LOCK);
            if (me == 0)
                *p = value;
            hearth_unlock(LOCK);
            barrier();
            expect_eq(*p, value);
            barrier();
        }
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* All ranks have frozen the page, and its content is about to be brought. */
static void
fetch_late(const struct hearthi_fetch *run, size_t n)
{
    tell(0, DONE);
    told_by(0, DONE);
    prompt->data.fetch(run, n);
}

static void *
child_reads(void *unused)
{
    pid_t pid;
    int   status = -1;

    (void)unused;
    told_by(last(), DONE);
    pid = fork();
    if (pid == 0)
        _exit(*(volatile int64_t *)p == 2 ? 0 : 1);
    waitpid(pid, &status, 0);
    expect_eq(status, 0);
    tell(last(), DONE);
    return NULL;
}

START_TEST(a_child_of_fork_reads_what_was_frozen)
{
    if (may_play()) {
        struct hearthi_transport_ops ops = *hearthi_transport;
        pthread_t                    other;

        page_use();
        prompt = hearthi_transport;
        if (me == last())
            ops.data.fetch = fetch_late;
        hearthi_transport = &ops;
        if (me == 0)
            pthread_create(&other, NULL, child_reads, NULL);
        barrier();
        hearthi_transport = prompt;
        if (me == 0)
            pthread_join(other, NULL);
        expect_eq(hearth_home(p), last());
        word_is_found(1, 0);
    }
    all_expected();
}
END_TEST

/* A first copy of a thread of the last rank, behind the barrier. */
static void *
first_copy_takes(void *epoch)
{
    while (epoch_now() == *(uint64_t *)epoch)
        sched_yield();
    expect_eq(*(volatile int64_t *)p, 2);
    tell(1, DONE);
    return NULL;
}

static void
barrier_until_copied(const struct hearthi_notice *own, size_t n,
                     bool invalidate_all, struct hearthi_barrier_notices *news)
{
    (prompt->collective.barrier)(own, n, invalidate_all, news);
    told_by(last(), DONE);
}

/* The last rank has written the page twice and never fetched it, and then it
 * is its home, where its own copy is no first one any more. */
START_TEST(a_first_copy_of_who_becomes_the_home_is_forgotten)
{
    if (may_play()) {
        struct hearthi_transport_ops ops = *hearthi_transport;
        uint64_t                     epoch = 0;
        pthread_t                    other;

        p = words_on(0, 1);
        for (int64_t value = 1; value <= 2; value++) {
            barrier();
            if (me == last()) {
                hearth_overwrite(p, page_bytes());
                for (size_t i = 0; i < page_bytes() / 8; i++)
                    p[i] = value;
            }
        }
        prompt = hearthi_transport;
        if (me == 1)
            ops.collective.barrier = barrier_until_copied;
        hearthi_transport = &ops;
        epoch = epoch_now();
        if (me == last())
            pthread_create(&other, NULL, first_copy_takes, &epoch);
        barrier();
        hearthi_transport = prompt;
        if (me == last())
            pthread_join(other, NULL);
        expect_eq(hearth_home(p), last());
        hearth_lock(LOCK);
        hearth_unlock(LOCK);
        word_is_found(1, 2);
    }
    all_expected();
}
END_TEST

TCase *
seam_tests(void (*start)(void))
{
    TCase *tc = tcase_create("seam");

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc, copies_of_others_stay_and_are_told_of_stores);
    tcase_add_test(tc, what_is_changed_in_a_copy_moves_along);
    tcase_add_test(tc, what_the_old_home_stored_is_told_when_it_releases);
    tcase_add_test(tc,
                   what_the_old_home_stored_unseen_is_told_when_it_releases);
    tcase_add_test(tc, what_is_in_an_atomic_step_stays);
    tcase_add_test(tc, what_goes_several_times_in_a_barrier_is_brought_once);
    tcase_add_test(tc, what_somebody_has_a_copy_of_does_not_become_new);
    tcase_add_test(tc, a_first_copy_of_who_becomes_the_home_is_forgotten);
    tcase_add_test(tc, a_child_of_fork_reads_what_was_frozen);
    return tc;
}
