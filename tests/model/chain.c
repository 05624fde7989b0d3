/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The chain of a lock between nodes over MPI (src/transport/mpi/mcs_lock.c):
 * each node takes the lock a few times, waiting or by a try, and may keep it;
 * each swap of a word is a step.  Node 0 is the manager.
 */
#include "chain.h"

static const char *const rules[RULES + 1] = {
    [ONE_PLACE] = "--one-place",     [CLEAR_LATE] = "--clear-late",
    [SWAP_NAME] = "--swap-name",     [SWAP_BACK] = "--swap-back",
    [DROP_NAME] = "--drop-name",     [REST_BLIND] = "--rest-blind",
    [GRANT_TAKEN] = "--grant-taken", [NO_SETTLE] = "--no-settle",
    [KEEP_BLIND] = "--keep-blind",   [NO_RING] = "--no-ring",
    [NO_WANT] = "--no-want",         [DROP_KEPT] = "--drop-kept",
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

/* ---- passing on ---- */

static void
leave(struct state *s, struct node *n)
{
    bool mine = n->target / 2 == chain_number(s, n);

    n->passes = 1;
    n->at = mine && s->word[n->target] >= NAME ? HAND_OVER : LAY_DOWN;
}

static bool
section_end(struct state *s, struct node *n, int choice)
{
    if (choice == 0 || (n->kept && !n->wanted)) {
        n->saw = ++s->sections;
        if (n->kept && !n->wanted) {
            chain_turn_end(n);
            return choice == 0;
        }
        n->kept = n->wanted = 0;
        leave(s, n);
        return true;
    }
    if (n->target / 2 != chain_number(s, n) || n->kept ||
        s->word[n->target] >= NAME)
        return false;
    n->saw = ++s->sections;
    n->at = KEEP;
    return true;
}

static void
keep(struct state *s, struct node *n)
{
    n->hand = chain_swap(s, n, KEPT);
    if (n->hand >= NAME && !broken(KEEP_BLIND)) {
        n->at = KEEP_BACK;
    } else {
        n->kept = 1;
        chain_turn_end(n);
    }
}

static void
hand_over(struct state *s, struct node *n)
{
    uint8_t out = chain_swap(s, n, EMPTY);

    if (out >= NAME) {
        chain_grant(s, n, out);
        n->ours = 0;
        chain_turn_end(n);
    } else {
        n->at = LAY_DOWN;
    }
}

static void
lay_down(struct state *s, struct node *n)
{
    n->hand = chain_swap(s, n, REST);
    if (n->hand >= NAME && broken(GRANT_TAKEN))
        chain_grant(s, n, n->hand);
    if (n->hand < NAME || broken(REST_BLIND) || broken(GRANT_TAKEN))
        chain_turn_end(n);
    else
        n->at = PUT;
}

/* The thread that gives a kept lock away is the node's own here. */
static bool
give(struct state *s, struct node *n)
{
    if (!n->kept || !n->wanted)
        return false;
    n->kept = n->wanted = 0;
    n->saw = s->sections;
    leave(s, n);
    return true;
}

static bool
node_step(struct state *s, struct node *n, int choice)
{
    switch (n->at) {
    case OUT:
        if (n->kept && n->wanted)
            return choice == 0 && give(s, n);
        return chain_take_step(s, n, choice);
    case HOLD: return section_end(s, n, choice);
    case KEEP: keep(s, n); break;
    case KEEP_BACK:
        chain_name_add(s, n, n->hand);
        leave(s, n);
        break;
    case HAND_OVER: hand_over(s, n); break;
    case LAY_DOWN: lay_down(s, n); break;
    default: return chain_take_step(s, n, choice);
    }
    return choice == 0;
}

/* For a try: is anybody inside, in the queue, or in a try that has something
 * in its hand? */
static bool
is_busy(const struct state *s, const struct node *me)
{
    for (int i = 0; i < NODES; i++) {
        const struct node *n = &s->node[i];

        if (n != me && n->at != OUT && n->at != CLEAR && n->at != JOIN &&
            n->at != TAIL && n->at != LOOK && n->at != WANT &&
            n->at != LOOK_AGAIN && n->at != TAKE)
            return true;
    }
    return false;
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    bool          done = node_step(s, &s->node[actor], choice);

    for (int i = 0; i < NODES; i++) {
        struct node *n = &s->node[i];

        if (n->tries && n->at >= TAIL && n->at <= PUT)
            n->excused |= is_busy(s, n);
    }
    return done;
}

/* ---- what must hold ---- */

static const char *
fault(const void *state)
{
    const struct state *s = state;
    int                 inside = 0;

    for (int i = 0; i < NODES; i++)
        inside += s->node[i].at == HOLD || s->node[i].kept;
    if (inside > 1)
        return "two nodes hold the lock";
    return s->wrong ? "a try failed although the lock was free, or a holder "
                      "has not seen all"
                    : NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < NODES; i++)
        if (s->node[i].at != OUT)
            return false;
    return true;
}

int
main(int argc, char **argv)
{
    static const struct search model = {
        sizeof(struct state), NODES, CHOICES, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    for (int i = 0; i < 2 * NODES; i++)
        start.word[i] = i == 0 ? REST : EMPTY;
    return search_main(argc, argv, &model, &start);
}
