/* SPDX-License-Identifier: BSD-2-Clause */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned search_broken;

/* States in the order in which they were found, and a hash table of them. */
static uint8_t (*state)[STATE_MOST];
static uint32_t *slot;
static uint32_t  states, room;

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
           memcmp(state[slot[i & (2 * room - 1)] - 1], s, size) != 0)
        i++;
    return &slot[i & (2 * room - 1)];
}

static void
grow(size_t size)
{
    room = room > 0 ? 2 * room : 1 << 14;
    state = realloc(state, room * sizeof *state);
    free(slot);
    slot = calloc(2 * (size_t)room, sizeof *slot);
    if (state == NULL || slot == NULL) {
        fprintf(stderr, "model: no memory\n");
        exit(2);
    }
    for (uint32_t i = 0; i < states; i++)
        *slot_of(state[i], size) = i + 1;
}

static void
note(const uint8_t *s, size_t size)
{
    uint32_t *at;

    if (states == room)
        grow(size);
    at = slot_of(s, size);
    if (*at != 0)
        return;
    memcpy(state[states], s, size);
    *at = ++states;
}

/* Note all that can follow. */
static const char *
expand(const struct search *m, uint32_t number)
{
    uint8_t     from[STATE_MOST], s[STATE_MOST];
    bool        stuck = true;
    const char *fault;

    memcpy(from, state[number], sizeof from);
    fault = m->fault(from);
    if (fault != NULL)
        return fault;
    for (int actor = 0; actor < m->actors; actor++)
        for (int choice = 0; choice < m->choices; choice++) {
            memcpy(s, from, sizeof s);
            if (!m->step(s, actor, choice))
                continue;
            stuck = false;
            note(s, m->size);
        }
    return stuck && !m->is_end(from) ? "somebody waits for ever" : NULL;
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

int
search_main(int argc, char **argv, const struct search *model,
            const void *start)
{
    uint8_t     s[STATE_MOST] = { 0 };
    const char *fault = NULL;

    for (int i = 1; i < argc; i++)
        if (!rule_break(model, argv[i])) {
            fprintf(stderr, "usage: %s", argv[0]);
            for (int k = 0; model->rule[k] != NULL; k++)
                fprintf(stderr, " [%s]", model->rule[k]);
            fprintf(stderr, "\n");
            return 2;
        }
    memcpy(s, start, model->size);
    note(s, model->size);
    for (uint32_t i = 0; i < states && fault == NULL; i++)
        fault = expand(model, i);
    printf("%u states, ", states);
    printf(fault != NULL ? "FAILS: %s\n" : "holds\n", fault);
    return fault != NULL;
}
