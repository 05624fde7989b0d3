/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Order by the program's own messages: a yard goes from rank to rank.  Who has
 * it acquires it, by its range or all, and finds the version of the one before;
 * writes the next, or receives it from another rank into the heap, maybe over
 * an acquire and a release; releases, and sends a message to the next rank.
 * Other threads synchronise meanwhile.
 */
#include <mpi.h>
#include <stdlib.h>

#include "scene.h"
#include "watch.h"

enum { TAG_TURN = 71, TAG_WORDS = 72, PAGES_MOST = 5, TURNS_MOST = 24 };

struct relay {
    struct stage *s;
    struct yard   yard, sent; /* sent: the same in memory of this rank's own */
    int           lock;
};

static void
turn_receive(struct relay *r, int from)
{
    uint64_t version;

    if (from == r->s->w->me)
        return;
    MPI_Recv(&version, 1, MPI_UINT64_T, from, TAG_TURN, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (draw(&r->s->a->random, 2))
        hearth_acquire(NULL, 0);
    else
        hearth_acquire(r->yard.word, r->yard.words * sizeof *r->yard.word);
}

static void
turn_send(struct relay *r, uint64_t version, int to)
{
    if (draw(&r->s->a->random, 2))
        hearth_release(NULL, 0);
    else
        hearth_release(r->yard.word, r->yard.words * sizeof *r->yard.word);
    if (to != r->s->w->me)
        MPI_Send(&version, 1, MPI_UINT64_T, to, TAG_TURN, MPI_COMM_WORLD);
}

static void
words_send(struct relay *r, uint64_t version, int to)
{
    yard_write(&r->sent, yard_all(&r->sent), version);
    MPI_Send(r->sent.word, (int)r->sent.words, MPI_UINT64_T, to, TAG_WORDS,
             MPI_COMM_WORLD);
}

static void
words_receive(struct relay *r, int from)
{
    MPI_Request request;

    MPI_Irecv(r->yard.word, (int)r->yard.words, MPI_UINT64_T, from, TAG_WORDS,
              MPI_COMM_WORLD, &request);
    scene_nap(r->s);
    if (draw(&r->s->a->random, 2)) {
        hearth_lock(r->lock);
        hearth_unlock(r->lock);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The turn of one rank, which brings the yard to this version, with the words
 * of another one if that is not itself. */
static void
turn_play(struct relay *r, uint64_t version, int before, int of, int next)
{
    int me = r->s->w->me, turn = (int)((version - 1) % (uint64_t)r->s->w->ranks);

    if (me == of && of != turn)
        words_send(r, version, turn);
    if (me != turn)
        return;
    if (version > 1)
        turn_receive(r, before);
    yard_check(r->s, &r->yard, yard_all(&r->yard), version - 1);
    if (of != turn)
        words_receive(r, of);
    else
        yard_write(&r->yard, yard_all(&r->yard), version);
    turn_send(r, version, next);
    watch_step();
}

void
scene_messages(struct stage *s)
{
    struct relay r = { .s = s };
    uint64_t     size = (uint64_t)s->w->ranks, pages, turns;

    pages = 1 + draw(&s->random, PAGES_MOST);
    turns = 1 + draw(&s->random, TURNS_MOST);
    r.yard = yard_make(s, pages, hearth_cyclic(1));
    r.lock = s->w->lock[draw(&s->random, (uint64_t)s->w->locks)];
    r.sent = r.yard;
    r.sent.word = malloc(r.sent.words * sizeof *r.sent.word);
    if (r.sent.word == NULL)
        abort();
    for (uint64_t v = 1; v <= turns; v++)
        turn_play(&r, v, (int)((v + size - 2) % size),
                  (int)draw(&s->random, size),
                  v < turns ? (int)(v % size) : (int)((v - 1) % size));
    hearth_barrier();
    yard_check(s, &r.yard, yard_all(&r.yard), turns);
    free(r.sent.word);
    yard_drop(&r.yard);
}
