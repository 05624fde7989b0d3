/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Each rank has two places for letters at each home, used in turn, and two
 * words there: how many letters it has sent, and how many are done.  So
 *   - a place is written again only when the letter before last is done;
 *   - the helper reads a letter that is whole: `sent` is put when the letter
 *     has arrived, and read before it;
 *   - who has sent knows that all is stored when `done` says so: the stores
 * come before the count, and a flush of diffs returns no earlier.  From then
 * on a Get of the page finds them, as it finds what the home's own threads
 *     have stored.
 * Bells may be lost, and come too often: what is there say the words, and who
 * waits rings again.  MPI does not promise that eight bytes come at once: a
 * word that would say more than can be is torn, and looked at again.
 *
 * No place is shared, so there is no step of two ranks on one word: where MPI
 * does such steps by the target's processor they would need its help first.
 *
 * The helper stores these bytes and no others of a word beside: what the
 * home's ranks write meanwhile in the same page stays.
 */
#include "config.h"

#include "mail.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/least.h"
#include "base/report.h"
#include "mpi.h"
#include "progress.h"
#include "transfer.h"
#include "world.h"

enum { PLACES = 2, DONE_AT = sizeof(uint64_t), YIELD = 8 };
enum { AGAIN = 300000, AGAIN_MOST = 10000000 }; /* nanoseconds */

/* Letters to a home. */
struct post {
    uint64_t sent, done; /* as last seen */
    bool     open;       /* among those who are waited for */
};

static struct post *post;
static int         *open_at, n_open;

/* Letters of each rank that are done here, and who has rung. */
static uint64_t *served;
static bool     *rung;
static int      *ringing, n_ringing;

/* Of a rank, in any home's segment. */
static size_t
words_at(int rank)
{
    return hearthi_segments.mail_at + (size_t)rank * HEARTHI_MAIL_WORDS;
}

static size_t
place_at(int rank, uint64_t letter)
{
    return words_at(hearthi_world.size) +
           ((size_t)rank * PLACES + letter % PLACES) * hearthi_segments.letter;
}

static char *
segment(void)
{
    return hearthi_segments.base[hearthi_world.node_rank];
}

static void *
room(size_t bytes)
{
    void *p = calloc((size_t)hearthi_world.size, bytes);

    if (p == NULL)
        hearthi_fatal("hearth_init", "no memory");
    return p;
}

void
hearthi_mail_open(void)
{
    post = room(sizeof *post);
    open_at = room(sizeof *open_at);
    memset(segment() + words_at(0), 0,
           (size_t)hearthi_world.size * HEARTHI_MAIL_WORDS);
    served = room(sizeof *served);
    rung = room(sizeof *rung);
    ringing = room(sizeof *ringing);
    n_open = n_ringing = 0;
}

void
hearthi_mail_close(void)
{
    free(post);
    free(open_at);
    free(served);
    free(rung);
    free(ringing);
}

/* ---- sending ---- */

static uint64_t
done_look(int home)
{
    uint64_t done;

    hearthi_look(home, words_at(hearthi_world.rank) + DONE_AT, &done,
                 sizeof done);
    return done;
}

/* The first ring was for the letter; more are for one that got lost.  The
 * home's helper may need this very core. */
static void
done_wait(int home, uint64_t until)
{
    struct post *p = &post[home];
    uint64_t     again = AGAIN, ring_at = hearthi_now() + again;

    for (unsigned looks = 1; p->done < until; looks++) {
        uint64_t done = done_look(home);

        if (done > p->done && done <= p->sent)
            p->done = done;
        if (p->done >= until)
            break;
        if (looks % YIELD == 0)
            sched_yield();
        if (hearthi_now() > ring_at) {
            hearthi_bell_mail(home);
            again = hearthi_least(2 * again, AGAIN_MOST);
            ring_at = hearthi_now() + again;
        }
    }
    /* What the home stored, before our loads of it. */
    atomic_thread_fence(memory_order_acquire);
}

void
hearthi_mail_send(int home, const struct hearthi_letter *l)
{
    struct post *p = &post[home];
    int          me = hearthi_world.rank;

    if (p->sent >= PLACES)
        done_wait(home, p->sent - PLACES + 1);
    hearthi_put(home, place_at(me, p->sent), l, sizeof *l + l->bytes);
    hearthi_puts_wait();
    /* What a flush does inside MPI is not relied on. */
    atomic_thread_fence(memory_order_seq_cst);
    p->sent++;
    hearthi_put(home, words_at(me), &p->sent, sizeof p->sent);
    hearthi_puts_wait();
    hearthi_bell_mail(home);
    if (!p->open)
        open_at[n_open++] = home;
    p->open = true;
}

void
hearthi_mail_wait(void)
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

static void
letter_do(const struct hearthi_letter *l)
{
    const uint8_t *at = l->body, *end = at + l->bytes;

    while (at < end) {
        uint64_t head;
        size_t   len;
        char    *to;

        memcpy(&head, at, sizeof head);
        at += sizeof head;
        len = head & ((1 << HEARTHI_RUN_BITS) - 1);
        to = segment() + (size_t)(head >> HEARTHI_RUN_BITS);
        hearthi_run_copy(to, at, len);
        at += len;
    }
}

/* Done one by one, so that the next may come meanwhile. */
static bool
letters_do(int rank)
{
    const size_t at = words_at(rank);
    uint64_t     sent = atomic_load_explicit(word(at), memory_order_acquire);
    bool         any = served[rank] < sent && sent - served[rank] <= PLACES;

    while (any && served[rank] < sent) {
        letter_do((void *)(segment() + place_at(rank, served[rank])));
        served[rank]++;
        atomic_store_explicit(word(at + DONE_AT), served[rank],
                              memory_order_release);
    }
    return any;
}

void
hearthi_mail_from(int rank)
{
    if (!rung[rank])
        ringing[n_ringing++] = rank;
    rung[rank] = true;
}

bool
hearthi_mail_serve(void)
{
    bool any = false;

    for (int i = 0; i < n_ringing; i++)
        any |= letters_do(ringing[i]);
    return any;
}

void
hearthi_mail_rest(void)
{
    while (n_ringing > 0)
        rung[ringing[--n_ringing]] = false;
}
