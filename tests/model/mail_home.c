/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The home's side of the model of messages: what arrives there, and the
 * helper.
 */
#include "mail.h"

#include <string.h>

/* ---- what arrives ---- */

static const uint8_t plain_byte[WRITERS] = { 2, 3 };

static const struct op *
message_of(int i, int number)
{
    const struct op *op = program[i];

    for (; op->what != END; op++)
        if (op->what == MESSAGE && --number == 0)
            return op;
    return NULL;
}

/* A word comes in two pieces, the second much later. */
static void
sent_arrive(struct state *s, int i)
{
    struct writer *w = &s->writer[i];

    if (!w->torn && !broken(SURE)) {
        s->sent[i] = w->way[SENT] | TORN;
        w->torn = 1;
        return;
    }
    s->sent[i] = w->way[SENT];
    w->torn = w->way[SENT] = 0;
}

bool
arrive(struct state *s, int choice)
{
    int            i = choice / PIECES, piece = choice % PIECES;
    struct writer *w = &s->writer[i];

    if (w->way[piece] == 0)
        return false;
    if (piece == SENT) {
        sent_arrive(s, i);
        return true;
    }
    if (piece == PUT)
        s->memory[plain_byte[i]] = w->way[PUT];
    else
        s->half[i][piece] = w->way[piece];
    w->way[piece] = 0;
    return true;
}

/* ---- the helper ---- */

static void
message_read(struct state *s)
{
    int place = s->served[s->of] % PLACES;

    memcpy(s->read, &s->half[s->of][2 * place], sizeof s->read);
}

/* The first of those who have rung, from one on. */
static void
helper_next(struct state *s, int from)
{
    while (from < WRITERS && !(s->ringing & 1 << from))
        from++;
    s->of = (uint8_t)(from < WRITERS ? from : 0);
    s->at = from < WRITERS ? LOOK : REST;
    if (broken(READ_EARLY) && s->at == LOOK)
        message_read(s);
}

static void
helper_look(struct state *s)
{
    uint8_t sent = s->sent[s->of], served = s->served[s->of];

    if (served < sent && (sent - served <= PLACES || broken(TRUST_SENT))) {
        s->until = sent;
        s->at = broken(COUNT_FIRST) ? COUNT : STORE;
    } else {
        helper_next(s, s->of + 1);
    }
}

static void
helper_store(struct state *s)
{
    uint8_t          next = s->served[s->of] + !broken(COUNT_FIRST);
    const struct op *op = message_of(s->of, next);

    if (broken(COUNT_FIRST))
        memcpy(s->read, &s->half[s->of][2 * ((next - 1) % PLACES)], 2);
    else if (!broken(READ_EARLY))
        message_read(s);
    s->at = broken(COUNT_FIRST) ? LOOK : COUNT;
    if (op == NULL || s->read[0] != next || s->read[1] != next) {
        s->wrong = 1;
    } else if (broken(WHOLE_WORD)) {
        memcpy(s->copy, s->memory, BYTES);
        s->copy[op->byte] = op->value;
        s->at = WRITE;
    } else {
        s->memory[op->byte] = op->value;
    }
    memset(s->read, 0, sizeof s->read);
}

static void
helper_count(struct state *s)
{
    s->done[s->of] = ++s->served[s->of];
    if (broken(COUNT_FIRST))
        s->at = STORE;
    else if (!broken(NO_SECOND_LOOK))
        s->at = LOOK;
    else if (s->served[s->of] < s->until)
        s->at = STORE;
    else
        helper_next(s, s->of + 1);
    if (broken(READ_EARLY) && s->at == LOOK)
        message_read(s);
}

/* It may look for who rings for as long as it likes. */
static bool
helper_rest(struct state *s, int choice)
{
    if (choice > 0 && s->bell == 0)
        return false;
    if (choice == 1) {
        s->ringing |= s->bell;
        s->bell = 0;
        helper_next(s, 0);
        return true;
    }
    if (choice == 2)
        s->bell = 0;
    s->ringing = 0;
    s->at = ASLEEP;
    return choice == 0 || (choice == 2 && broken(REST_UNSERVED));
}

bool
helper_step(struct state *s, int choice)
{
    if (s->at == REST)
        return helper_rest(s, choice);
    switch (s->at) {
    case ASLEEP:
        if (s->bell == 0)
            return false;
        s->ringing = s->bell;
        s->bell = 0;
        helper_next(s, 0);
        break;
    case LOOK: helper_look(s); break;
    case STORE: helper_store(s); break;
    case WRITE:
        memcpy(s->memory, s->copy, BYTES);
        memset(s->copy, 0, BYTES);
        s->at = COUNT;
        break;
    default: helper_count(s); break;
    }
    return choice == 0;
}
