/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Each rank has some places for active messages at each home, used in turn,
 * and two words there: how many active messages it has sent, and how many are
 * done.  So
 *   - a place is written again only when the active message that was there is
 *     done;
 *   - the helper reads an active message that is whole: `sent` is put when the
 *     active message has arrived, and read before it;
 *   - the sender knows that all is stored when `done` says so: the stores
 * come before the count, and a flush of diffs returns no earlier.  From then
 * on a Get of the page finds them, as it finds what the home's own threads
 *     have stored.
 *
 * To wait for arrival, and to wake a thread, cost as much as to store an
 * active message. So active messages are told of when they are half as many as
 * may be on their way (HEARTH_DIFF_DEPTH, or the places), and the helper is
 * not woken if an active message that it was told of before is not done: it
 * looks at `sent` again when it has counted that one.  This is right since
 * each of the two writes its own word before it looks at the other's.
 *
 * Doorbells may be lost, and come too often: the words say what is there, and
 * a rank that waits rings again.  MPI does not promise that eight bytes come
 * at once: a word that would say more than can be is torn, and looked at
 * again.
 *
 * No place is shared, so there is no step of two ranks on one word: where MPI
 * does such steps by the target's processor they would need its help first.
 *
 * The helper stores the changed bytes and no others of a word beside: what the
 * home's ranks write meanwhile in the same page stays.
 *
 * tests/model/mail.c walks every order of these steps, and breaks each rule.
 */
#include "config.h"

#include "am_mailbox.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "fabric.h"
#include "mpi.h"
#include "progress.h"
#include "transfer.h"

enum { DONE_AT = sizeof(uint64_t), YIELD = 8, LONG = 64 };
enum { AGAIN = 300000, AGAIN_MOST = 10000000, NAP = 10000 }; /* nanoseconds */

/* Active messages to a home. */
struct post {
    uint64_t put; /* active messages, the last of which are not told of */
    uint64_t sent, done; /* as the words say, or were last seen */
    uint64_t told;       /* `sent` before the last change */
    bool     open;       /* among those who are waited for */
};

static struct post *post;
static int         *open_at, n_open;
static uint64_t
    depth; /* active messages to a home that are not done, at most */

/* Active messages of each rank that are done here, and which ranks have
 * rung. */
static uint64_t *served;
static bool     *rung;
static int      *ringing, n_ringing;

/* Of a rank, in any home's segment. */
static size_t
words_at(int rank)
{
    return hearthi_segments.am_mailbox_at +
           (size_t)rank * HEARTHI_AM_MAILBOX_WORDS;
}

static uint64_t
places(void)
{
    return hearthi_segments.places;
}

static size_t
place_at(int rank, uint64_t am_buffer)
{
    return words_at(hearthi_cluster.size) +
           ((size_t)rank * places() + am_buffer % places()) *
               hearthi_segments.am_buffer;
}

static char *
segment(void)
{
    return hearthi_segments.base[hearthi_cluster.node_rank];
}

static void *
room(size_t bytes)
{
    void *p = calloc((size_t)hearthi_cluster.size, bytes);

    if (p == NULL)
        hearthi_fatal("hearth_init", "no memory");
    return p;
}

void
hearthi_am_mailbox_open(void)
{
    post = room(sizeof *post);
    open_at = room(sizeof *open_at);
    memset(segment() + words_at(0), 0,
           (size_t)hearthi_cluster.size * HEARTHI_AM_MAILBOX_WORDS);
    served = room(sizeof *served);
    rung = room(sizeof *rung);
    ringing = room(sizeof *ringing);
    n_open = n_ringing = 0;
    depth = places();
    if (hearthi_opt.diff_depth != 0)
        depth = hearthi_min(depth, hearthi_opt.diff_depth);
}

void
hearthi_am_mailbox_close(void)
{
    HEARTHI_ASSERT(n_open == 0);
    free(post);
    free(open_at);
    free(served);
    free(rung);
    free(ringing);
}

/* ---- sending ---- */

/* True if there is more than before. */
static bool
done_look(int home)
{
    struct post *p = &post[home];
    uint64_t     done;

    hearthi_fabric_home_read(home, words_at(hearthi_cluster.rank) + DONE_AT,
                             &done, sizeof done);
    if (done <= p->done || done > p->sent)
        return false;
    p->done = done;
    return true;
}

/* A wait for a home. */
struct patience {
    unsigned looks;
    uint64_t since, ring_at, again;
};

/* The home's helper may need this very core, and gets it sooner if this thread
 * sleeps. */
static void
patience_turn(struct patience *w, int home)
{
    const struct timespec nap = { .tv_nsec = NAP };
    uint64_t              now;

    if (++w->looks > LONG)
        nanosleep(&nap, NULL);
    else if (w->looks % YIELD == 0)
        sched_yield();
    now = hearthi_now();
    if (now < w->ring_at)
        return;
    hearthi_doorbell_mail(home);
    w->again = hearthi_min(2 * w->again, AGAIN_MOST);
    w->ring_at = now + w->again;
    hearthi_wait_warn(home, now - w->since);
}

static void
done_wait(int home, uint64_t until)
{
    struct post    *p = &post[home];
    struct patience w = { .since = hearthi_now(), .again = AGAIN };

    HEARTHI_ASSERT(until <= p->sent);
    w.ring_at = w.since + w.again;
    while (p->done < until)
        if (done_look(home))
            w.since = hearthi_now();
        else
            patience_turn(&w, home);
    /* What the home stored, before our loads of it. */
    atomic_thread_fence(memory_order_acquire);
}

/* Fewer than half of the active messages, or none, are such that the home was
 * not told of: so the active message that is waited for is one that the home
 * knows. */
bool
hearthi_am_mailbox_send(int home, const struct hearthi_am_buffer *l)
{
    struct post *p = &post[home];

    HEARTHI_ASSERT(p->done <= p->sent && p->sent <= p->put);
    HEARTHI_ASSERT(l->bytes > 0 &&
                   sizeof *l + l->bytes <= hearthi_segments.am_buffer);
    if (p->put >= depth)
        done_wait(home, p->put - depth + 1);
    hearthi_put(home, place_at(hearthi_cluster.rank, p->put), l,
                sizeof *l + l->bytes);
    p->put++;
    HEARTHI_ASSERT(p->put - p->done <= depth && n_open < hearthi_cluster.size);
    if (!p->open)
        open_at[n_open++] = home;
    p->open = true;
    return p->put - p->sent >= (depth + 1) / 2;
}

static void
helper_wake(int home, uint64_t before)
{
    done_look(home);
    if (post[home].done >= before)
        hearthi_doorbell_mail(home);
}

/* What a flush does inside MPI is not relied on.  The fence pairs with that of
 * am_buffers_do(), where the home has put `done` before it looks at `sent`. */
static void
puts_settle(void)
{
    hearthi_puts_wait();
    atomic_thread_fence(memory_order_seq_cst);
}

void
hearthi_am_mailbox_settle(void)
{
    puts_settle();
    for (int i = 0; i < n_open; i++) {
        struct post *p = &post[open_at[i]];

        p->told = p->sent;
        p->sent = p->put;
        if (p->sent > p->told)
            hearthi_put(open_at[i], words_at(hearthi_cluster.rank), &p->sent,
                        sizeof p->sent);
    }
    puts_settle();
    for (int i = 0; i < n_open; i++)
        if (post[open_at[i]].sent > post[open_at[i]].told)
            helper_wake(open_at[i], post[open_at[i]].told);
}

void
hearthi_am_mailbox_wait(void)
{
    while (n_open > 0) {
        int home = open_at[--n_open];

        done_wait(home, post[home].sent);
        post[home].open = false;
    }
}

/* ---- at home ---- */

static _Atomic uint64_t *
word(size_t offset)
{
    return (_Atomic uint64_t *)(void *)(segment() + offset);
}

/* Has it sent an active message that is not done?  Acquire: the active message
 * is read behind `sent`. */
static bool
is_there(int rank)
{
    uint64_t sent =
        atomic_load_explicit(word(words_at(rank)), memory_order_acquire);

    return served[rank] < sent && sent - served[rank] <= places();
}

/* Counted one by one, so that the next may come meanwhile; and looked at again
 * behind each count. */
static bool
am_buffers_do(int rank)
{
    bool any = false;

    while (is_there(rank)) {
        hearthi_am_buffer_store(
            (const void *)(segment() + place_at(rank, served[rank])),
            segment());
        served[rank]++;
        atomic_store_explicit(word(words_at(rank) + DONE_AT), served[rank],
                              memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        any = true;
    }
    return any;
}

void
hearthi_am_mailbox_from(int rank)
{
    HEARTHI_ASSERT(rank >= 0 && rank < hearthi_cluster.size);
    if (!rung[rank])
        ringing[n_ringing++] = rank;
    rung[rank] = true;
}

bool
hearthi_am_mailbox_serve(void)
{
    bool any = false;

    for (int i = 0; i < n_ringing; i++)
        any |= am_buffers_do(ringing[i]);
    return any;
}

void
hearthi_am_mailbox_rest(void)
{
    while (n_ringing > 0)
        rung[ringing[--n_ringing]] = false;
}
