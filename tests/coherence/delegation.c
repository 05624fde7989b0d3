/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that stay with the rank that takes them again and again: they cost it
 * nothing, and nobody else can tell.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "delay.h"
#include "flags.h"
#include "node/lock_delegation.h"

enum { RUN = 4, FIRST = 2700 };

int
lock_new(void)
{
    static int next = FIRST;

    return next++;
}

static bool
locks_stay(void)
{
    return threads_allowed() && release_consistency() && hearth_nodes() > 1;
}

/* Written in every section, the last time with this value. */
static void
take_again(int lock, int64_t *word, int64_t value)
{
    for (int k = RUN - 1; k >= 0; k--) {
        hearth_lock(lock);
        *word = value - k;
        hearth_unlock(lock);
    }
}

/* ---- what it costs ---- */

static void
costs_nothing(int lock, int64_t *word)
{
    enum { TIMES = 100 };
    hearth_stats before, after;
    uint64_t     sent;

    take_again(lock, word, 0);
    hearth_get_stats(&before);
    sent = messages_begun();
    take_again(lock, word, RUN); /* the first store may fault once more */
    for (int k = 0; k < TIMES; k++) {
        hearth_lock(lock);
        ++*word;
        hearth_unlock(lock);
    }
    expect_eq(messages_begun() - sent, 0);
    hearth_get_stats(&after);
    expect_eq(after.locks - before.locks, TIMES + RUN);
    expect_eq(after.locks_kept - before.locks_kept, TIMES + RUN);
    expect_eq(after.twins - before.twins, 0);
    expect_eq(after.diffs - before.diffs, 0);
    expect_eq(after.intervals - before.intervals, 0);
    expect_eq(after.write_faults - before.write_faults, 0);
    expect_eq(*word, RUN + TIMES);
}

START_TEST(a_lock_that_stays_costs_no_message_fault_or_diff)
{
    int64_t *p = pages_new(ranks);

    for (int r = 0; r < ranks && locks_stay(); r++) {
        int lock = lock_new();

        if (me == r)
            costs_nothing(lock, word(p, (r + 1) % ranks));
        all_assert(true);
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* By that count a barrier knows whether a lock was entered since, so it must
 * not come back to what it was in an earlier stay, which was longer here. */
START_TEST(sections_of_a_stay_are_counted_on_in_the_next)
{
    int64_t *p = pages_new(ranks);

    for (int r = 0; r < ranks && locks_stay(); r++) {
        int      lock = lock_new();
        uint64_t uses = 0;

        for (int stay = 0; stay < 2; stay++) {
            for (int k = 0; me == r && k < (stay == 0 ? 20 : 3); k++)
                take_again(lock, word(p, r), 0);
            if (me == r) {
                expect(hearthi_delegation_uses[lock] >= uses);
                uses = hearthi_delegation_uses[lock];
                expect(uses > 0);
            }
            barrier();
            if (apart(me, r)) {
                hearth_lock(lock);
                hearth_unlock(lock);
            }
            barrier();
        }
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- what others see ---- */

enum way { BY_LOCK, BY_TRY, BY_FLAG, BY_BARRIER, BY_MESSAGE, WAYS };

static void
write_and_pass(enum way way, int reader, int lock, int64_t *word,
               int64_t value)
{
    take_again(lock, word, value);
    if (way == BY_FLAG)
        hearth_flag_set(reader);
    if (way == BY_MESSAGE)
        hearth_release(NULL, 0);
    if (way != BY_FLAG)
        tell(reader, way);
    if (way != BY_BARRIER) /* which would end the interval */
        told_by(reader, WAYS);
}

/* A lock that its rank has released is free, whether it stays or not. */
static void
take_and_read(enum way way, int writer, int lock, int64_t *word, int64_t value)
{
    way == BY_FLAG ? hearth_flag_wait(me) : told_by(writer, way);
    if (way == BY_LOCK)
        hearth_lock(lock);
    if (way == BY_TRY)
        expect(hearth_trylock(lock));
    if (way == BY_MESSAGE)
        hearth_acquire(NULL, 0);
    if (way == BY_BARRIER)
        return;
    expect_eq(*word, value);
    if (way == BY_LOCK || way == BY_TRY)
        hearth_unlock(lock);
    tell(writer, WAYS);
}

/* Whoever has the page at home. */
START_TEST(what_was_written_under_it_is_seen_by_who_comes_next)
{
    int64_t *p = pages_new(ranks);

    for (int k = 0; k < WAYS * ranks * (ranks - 1); k++) {
        enum way way = k % WAYS;
        int      writer = k / WAYS % ranks;
        int      reader = (writer + 1 + k / WAYS / ranks) % ranks;
        int      lock = lock_new();
        int64_t *w = word(p, (k + k / WAYS) % ranks), value = 1000 * (k + 1);

        copies_take(w, 1, *w);
        if (me == writer)
            write_and_pass(way, reader, lock, w, value);
        else if (me == reader)
            take_and_read(way, writer, lock, w, value);
        barrier();
        expect_eq(*w, value);
        if (me == reader)
            hearth_flag_reset(me);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Between two takings of the lock that stays, its rank learns of a write by a
 * flag, and passes that on with the lock.  (Under scope consistency a lock
 * tells of its sections only.) */
static void
learn_and_pass(int64_t *p, int lock)
{
    if (me == 0)
        take_again(lock, word(p, ranks), RUN);
    if (me == ranks - 1) {
        word(p, 0)[0] = 7;
        hearth_flag_set(0);
    }
    if (me == 0) {
        hearth_flag_wait(0);
        take_again(lock, word(p, ranks), 2 * RUN);
        tell(1, 0);
    }
    if (me == 1) {
        told_by(0, 0);
        hearth_lock(lock);
        expect_eq(word(p, 0)[0], 7);
        expect_eq(word(p, ranks)[0], 2 * RUN);
        hearth_unlock(lock);
    }
}

START_TEST(what_its_rank_learnt_meanwhile_goes_with_it)
{
    int64_t *p = pages_new(2 * ranks);

    copies_take(p, ranks, 0);
    if (ranks > 1 && release_consistency())
        learn_and_pass(p, lock_new());
    barrier();
    if (me == 0)
        hearth_flag_reset(0);
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- who wants it ---- */

/* All others at once, and who gets it holds it until all have tried. */
START_TEST(one_of_several_tries_gets_one_that_stays)
{
    int64_t *p = pages_new(1);

    for (int k = 0; k < 4 * ranks; k++) {
        int lock = lock_new(), got = 0, sum = 0;

        if (me == k % ranks)
            take_again(lock, p, k);
        all_assert(true);
        if (me != k % ranks || ranks == 1)
            got = hearth_trylock(lock);
        MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect_eq(sum, 1);
        if (got) {
            expect_eq(*p, k);
            hearth_unlock(lock);
        }
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(one_that_is_wanted_is_given_when_its_rank_leaves_it)
{
    int64_t *p = pages_new(1);

    for (int k = 0; k < 2 * ranks; k++) {
        int lock = lock_new(), keeper = k % ranks;

        if (me == keeper) {
            take_again(lock, p, 0);
            hearth_lock(lock);
        }
        all_assert(true);
        if (me != keeper)
            expect(!hearth_trylock(lock));
        all_assert(true);
        if (me == keeper)
            delay_here(5);
        else
            hearth_lock(lock);
        *p += 1;
        expect(me != keeper || *p == 1);
        hearth_unlock(lock);
        barrier();
        expect_eq(*p, ranks);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Runs of all lengths, so that stays begin and end all the time. */
START_TEST(stays_begin_and_end)
{
    enum { LONGEST = 12 };
    int64_t *p = pages_new(2);
    int      lock = lock_new();
    uint64_t random = (uint64_t)me;
    int64_t  mine = 0;

    for (int k = 0; k < rounds_of(60); k++) {
        int n = 1 + (int)(hearthi_random(&random) % LONGEST);

        for (; n > 0; n--) {
            if (k % 3 != 0 || !hearth_trylock(lock))
                hearth_lock(lock);
            expect_eq(p[0], word(p, 1)[0]);
            p[0]++;
            word(p, 1)[0]++;
            mine++;
            hearth_unlock(lock);
        }
        dawdle();
    }
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    barrier();
    expect_eq(p[0], mine);
    expect_eq(word(p, 1)[0], mine);
    hearth_free(p);
    all_expected();
}
END_TEST

enum { ADDS = 500 };

static int      shared_lock;
static int64_t *shared_word;

static void *
add_many(void *unused)
{
    for (int k = 0; k < rounds_of(ADDS); k++) {
        if (k % 16 != 0 || !hearth_trylock(shared_lock))
            hearth_lock(shared_lock);
        ++*shared_word;
        hearth_unlock(shared_lock);
    }
    return unused;
}

/* Two threads of a rank, and now and then all ranks. */
START_TEST(threads_of_its_rank_exclude_each_other)
{
    int64_t  *p = pages_new(1);
    int       adds = 2 * rounds_of(ADDS); /* of a rank */
    pthread_t thread;

    for (int r = 0; r <= ranks && threads_allowed(); r++) {
        shared_lock = lock_new();
        shared_word = p;
        if (me == r || (r == ranks && me < 2)) {
            pthread_create(&thread, NULL, add_many, NULL);
            add_many(NULL);
            pthread_join(thread, NULL);
        }
        barrier();
        expect_eq(*p, r == ranks && ranks > 1 ? 2 * adds : adds);
        barrier();
        if (me == 0)
            *p = 0;
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- start and end, and files ---- */

START_TEST(hearth_may_be_finalized_while_locks_stay)
{
    int lock = lock_new();

    for (int k = 0; k < 2; k++) {
        int64_t *p = pages_new(1);

        if (me == k % ranks)
            take_again(lock, p, 5);
        barrier();
        fixture_stop();
        fixture_start();
        if (me == (k + 1) % ranks)
            expect(hearth_trylock(lock));
        all_assert(true);
        if (me == (k + 1) % ranks)
            hearth_unlock(lock);
    }
    all_expected();
}
END_TEST

/* Others get it whether it is given for the file or is asked for meanwhile. */
START_TEST(files_may_be_written_while_locks_stay)
{
    int64_t *p = pages_new(ranks + 1);
    int      lock = lock_new(), keeper = ranks - 1;
    char     name[64];
    MPI_File file;

    snprintf(name, sizeof name, "/tmp/hearth-stay.%ld.%d", (long)getpid(), me);
    for (int k = 1; k <= 5; k++) {
        if (me == keeper) {
            take_again(lock, p, 10 * k);
            MPI_File_open(MPI_COMM_SELF, name,
                          MPI_MODE_CREATE | MPI_MODE_RDWR |
                              MPI_MODE_DELETE_ON_CLOSE,
                          MPI_INFO_NULL, &file);
            MPI_File_write_at(file, 0, p, 1, MPI_INT64_T, MPI_STATUS_IGNORE);
            take_again(lock, p, 10 * k + RUN);
            MPI_File_read_at(file, 0, word(p, ranks), 1, MPI_INT64_T,
                             MPI_STATUS_IGNORE);
            MPI_File_close(&file);
            expect_eq(word(p, ranks)[0], 10 * k);
        } else {
            hearth_lock(lock);
            hearth_unlock(lock);
        }
        barrier();
        expect_eq(*p, 10 * k + RUN);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

TCase *
stays(void)
{
    TCase *tc = tcase_create("delegation");

    tcase_add_checked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, a_lock_that_stays_costs_no_message_fault_or_diff);
    tcase_add_test(tc, sections_of_a_stay_are_counted_on_in_the_next);
    tcase_add_test(tc, what_was_written_under_it_is_seen_by_who_comes_next);
    tcase_add_test(tc, what_its_rank_learnt_meanwhile_goes_with_it);
    tcase_add_test(tc, one_of_several_tries_gets_one_that_stays);
    tcase_add_test(tc, one_that_is_wanted_is_given_when_its_rank_leaves_it);
    tcase_add_test(tc, stays_begin_and_end);
    tcase_add_test(tc, threads_of_its_rank_exclude_each_other);
    tcase_add_test(tc, hearth_may_be_finalized_while_locks_stay);
    tcase_add_test(tc, files_may_be_written_while_locks_stay);
    return tc;
}
