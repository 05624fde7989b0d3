/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a flag tells when two threads of one rank set it at once.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "flags.h"
#include "transport/transport.h"

enum { DONE = 12 };

static bool
told_by(int rank, int tag)
{
    MPI_Recv(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
}

static void
tell(int rank, int tag)
{
    MPI_Send(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

/* Copies of pages that stay over an acquire, which first ones do not. */
static void
copies_take(int64_t *p, int n, int64_t value)
{
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++)
            expect_eq(*word(p, i), value);
        barrier();
    }
}

/* ---- two threads of a rank set one flag ---- */

enum { TWICE = 800 };

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
    prompt->flag_set(sync, n, count);
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
    late.flag_set = set_late;
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

TCase *
flag_logs(void)
{
    TCase *tc = tcase_create("logs of flags");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(
        tc, a_set_tells_what_another_thread_of_the_rank_is_about_to_tell);
    return tc;
}
