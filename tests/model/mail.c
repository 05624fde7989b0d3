/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Active messages (src/transport/mpi/am_mailbox.c): a home, its helper, a
 * thread of its own that writes beside, and two ranks that write bytes of one
 * word there, by messages and by Puts.  What a rank puts arrives in pieces and
 * in any order, until it has waited for that, words too.  A bell may be lost,
 * and then who waits rings again.  With --sure bells arrive, words come whole
 * and nobody rings again, which shows that the helper never sleeps over a
 * message.
 */
#include "mail.h"

static const char *const rules[RULES + 1] = {
    [SURE] = "--sure",
    [REUSE_EARLY] = "--reuse-early",
    [SENT_EARLY] = "--sent-early",
    [READ_EARLY] = "--read-early",
    [COUNT_FIRST] = "--count-first",
    [NO_WAIT] = "--no-wait",
    [NO_PUT_WAIT] = "--no-put-wait",
    [TWICE] = "--twice",
    [WHOLE_WORD] = "--whole-word",
    [TRUST_SENT] = "--trust-sent",
    [TRUST_DONE] = "--trust-done",
    [RING_ONCE] = "--ring-once",
    [LOOK_EARLY] = "--look-early",
    [NO_SECOND_LOOK] = "--no-second-look",
    [REST_UNSERVED] = "--rest-unserved",
};

const struct op program[WRITERS][OPS] = {
    { { MESSAGE, 0, 1 },
      { MESSAGE, 1, 1 },
      { MESSAGE, 2, 1 },
      { EVICT, 0, 0 },
      { PLAIN, 2, 2 },
      { FLUSH, 0, 0 },
      { RELEASE, 0, 0 },
      { MESSAGE, 2, 3 },
      { FLUSH, 0, 0 },
      { RELEASE, 0, 0 },
      { END, 0, 0 } },
    { { MESSAGE, 3, 1 },
      { FLUSH, 0, 0 },
      { RELEASE, 0, 0 },
      { PLAIN, 3, 2 },
      { FLUSH, 0, 0 },
      { RELEASE, 0, 0 },
      { END, 0, 0 } },
};

/* ---- writers ---- */

static bool
is_under_way(const struct writer *w, int from, int to)
{
    for (int i = from; i < to; i++)
        if (w->way[i] != 0)
            return true;
    return false;
}

static bool
bell_ring(struct state *s, int i)
{
    if (s->bell & 1 << i)
        return false;
    s->bell |= (uint8_t)(1 << i);
    return true;
}

/* The next look at `done`, or ring again; false if that changes nothing. */
static bool
patience_turn(struct state *s, int i, int choice)
{
    struct writer *w = &s->writer[i];
    uint8_t        seen = s->done[i];

    if (choice == 1)
        return !broken(SURE) && !broken(RING_ONCE) && bell_ring(s, i);
    if (choice == 2 && broken(TRUST_DONE))
        seen |= TORN;
    if (choice > 2 || seen == w->done || (choice == 2 && seen < TORN))
        return false;
    w->done = seen;
    return true;
}

static bool
settle(struct state *s, int i, int choice)
{
    struct writer *w = &s->writer[i];

    switch (w->at) {
    case TELL:
        if (!broken(SENT_EARLY) && is_under_way(w, 0, SENT))
            return false;
        if (broken(LOOK_EARLY))
            w->done = s->done[i];
        w->told = w->sent;
        w->way[SENT] = w->sent = w->put;
        w->at = ARRIVE;
        break;
    case ARRIVE:
        w->at = LOOK_DONE;
        if (w->way[SENT] != 0)
            return false;
        break;
    case LOOK_DONE:
        if (!broken(LOOK_EARLY))
            w->done = s->done[i];
        w->at = RING;
        break;
    default:
        w->at = BEGIN;
        if (w->done < w->told)
            break;
        if (choice == 1)
            return !broken(SURE) && s->lost++ < LOSSES;
        bell_ring(s, i);
        return choice == 0;
    }
    return choice == 0;
}

static bool
message_put(struct state *s, int i, int choice)
{
    struct writer *w = &s->writer[i];
    int            place = w->put % PLACES;

    if (w->put >= PLACES && w->done < w->put - PLACES + 1 &&
        !broken(REUSE_EARLY))
        return patience_turn(s, i, choice);
    w->put++;
    w->way[2 * place] = w->way[2 * place + 1] = w->put;
    w->op++;
    return choice == 0;
}

static bool
flush(struct state *s, int i, int choice)
{
    struct writer *w = &s->writer[i];
    bool           evict = program[i][w->op].what == EVICT;

    if (evict && broken(TWICE)) {
        w->op++;
        return choice == 0;
    }
    if (is_under_way(w, PUT, PIECES) && !broken(NO_PUT_WAIT))
        return false;
    if (w->done < w->sent && !broken(NO_WAIT))
        return patience_turn(s, i, choice);
    w->op++;
    return choice == 0;
}

/* All that was written before is published. */
static bool
publish(struct state *s, int i, int choice)
{
    struct writer *w = &s->writer[i];

    for (int k = 0; k < w->op; k++)
        if (program[i][k].what <= PLAIN)
            s->published[program[i][k].byte] = program[i][k].value;
    w->op++;
    return choice == 0;
}

/* Homes may be told at any time, and must be before a flush, or when there is
 * no place. */
static bool
writer_step(struct state *s, int i, int choice)
{
    struct writer   *w = &s->writer[i];
    const struct op *op = &program[i][w->op];
    bool             untold = w->put > w->sent;

    if (w->at != BEGIN)
        return settle(s, i, choice);
    if (choice == 3 || (untold && op->what > PLAIN)) {
        w->at = TELL;
        return untold && (choice == 0 || op->what <= PLAIN);
    }
    switch (op->what) {
    case MESSAGE:
        if (untold && w->put - w->sent == PLACES)
            return false;
        return message_put(s, i, choice);
    case PLAIN:
        w->way[PUT] = op->value;
        w->op++;
        return choice == 0;
    case EVICT:
    case FLUSH: return flush(s, i, choice);
    case RELEASE: return publish(s, i, choice);
    default: return false;
    }
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;

    if (actor == NET)
        return arrive(s, choice);
    if (actor == HELPER)
        return helper_step(s, choice);
    if (actor < WRITERS)
        return writer_step(s, actor, choice);
    if (choice > 0 || s->published[OWN])
        return false;
    s->memory[OWN] = s->published[OWN] = 1;
    return true;
}

/* ---- what must hold ---- */

/* Who reads behind a release, by a Get or as a thread of the home, finds what
 * was written before. */
static const char *
fault(const void *state)
{
    const struct state *s = state;

    if (s->wrong)
        return "a message is stored that is not there as a whole";
    for (int i = 0; i < BYTES; i++)
        if (s->memory[i] < s->published[i])
            return i == OWN ? "what the home wrote is lost"
                            : "what was released is not at home";
    return NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < WRITERS; i++)
        if (program[i][s->writer[i].op].what != END)
            return false;
    return true;
}

int
main(int argc, char **argv)
{
    static const struct search model = {
        sizeof(struct state), ACTORS, CHOICES, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    return search_main(argc, argv, &model, &start);
}
