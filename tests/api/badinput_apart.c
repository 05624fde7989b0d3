/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks that make different collective calls, or come late to one, or wait
 * long in another call.
 */
#include <pthread.h>
#include <unistd.h>

#include "badinput.h"
#include "base/option.h"
#include "life/collective_watch.h"

enum { MICROSECONDS = 1500000 };

/* Until somebody has told of a wait, which all ranks hear of: when that is, is
 * up to who has the cores.  A job that hangs ends even so.  Where nobody is to
 * tell, for a while. */
static void
told_await(void)
{
    enum { MS = 1000, MANY = 30000 };

    if (hearthi_opt.watch == 0) {
        usleep(MICROSECONDS);
        return;
    }
    for (int i = 0; i < MANY && !hearthi_wait_was_told(); i++)
        usleep(MS);
}

/* Who comes late to these, as one that got no core may, is not told of. */
static void
together(void)
{
    const size_t watch = hearthi_opt.watch;

    hearthi_opt.watch = 0;
    hearth_barrier();
    hearthi_opt.watch = watch;
}

static void *
page_new_together(void)
{
    const size_t watch = hearthi_opt.watch;
    void        *p;

    hearthi_opt.watch = 0;
    p = page_new();
    hearthi_opt.watch = watch;
    return p;
}

static void
apart_alloc_barrier(void)
{
    if (me == 0)
        hearth_alloc(1000, 8, hearth_block());
    else
        hearth_barrier();
}

static void
apart_free_barrier(void)
{
    void *p = page_new_together();

    if (me == last)
        hearth_free(p);
    else
        hearth_barrier();
}

static void
apart_alloc_free(void)
{
    void *p = page_new_together();

    if (me == last)
        hearth_free(p);
    else
        page_new();
}

/* The next barrier goes on to hearth_finalize. */
static void
apart_finalize_barrier(void)
{
    if (me != last)
        hearth_barrier();
}

static void
apart_late(void)
{
    if (me == last)
        told_await();
    hearth_barrier();
}

/* It comes late to two barriers: that is said once. */
static void
apart_late_twice(void)
{
    apart_late();
    if (me == last)
        usleep(MICROSECONDS);
    hearth_barrier();
}

/* Rank 1 waits in a barrier, and the last for a flag. */
static void
apart_at_flag(void)
{
    together();
    if (me == 0)
        told_await();
    if (me == 0)
        hearth_flag_set(3);
    if (me == last)
        hearth_flag_wait(3);
    hearth_barrier();
}

/* ---- waits that are none of all ranks ---- */

enum {
    LOCK = 5,
    FLAG = 3,
    COND = 2,
    RWLOCK = 4,
    LARGE = 4000,
    STALL = 1000000
};

/* Every rank waits but the one that will let them go on. */
static void
stalled_at_lock(void)
{
    together();
    if (me == last)
        hearth_lock(LOCK);
    hearth_barrier();
    if (me == last)
        told_await();
    else
        hearth_lock(LOCK);
    hearth_unlock(LOCK);
}

static void
stalled_at_address(void)
{
    int *p, lock;

    together();
    p = page_new();
    lock = hearth_lock_of(p);
    if (me == last)
        hearth_lock(lock);
    hearth_barrier();
    if (me == last)
        told_await();
    else
        hearth_lock(lock);
    hearth_unlock(lock);
}

/* Each waits for the next one, but for the last, whose other thread would set
 * the first flag: all of them wait, and no rank computes. */
static void *
flag_late(void *unused)
{
    told_await();
    hearth_flag_set(FLAG + last);
    return unused;
}

static void
stalled_at_flags(void)
{
    pthread_t late;

    together();
    if (me == last)
        pthread_create(&late, NULL, flag_late, NULL);
    hearth_flag_wait(FLAG + me);
    if (me > 0)
        hearth_flag_set(FLAG + me - 1);
    if (me == last)
        pthread_join(late, NULL);
}

static void
stalled_at_condition(void)
{
    static int64_t *ready;

    together();
    ready = page_new();
    if (me == last)
        told_await();
    hearth_lock(LOCK);
    *ready |= me == last;
    if (me == last)
        hearth_cond_broadcast(COND);
    while (*ready == 0)
        hearth_cond_wait(COND, LOCK);
    hearth_unlock(LOCK);
}

static void
stalled_at_rwlock(void)
{
    together();
    if (me == last)
        hearth_wrlock(RWLOCK);
    hearth_barrier();
    if (me == last)
        told_await();
    else
        hearth_rdlock(RWLOCK);
    hearth_rwunlock(RWLOCK);
}

static void
stalled_at_team_of(void)
{
    hearth_team *team;

    together();
    if (me == last)
        told_await();
    team = hearth_team_of(MPI_COMM_WORLD);
    hearth_team_free(team);
}

static void
stalled_at_team_free(void)
{
    hearth_team *team = hearth_team_of(MPI_COMM_WORLD);

    together();
    if (me == last)
        told_await();
    hearth_team_free(team);
}

/* The last rank has all of the first one's memory, and frees it late.  How
 * long it takes to have it all is no wait that is told of, and the first one
 * waits for two seconds at most. */
static void
stalled_for_memory(void)
{
    enum { ALL = 4 << 20 };
    static void *object[ALL / LARGE];
    int          n = 0;

    for (; me == last && n < (ALL - (ALL >> 3)) / LARGE; n++)
        object[n] = hearth_malloc_on(LARGE, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; me == 0 && i < ALL / 4 / LARGE; i++)
        hearth_malloc(LARGE);
    if (me == last)
        told_await();
    while (n > 0)
        hearth_free(object[--n]);
    hearth_release(NULL, 0);
}

/* Waits of which each is short, but which take long together.  For two. */
static void
stalled_never(void)
{
    enum { EACH = 20000, LONG = 2500000 };

    for (int i = 0; i < LONG / EACH; i++) {
        if (me != last)
            hearth_lock(LOCK);
        hearth_barrier();
        if (me != last)
            usleep(EACH);
        else
            hearth_lock(LOCK);
        hearth_unlock(LOCK);
        hearth_barrier();
    }
}

const struct badinput badinput_aparts[] = {
    BADINPUT(apart_alloc_barrier),
    BADINPUT(apart_free_barrier),
    BADINPUT(apart_alloc_free),
    BADINPUT(apart_finalize_barrier),
    BADINPUT(apart_late),
    BADINPUT(apart_late_twice),
    BADINPUT(apart_at_flag),
    BADINPUT(stalled_at_lock),
    BADINPUT(stalled_at_address),
    BADINPUT(stalled_at_flags),
    BADINPUT(stalled_at_condition),
    BADINPUT(stalled_at_rwlock),
    BADINPUT(stalled_at_team_of),
    BADINPUT(stalled_at_team_free),
    BADINPUT(stalled_for_memory),
    BADINPUT(stalled_never),
    { 0 },
};
