/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One trial: buffers whose pages are in a certain state, a call on them, what
 * happens meanwhile, and every byte looked at, by its rank and by others.
 *
 * Each rank has two regions of whole pages, one to send from and one to
 * receive into, with the buffer inside; around it are bytes that the rank
 * itself writes (mine) and others that its right neighbour writes (his), as
 * near to the buffer as can be.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "calls_region.h"

/* A thread that holds both regions while the operation is under way. */
struct holder {
    pthread_t         thread;
    struct region    *regions[2];
    int               count;
    pthread_barrier_t both;
};

static void
holder_hold(struct holder *h)
{
    for (int i = 0; i < h->count; i++)
        hearth_hold(h->regions[i]->base, h->regions[i]->span,
                    HEARTH_READ | HEARTH_WRITE);
}

static void
holder_drop(struct holder *h)
{
    for (int i = 0; i < h->count; i++)
        hearth_drop(h->regions[i]->base, h->regions[i]->span,
                    HEARTH_READ | HEARTH_WRITE);
}

static void *
holder_work(void *p)
{
    struct holder *h = p;

    holder_hold(h);
    pthread_barrier_wait(&h->both);
    pthread_barrier_wait(&h->both);
    holder_drop(h);
    return NULL;
}

static void
holder_start(struct holder *h, struct region *send, struct region *recv)
{
    h->count = 0;
    if (send->state == HELD)
        h->regions[h->count++] = send;
    if (recv->state == HELD)
        h->regions[h->count++] = recv;
    if (h->count == 0)
        return;
    if (!threads_allowed()) {
        holder_hold(h);
        return;
    }
    pthread_barrier_init(&h->both, NULL, 2);
    pthread_create(&h->thread, NULL, holder_work, h);
    pthread_barrier_wait(&h->both);
}

static void
holder_stop(struct holder *h)
{
    if (h->count == 0)
        return;
    if (!threads_allowed()) {
        holder_drop(h);
        return;
    }
    pthread_barrier_wait(&h->both);
    pthread_join(h->thread, NULL);
    pthread_barrier_destroy(&h->both);
}

static const char *const states[] = { "own",     "read", "absent", "clean",
                                      "written", "held", "last" };
static const char *const meanwhiles[] = { "blocking", "nothing", "an acquire",
                                          "a release", "a barrier" };

/* For a run that hangs, too. */
static const char *
trial_text(const struct trial *t)
{
    static char text[160];

    snprintf(text, sizeof text, "%s of %zu bytes, %s to %s, meanwhile %s",
             t->call->name, t->bytes, states[t->send], states[t->recv],
             meanwhiles[t->meanwhile]);
    return text;
}

void
all_here(void)
{
    failing_rank(true);
}

MPI_Request *
request_new(struct operation *o)
{
    return &o->requests[o->count++];
}

void
requests_wait(struct operation *o)
{
    MPI_Waitall(o->count, o->requests, MPI_STATUSES_IGNORE);
}

void
own_end(struct operation *o)
{
    requests_wait(o);
    free(o->own);
}

static struct operation
operation_of(const struct trial *t, MPI_Comm comm)
{
    return (struct operation){
        .call = t->call,
        .bytes = t->bytes,
        .pending = t->meanwhile != BLOCKING,
        .turn = t->turn,
        .comm = comm,
        .left = (me + ranks - 1) % ranks,
        .right = (me + 1) % ranks,
        .root = (int)(t->turn % (unsigned)ranks),
    };
}

static void
operation_start(struct operation *o)
{
    harness_at(o->call->name, (int)o->bytes);
    o->call->start(o);
}

static void
operation_finish(struct operation *o)
{
    if (o->call->finish != NULL)
        o->call->finish(o);
    else
        requests_wait(o);
}

/* Each rank's buffers are guarded by a lock of its own. */
static void
meanwhile_acquire(struct sides *s)
{
    hearth_lock(s->left);
    side_write(s, s->left, HIS);
    hearth_unlock(s->left);
    all_here();
    hearth_lock(me);
    side_expect(s, me, HIS);
    hearth_unlock(me);
}

static void
meanwhile_release(struct sides *s)
{
    hearth_lock(me);
    side_write(s, me, MINE);
    hearth_unlock(me);
    all_here();
    hearth_lock(s->left);
    side_expect(s, s->left, MINE);
    hearth_unlock(s->left);
}

static void
meanwhile_barrier(struct sides *s)
{
    side_write(s, me, MINE);
    side_write(s, s->left, HIS);
    hearth_barrier();
    side_expect(s, me, HIS);
    side_expect(s, s->left, MINE);
}

static void
meanwhile_do(enum meanwhile what, struct sides *s)
{
    switch (what) {
    case ACQUIRE: meanwhile_acquire(s); return;
    case RELEASE: meanwhile_release(s); return;
    case BARRIER: meanwhile_barrier(s); return;
    case NOTHING: side_write(s, me, MINE); return;
    default: return;
    }
}

/* Others write beside the buffers without being asked, unless the pages are
 * to be their owner's alone. */
static void
before_do(enum meanwhile what, struct sides *s)
{
    if (what <= NOTHING && s->send[me].state != OWN &&
        s->recv[me].state != OWN)
        side_write(s, s->left, HIS);
}

/* Where it can be, half of the ranks have begun before and the others begin
 * after, so that the operation is under way for certain. */
static void
operation_play(struct operation *o, const struct trial *t, struct sides *s)
{
    bool late = t->call->kind == CALL_PENDS && t->meanwhile > NOTHING &&
                (me + t->turn / 2) % 2 == 1;

    before_do(t->meanwhile, s);
    if (!late)
        operation_start(o);
    meanwhile_do(t->meanwhile, s);
    if (late)
        operation_start(o);
    operation_finish(o);
}

void
trial_run(const struct trial *t, MPI_Comm comm)
{
    struct operation by_hand = operation_of(t, comm), o = by_hand;
    struct holder    holder;
    struct sides     s;

    sides_new(&s, t, trial_text(t));
    if (me == 0 && getenv("MPI_TEST_SAY") != NULL)
        fprintf(stderr, "turn %u: %s\n", t->turn, s.text);
    by_hand.send = s.send[me].shadow + s.send[me].at;
    by_hand.recv = s.recv[me].shadow + s.recv[me].at;
    operation_start(&by_hand);
    operation_finish(&by_hand);
    o.send = s.send[me].base + s.send[me].at;
    o.recv = s.recv[me].base + s.recv[me].at;
    holder_start(&holder, &s.send[me], &s.recv[me]);
    all_here();
    operation_play(&o, t, &s);
    sides_expect_here(&s);
    holder_stop(&holder);
    hearth_barrier();
    sides_expect_everywhere(&s, comm);
    sides_free(&s);
}
