/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The word by which a rank lends a copy to the others of its node
 * (src/page/node_cache.h): the owner takes its name away, puts another page
 * into the frame, this one again, and its name with a new number, twice; a
 * mate may put its own name there meanwhile; and a reader copies the frame.
 *
 * Processors are as weak as any: the owner's stores come to memory in any
 * order but for those to one place, and the reader's loads are done in any
 * order, as far as fences, and stores and loads that release and acquire, do
 * not say otherwise.
 */
#include "search.h"

enum { OWNER, MATE, READER, ACTORS };
enum { STORES = 12, ROUNDS = 2 };

enum rule {
    NO_KEEP,     /* the name stays while the frame has another page */
    NO_FENCE,    /* ... or goes at the same time */
    LEND_EARLY,  /* it may be there before the page */
    SAME_NUMBER, /* as it was before */
    NO_LOOK,     /* the reader does not look again */
    LOOK_EARLY,  /* ... or may do so before it has all of the page */
    LOAD_EARLY,  /* it may have some of that before it looks first */
    RULES
};

static const char *const rules[RULES + 1] = {
    [NO_KEEP] = "--no-keep",       [NO_FENCE] = "--no-fence",
    [LEND_EARLY] = "--lend-early", [SAME_NUMBER] = "--same-number",
    [NO_LOOK] = "--no-look",       [LOOK_EARLY] = "--look-early",
    [LOAD_EARLY] = "--load-early",
};

/* Places of memory; a half of the frame has this page (0) or another. */
enum { WORD, HALF, OTHER_HALF, MEMORY };

/* What the owner does in a round. */
enum { KEEP, FENCE, SPOIL, SPOIL_OTHER, FILL, FILL_OTHER, LEND, STEPS };

/* What the reader loads. */
enum { FIRST, BYTES, OTHER_BYTES, SECOND, LOADS };

enum { MATES_NAME = 15 };

struct store {
    uint8_t at, value, release;
};

struct state {
    uint8_t      memory[MEMORY];
    uint8_t      round, next, n; /* the owner's; and stores on their way */
    struct store store[STORES];
    uint8_t      written; /* the mate's */
    uint8_t      loaded, got[LOADS];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

/* ---- the owner ---- */

static uint8_t
owner_sees(const struct state *s, int at)
{
    for (int i = s->n; i-- > 0;)
        if (s->store[i].at == at)
            return s->store[i].value;
    return s->memory[at];
}

static void
store(struct state *s, uint8_t at, uint8_t value, bool release)
{
    s->store[s->n++] = (struct store){ at, value, release };
}

static uint8_t
number_of(uint8_t round)
{
    return broken(SAME_NUMBER) ? 1 : (uint8_t)(1 + round);
}

static bool
owner_goes_on(struct state *s)
{
    if (s->round == ROUNDS || s->n == STORES)
        return false;
    switch (s->next) {
    case KEEP:
        if (owner_sees(s, WORD) == number_of(s->round) && !broken(NO_KEEP))
            store(s, WORD, 0, false);
        break;
    case FENCE:
        if (s->n > 0 && !broken(NO_FENCE))
            return false;
        break;
    case SPOIL: store(s, HALF, 1, false); break;
    case SPOIL_OTHER: store(s, OTHER_HALF, 1, false); break;
    case FILL: store(s, HALF, 0, false); break;
    case FILL_OTHER: store(s, OTHER_HALF, 0, false); break;
    default:
        store(s, WORD, number_of((uint8_t)(s->round + 1)),
              !broken(LEND_EARLY));
    }
    s->next = (uint8_t)((s->next + 1) % STEPS);
    s->round = (uint8_t)(s->round + (s->next == 0));
    return true;
}

/* The i-th store comes to memory. */
static bool
store_arrive(struct state *s, int i)
{
    const struct store it = s->store[i];

    if (i >= s->n || (it.release && i > 0))
        return false;
    for (int k = 0; k < i; k++)
        if (s->store[k].at == it.at)
            return false;
    s->memory[it.at] = it.value;
    for (s->n--; i < s->n; i++)
        s->store[i] = s->store[i + 1];
    s->store[i] = (struct store){ 0 };
    return true;
}

/* ---- the mate and the reader ---- */

static bool
mate_writes(struct state *s)
{
    if (s->written)
        return false;
    s->written = 1;
    s->memory[WORD] = MATES_NAME;
    return true;
}

static bool
has(const struct state *s, int load)
{
    return s->loaded >> load & 1;
}

/* Must be done before. */
static bool
waits(const struct state *s, int load)
{
    bool all = has(s, BYTES) && has(s, OTHER_BYTES);

    if (load == SECOND)
        return (!all && !broken(LOOK_EARLY)) || !has(s, FIRST);
    return load != FIRST && !has(s, FIRST) && !broken(LOAD_EARLY);
}

static bool
reader_loads(struct state *s, int load)
{
    static const uint8_t at[LOADS] = { WORD, HALF, OTHER_HALF, WORD };

    if (load >= LOADS || has(s, load) || waits(s, load))
        return false;
    s->loaded |= (uint8_t)(1 << load);
    s->got[load] = s->memory[at[load]];
    return true;
}

/* ---- the model ---- */

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;

    if (actor == READER)
        return reader_loads(s, choice);
    if (actor == MATE)
        return choice == 0 && mate_writes(s);
    return choice == STORES ? owner_goes_on(s) : store_arrive(s, choice);
}

static const char *
fault(const void *state)
{
    const struct state *s = state;

    if (s->loaded != (1 << LOADS) - 1 || s->got[FIRST] == 0 ||
        s->got[FIRST] == MATES_NAME)
        return NULL;
    if (s->got[SECOND] != s->got[FIRST] && !broken(NO_LOOK))
        return NULL;
    return s->got[BYTES] || s->got[OTHER_BYTES]
               ? "the reader has bytes of another page"
               : NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    return s->round == ROUNDS && s->n == 0 && s->written &&
           s->loaded == (1 << LOADS) - 1;
}

int
main(int argc, char **argv)
{
    const struct state  start = { .memory = { [WORD] = 1 } };
    const struct search model = {
        .size = sizeof start,
        .actors = ACTORS,
        .choices = STORES + 1,
        .step = step,
        .fault = fault,
        .is_end = is_end,
        .rule = rules,
    };

    return search_main(argc, argv, &model, &start);
}
