/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a flag tells when others set it at an awkward moment: two threads of
 * one rank at once, and a log that is begun anew while it is read.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "coherence/coherence.h"
#include "delay.h"
#include "flags.h"
#include "transport/mpi/rma_object.h"

enum { GO = 11, DONE };

/* ---- two threads of a rank set one flag ---- */

enum { TWICE = 100 };

/* The seam, with a set that stops between what is collected for it and its
 * turn, if it is the one of the thread that is to be late. */
static struct hearthi_transport_ops        late;
static const struct hearthi_transport_ops *prompt;
static _Thread_local bool                  is_late;
static atomic_bool                         stopped, go_on;

static void
set_late(int sync, const struct hearthi_notice *n, size_t count)
{
    if (is_late) {
        stopped = true;
        while (!go_on)
            sleep_ms(1);
    }
    prompt->sync.flag_set(sync, n, count);
}

static void *
write_and_set_late(void *p)
{
    is_late = true;
    *(int64_t *)p = 1;
    hearth_flag_set(TWICE);
    return NULL;
}

/* The other thread's store is before this one's set: it said so. */
static void
set_twice(int64_t *p)
{
    pthread_t other;

    prompt = hearthi_transport;
    late = *prompt;
    late.sync.flag_set = set_late;
    stopped = go_on = false;
    hearthi_transport = &late;
    pthread_create(&other, NULL, write_and_set_late, p);
    while (!stopped)
        sleep_ms(1);
    hearth_flag_set(TWICE);
    for (int r = 1; r < ranks; r++)
        told_by(r, DONE);
    go_on = true;
    pthread_join(other, NULL);
    hearthi_transport = prompt;
}

START_TEST(a_set_tells_what_another_thread_of_the_rank_is_about_to_tell)
{
    int64_t *p = pages_new(1);

    copies_take(p, 1, 0);
    if (threads_allowed() && me == 0) {
        set_twice(p);
    } else if (threads_allowed()) {
        hearth_flag_wait(TWICE);
        expect_eq(*p, 1);
        tell(0, DONE);
    }
    barrier();
    expect_eq(*p, threads_allowed());
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- a log that is begun anew while it is read ---- */

/* Rank 0 sets; the last rank waits and reads.  Every second page is written,
 * so that each is a notice; all have copies, or some would be none. */
enum { ANEW = 110, READ = 120, PAGES = 2 * 400, AT_ONCE = 50 };

static uint32_t
log_end(int flag)
{
    return hearthi_serving_read(hearthi_serving_get(HEARTH_LOCKS + flag)).end;
}

/* Write so many pages and set the flag: the next page. */
static int
pages_tell(int64_t *p, int page, uint32_t n, int flag)
{
    for (uint32_t i = 0; i < n && page < PAGES; i++, page += 2)
        *word(p, page) = page + 1;
    hearth_flag_set(flag);
    return page;
}

/* The same again and again until the flag's log is so long, or would be over
 * mpi. */
static void
log_lengthen(int64_t *p, int page, int flag, uint32_t end)
{
    bool     mpi = hearthi_transport == &hearthi_transport_mpi;
    uint32_t now = mpi ? log_end(flag) : (uint32_t)page / 2;

    while (now < end) {
        uint32_t n = end - now < AT_ONCE ? end - now : AT_ONCE - 2;

        page = pages_tell(p, page, n, flag);
        now = mpi ? log_end(flag) : now + n;
    }
}

/* As if so many barriers more had been passed. */
static void
rest(uint64_t barriers)
{
    all_assert(true);
    hearthi_epochs.release += barriers;
    hearthi_epochs.acquire += barriers;
    all_assert(true);
}

static bool anew; /* the waiter has met what was to disturb it */

static void
let_begin_anew(void)
{
    anew = true;
    tell(0, GO);
    told_by(0, DONE);
}

/* A late set is in its turn, and has found which epoch it is, when another
 * thread of its rank passes a barrier: it begins the log anew in the epoch
 * before this one.  The next set begins it anew again. */
static void
late_set(int64_t *p, int flag)
{
    hearthi_epochs.release--;
    pages_tell(p, PAGES - 2, 1, flag);
    hearthi_epochs.release++;
}

/* The log has `end` notices when it has rested for so long that its epoch
 * looks like one that is `ahead` of the one that is now. */
struct old_log {
    int      flag;
    uint32_t end;
    unsigned ahead;
};

static void
anew_set(int64_t *p, const struct old_log *o)
{
    int page;

    told_by(ranks - 1, GO);
    if (o->ahead == 0)
        late_set(p, o->flag);
    page = pages_tell(p, 0, 3, o->flag);
    tell(ranks - 1, DONE);
    hearth_flag_wait(READ);
    log_lengthen(p, page, o->flag, o->end);
    tell(ranks - 1, DONE);
}

static void
anew_wait(int64_t *p, const struct old_log *o)
{
    anew = false;
    delay_next_get(let_begin_anew);
    hearth_flag_wait(o->flag);
    delay_next_get(NULL);
    if (!anew)
        let_begin_anew();
    for (int i = 6; i < PAGES - 2; i += 2)
        expect_eq(*word(p, i), 0);
    hearth_flag_set(READ);
    told_by(0, DONE);
    hearth_flag_wait(o->flag);
}

/* The pages as the waiter has them, and as they are. */
static void
pages_check(int64_t *p)
{
    int64_t sum = 0;

    for (int i = 0; me == ranks - 1 && i < PAGES; i++)
        sum += *word(p, i);
    barrier();
    for (int i = 0; me == ranks - 1 && i < PAGES; i++)
        sum -= *word(p, i);
    expect_eq(sum, 0);
    barrier();
}

/* The waiter has looked at the log when it is begun anew; later it is as long
 * as it was then, and has other notices. */
static void
begin_anew_under_a_waiter(const struct old_log *o)
{
    int64_t *old = pages_new(PAGES), *p = pages_new(PAGES);

    copies_take(old, PAGES, 0);
    copies_take(p, PAGES, 0);
    if (me == 0)
        log_lengthen(old, 0, o->flag, o->end);
    barrier();
    rest(HEARTHI_EPOCHS - 1 - o->ahead);
    if (me == 0)
        anew_set(p, o);
    else if (me == ranks - 1)
        anew_wait(p, o);
    pages_check(p);
    if (me == 0)
        hearth_flag_reset(READ);
    barrier();
    hearth_free(p);
    hearth_free(old);
    all_expected();
}

START_TEST(a_log_begun_anew_when_it_seemed_lost_is_read_from_its_start)
{
    static const struct old_log o[2] = {
        { ANEW, 2 * HEARTHI_LOG, 0 },
        { ANEW + 1, 2 * HEARTHI_LOG, 1 },
    };

    for (int i = 0; hearth_nodes() > 1 && i < 2; i++)
        begin_anew_under_a_waiter(&o[i]);
}
END_TEST

START_TEST(a_log_begun_anew_when_it_seemed_read_is_read_from_its_start)
{
    static const struct old_log o = { ANEW + 2, HEARTHI_LOG / 3, 0 };

    if (hearth_nodes() > 1) /* one node has no logs */
        begin_anew_under_a_waiter(&o);
}
END_TEST

/* ---- a log that is never still ---- */

/* As often as a reader may be disturbed, in each Get of each look, and more
 * often than he should let that happen. */
enum { RESTLESS = 127, OVER, GETS_MOST = 5 * 3, DISTURBED_MOST = 60 };

static int disturbed;

static void
let_overwrite(void)
{
    disturbed++;
    delay_next_get(disturbed < DISTURBED_MOST ? let_overwrite : NULL);
    tell(0, GO);
    told_by(0, DONE);
}

/* So much that nothing of the log is where it was. */
static void
log_overwrite(int64_t *p, int value)
{
    uint32_t end = log_end(RESTLESS) + 2 * HEARTHI_LOG;

    for (; (int32_t)(log_end(RESTLESS) - end) <= 0; value++) {
        for (int i = 0; i < AT_ONCE; i++)
            *word(p, 2 * (i + AT_ONCE * (value % 4))) = value;
        hearth_flag_set(RESTLESS);
    }
}

static void
restless_set(int64_t *p)
{
    MPI_Status s;
    int        value = 0;

    do {
        log_overwrite(p, ++value * PAGES);
        tell(ranks - 1, DONE);
        MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &s);
    } while (s.MPI_TAG == GO);
}

static void
restless_wait(void)
{
    hearth_stats before, after;

    told_by(0, DONE);
    disturbed = 0;
    hearth_get_stats(&before);
    delay_next_get(let_overwrite);
    hearth_flag_wait(RESTLESS);
    delay_next_get(NULL);
    hearth_get_stats(&after);
    expect(disturbed > 0 && disturbed <= GETS_MOST);
    expect_eq(after.everything - before.everything, 1);
    tell(0, OVER);
}

/* Who waits over mpi does not have to be faster than those who set. */
START_TEST(a_log_that_is_never_still_is_taken_for_everything)
{
    int64_t *p = pages_new(PAGES);
    bool     reads = rma_used();

    copies_take(p, PAGES, 0);
    if (reads && me == 0)
        restless_set(p);
    else if (reads && me == ranks - 1)
        restless_wait();
    pages_check(p);
    hearth_free(p);
    all_expected();
}
END_TEST

TCase *
flag_logs(void)
{
    TCase *tc = tcase_create("logs of flags");

    tcase_add_unchecked_fixture(tc, fixture_start_unforeseen, fixture_stop);
    tcase_add_test(
        tc, a_set_tells_what_another_thread_of_the_rank_is_about_to_tell);
    tcase_add_test(
        tc, a_log_begun_anew_when_it_seemed_lost_is_read_from_its_start);
    tcase_add_test(
        tc, a_log_begun_anew_when_it_seemed_read_is_read_from_its_start);
    tcase_add_test(tc, a_log_that_is_never_still_is_taken_for_everything);
    return tc;
}
