/* SPDX-License-Identifier: BSD-2-Clause */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned search_broken;

/* How a state was found. */
struct way {
    uint32_t from;
    uint8_t  actor, choice;
};

/* States in the order in which they were found, and a hash table of them. */
static uint8_t    *state;
static struct way *way;
static uint32_t   *slot;
static uint32_t    states, room;

static uint8_t *
state_at(uint32_t number, size_t size)
{
    return state + (size_t)number * size;
}

static uint64_t
hash(const uint8_t *s, size_t size)
{
    uint64_t h = size;

    for (size_t i = 0; i < size; i++)
        h = (h ^ s[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static uint32_t *
slot_of(const uint8_t *s, size_t size)
{
    uint32_t i = (uint32_t)hash(s, size);

    while (slot[i & (2 * room - 1)] != 0 &&
           memcmp(state_at(slot[i & (2 * room - 1)] - 1, size), s, size) != 0)
        i++;
    return &slot[i & (2 * room - 1)];
}

static void
grow(size_t size)
{
    room = room > 0 ? 2 * room : 1 << 14;
    state = realloc(state, room * size);
    way = realloc(way, room * sizeof *way);
    free(slot);
    slot = calloc(2 * (size_t)room, sizeof *slot);
    if (state == NULL || way == NULL || slot == NULL) {
        fprintf(stderr, "model: no memory\n");
        exit(2);
    }
    for (uint32_t i = 0; i < states; i++)
        *slot_of(state_at(i, size), size) = i + 1;
}

static void
note(const uint8_t *s, size_t size, struct way by)
{
    uint32_t *at;

    if (states == room)
        grow(size);
    at = slot_of(s, size);
    if (*at != 0)
        return;
    memcpy(state_at(states, size), s, size);
    way[states] = by;
    *at = ++states;
}

/* Note all that can follow. */
static const char *
expand(const struct search *m, uint32_t number)
{
    uint8_t     from[STATE_MOST], s[STATE_MOST];
    bool        stuck = true;
    const char *fault;

    memcpy(from, state_at(number, m->size), m->size);
    fault = m->fault(from);
    if (fault != NULL)
        return fault;
    for (int actor = 0; actor < m->actors; actor++)
        for (int choice = 0; choice < m->choices; choice++) {
            memcpy(s, from, m->size);
            if (!m->step(s, actor, choice))
                continue;
            stuck = false;
            note(s, m->size,
                 (struct way){ number, (uint8_t)actor, (uint8_t)choice });
        }
    return stuck && !m->is_end(from) ? "somebody waits for ever" : NULL;
}

/* The steps that lead to a state, the first one first. */
static void
trace(const struct search *m, uint32_t number)
{
    if (number == 0)
        return;
    trace(m, way[number].from);
    printf("actor %d, choice %d", way[number].actor, way[number].choice);
    if (m->show != NULL)
        m->show(state_at(number, m->size));
    printf("\n");
}

static bool
rule_break(const struct search *m, const char *arg)
{
    for (int i = 0; m->rule[i] != NULL; i++)
        if (strcmp(arg, m->rule[i]) == 0) {
            search_broken |= 1u << i;
            return true;
        }
    return false;
}

/* Say what arguments there are; the exit status. */
static int
usage(const struct search *m, const char *program)
{
    fprintf(stderr, "usage: %s [--trace]", program);
    for (int i = 0; m->rule[i] != NULL; i++)
        fprintf(stderr, " [%s]", m->rule[i]);
    fprintf(stderr, "\n");
    return 2;
}

int
search_main(int argc, char **argv, const struct search *model,
            const void *start)
{
    uint8_t     s[STATE_MOST] = { 0 };
    const char *fault = NULL;
    bool        tell = false;
    uint32_t    walked = 0;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--trace") == 0)
            tell = true;
        else if (!rule_break(model, argv[i]))
            return usage(model, argv[0]);
    memcpy(s, start, model->size);
    note(s, model->size, (struct way){ 0 });
    while (walked < states && fault == NULL)
        fault = expand(model, walked++);
    if (fault != NULL && tell)
        trace(model, walked - 1);
    printf("%u states, ", states);
    printf(fault != NULL ? "FAILS: %s\n" : "holds\n", fault);
    return fault != NULL;
}
