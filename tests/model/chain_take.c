/* SPDX-License-Identifier: BSD-2-Clause */
#include "chain.h"

uint8_t
chain_number(const struct state *s, const struct node *n)
{
    return (uint8_t)(n - s->node);
}

uint8_t
chain_swap(struct state *s, struct node *n, uint8_t item)
{
    uint8_t out = s->word[n->target];

    s->word[n->target] = item;
    if (item == REST)
        s->saw[n->target] = n->saw;
    if (out == REST)
        n->saw = s->saw[n->target];
    return out;
}

uint8_t
chain_name_add(struct state *s, struct node *n, uint8_t name)
{
    uint8_t out = chain_swap(s, n, name);

    s->wrong |= out >= TAKEN;
    if (out == REST)
        s->word[n->target] = TAKEN;
    return out;
}

void
chain_turn_end(struct node *n)
{
    n->at = OUT;
    n->tries = n->passes = n->again = n->hand = n->saw = n->excused = 0;
    if (!n->ours && !n->kept)
        n->target = 0;
}

static void
hold(struct state *s, struct node *n)
{
    n->at = HOLD;
    n->ours = 1;
    n->hand = n->again = 0;
    s->wrong |= n->saw != s->sections;
}

static void
miss(struct state *s, struct node *n)
{
    n->hand = 0;
    n->ours = 0;
    if (n->again) {
        n->again = 0;
        n->at = n->tries ? TAIL : CLEAR;
    } else {
        s->wrong |= !n->excused;
        chain_turn_end(n);
    }
}

/* ---- taking ---- */

/* As far as the node can tell without a message. */
static bool
may_rest(const struct state *s, const struct node *n)
{
    return n->ours &&
           (n->target / 2 != chain_number(s, n) || s->word[n->target] == REST);
}

static bool
begin(struct state *s, struct node *n, int choice)
{
    if (n->turns == TURNS || (n->kept && n->wanted))
        return false;
    n->turns++;
    n->tries = choice == TRY;
    if (n->kept) {
        n->at = HOLD;
        return choice == LOCK;
    }
    n->again = n->ours = may_rest(s, n);
    n->at = n->ours ? TAKE : n->tries ? TAIL : CLEAR;
    return true;
}

static uint8_t
place_of(const struct state *s, const struct node *n)
{
    return (uint8_t)(2 * chain_number(s, n) + n->place);
}

static void
clear(struct state *s, struct node *n)
{
    s->word[place_of(s, n)] = EMPTY;
    n->granted = n->grant = 0;
}

static void
chain_join(struct state *s, struct node *n)
{
    n->target = s->tail == 0 ? 0 : s->tail - 1;
    s->tail = (uint8_t)(place_of(s, n) + 1);
    n->at = ASK;
}

/* Its own place is where it holds the lock. */
static void
arrive(struct state *s, struct node *n)
{
    n->target = place_of(s, n);
    hold(s, n);
}

static void
ask(struct state *s, struct node *n)
{
    uint8_t name = NAME + chain_number(s, n);
    uint8_t out = broken(SWAP_NAME) ? chain_swap(s, n, name)
                                    : chain_name_add(s, n, name);

    if (broken(CLEAR_LATE))
        clear(s, n);
    if (out == REST)
        arrive(s, n);
    else
        n->at = WAIT;
}

static void
ring(struct state *s, uint8_t place)
{
    s->node[place / 2].wanted |= s->node[place / 2].kept;
}

static bool
await(struct state *s, struct node *n, int choice)
{
    struct node *before = &s->node[n->target / 2];

    if (choice == 0 && n->granted) {
        n->saw = n->grant;
        arrive(s, n);
        return true;
    }
    if (choice == 0 || broken(NO_RING) || !before->kept || before->wanted)
        return false;
    ring(s, n->target);
    return true;
}

/* ---- tries ---- */

static void
look(struct state *s, struct node *n)
{
    uint8_t word = s->word[n->target];

    if (word == REST)
        n->at = TAKE;
    else if (word == KEPT && n->at == LOOK && !broken(NO_WANT))
        n->at = WANT;
    else
        miss(s, n);
}

static bool
want(struct state *s, struct node *n)
{
    struct node *keeper = &s->node[n->target / 2];

    if (keeper->kept && keeper->at == OUT) {
        if (keeper->wanted)
            return false;
        keeper->wanted = 1;
        return true;
    }
    n->at = LOOK_AGAIN;
    return true;
}

static void
take(struct state *s, struct node *n)
{
    n->hand = chain_swap(s, n, EMPTY);
    if (n->hand == REST)
        hold(s, n);
    else if (n->hand == EMPTY || n->hand == TAKEN ||
             (broken(DROP_NAME) && n->hand >= NAME) ||
             (broken(DROP_KEPT) && n->hand == KEPT))
        miss(s, n);
    else
        n->at = PUT;
}

/* What a release has put back there is another's matter. */
static void
put_end(struct state *s, struct node *n)
{
    if (!n->passes) {
        miss(s, n);
        return;
    }
    n->ours = 0;
    chain_turn_end(n);
}

void
chain_grant(struct state *s, struct node *n, uint8_t name)
{
    s->wrong |= s->node[name - NAME].granted;
    s->node[name - NAME].granted = 1;
    s->node[name - NAME].grant = n->saw;
}

static void
name_back(struct state *s, struct node *n)
{
    uint8_t name = n->hand;
    uint8_t out = broken(SWAP_BACK) ? chain_swap(s, n, name)
                                    : chain_name_add(s, n, name);

    if (out == REST && !broken(NO_SETTLE))
        chain_grant(s, n, name);
    else if (out == KEPT)
        ring(s, n->target);
    put_end(s, n);
}

static void
kept_back(struct state *s, struct node *n)
{
    n->hand = chain_swap(s, n, KEPT);
    if (n->hand == REST)
        hold(s, n);
    else if (n->hand < NAME)
        put_end(s, n);
}

bool
chain_take_step(struct state *s, struct node *n, int choice)
{
    switch (n->at) {
    case OUT: return begin(s, n, choice);
    case WAIT: return await(s, n, choice);
    case WANT: return choice == 0 && want(s, n);
    case CLEAR:
        if (!broken(ONE_PLACE))
            n->place ^= 1;
        if (!broken(CLEAR_LATE))
            clear(s, n);
        n->at = JOIN;
        break;
    case JOIN: chain_join(s, n); break;
    case ASK: ask(s, n); break;
    case TAIL:
        n->target = s->tail == 0 ? 0 : s->tail - 1;
        n->at = LOOK;
        break;
    case LOOK:
    case LOOK_AGAIN: look(s, n); break;
    case TAKE: take(s, n); break;
    case PUT:
        if (n->hand == KEPT)
            kept_back(s, n);
        else
            name_back(s, n);
        break;
    default: return false;
    }
    return choice == 0;
}
