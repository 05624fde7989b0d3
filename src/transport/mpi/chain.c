/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The chain of a lock between nodes, after Mellor-Crummey and Scott
 * ("Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors",
 * 1991): a word at the lock's manager names the last place of the queue.  Who
 * waits swaps its own place in, tells the place before it, and then looks at a
 * word of its own memory, where the one before puts the grant: three messages,
 * however many wait.  A lock that nobody waits for rests where it was held
 * last, and is taken from there: two messages, or none between nodes if it
 * rests at home.
 *
 * All that happens at a place is one step on one word, which is at each time
 *   REST   the lock rests here, with its token
 *   KEPT   a rank keeps it (keep.h), and must be rung for
 *   NAME   who waits behind this place
 *   EMPTY  none of these: it is held, or waited for, or was here once
 *   TAKEN  the same: it rested here, and the one who asked has it
 * A name is added to what is there, and all else is swapped in.  Who adds a
 * name takes out the token, if that rests there, and nothing else; who swaps
 * one thing in answers for what he gets out.  The token and the names are
 * never copied, so who has one in his hand has the only one:
 *   - who asks and gets the token is inside;
 *   - whoever gets out a name, because he puts the lock to rest or was to take
 *     it, puts the name back.  If he gets the token then, its holder has found
 *     no name: it is granted to the name.
 * Two that meet at a place may each find nothing of the other in the word: the
 * one that puts his thing back second finds the other's.
 *
 * A try takes the lock where it rests, and does not enter the queue: it swaps
 * EMPTY into the last place of the chain, if that is where the lock is, and
 * releases it there, as a guest.  So a try that fails has nothing to undo but
 * to put back what it got out, and whoever waits is passed by a try at most
 * once, before his name is at the place before him.
 *
 * CAS would spare the names' way back, but Open MPI 4.1.4 does it wrongly
 * between nodes.
 *
 * A rank uses its places in turn.  It waits at one only after it had the lock
 * at the other, so whoever waited behind the earlier use of this place has
 * gone; a try that comes late finds nothing in the word, or what is true now.
 *
 * Every step is a Fetch_and_op, sums and swaps (hearthi_window_info), also on
 * the rank's own words, but for two that nobody can meet: a place is EMPTY,
 * and its grant 0, before it is in the chain.  All memory is 0 at first, or of
 * a lock that gets a name just then: it rests at the manager's first place,
 * with the token 0.
 *
 * KEPT may be in a try's hand when somebody asks.  The try then rings when it
 * finds the name; should that be lost, who waits for long rings, too.
 *
 * tests/model/chain.c walks through all of it.
 */
#include "config.h"

#include "chain.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "managed.h"
#include "near.h"
#include "progress.h"
#include "space/heap.h"
#include "transport/named.h"
#include "world.h"

/* A name may be added to any of the first three: TAKEN is the sum for REST. */
enum item { REST, EMPTY, KEPT, TAKEN = 4, NAME };

/* Bits.  A sum of a token and a name does not reach the item; the rank that
 * keeps a lock, and a name, have bits of their own. */
enum { ITEM_AT = 61, NAME_AT = 31, RANK_BITS = 29 };

#define VALUE   ((UINT64_C(1) << ITEM_AT) - 1)
#define KEEPER  ((UINT64_C(1) << RANK_BITS) - 1)
#define GRANTED (UINT64_C(1) << 63)

/* In nanoseconds: who waits for what is not known to be kept. */
enum { WANT_LATE = 100000000 };

struct places {
    uint64_t word[2], grant;
    uint64_t tail; /* of the lock: at its manager only */
};

static char    *own;    /* this rank's places */
static size_t   own_at; /* in everybody's window */
static uint8_t *used;   /* which one was waited at last; not by who manages */

/* 1 + the rank behind which this one waits, or 0. */
static atomic_int *behind;

/* Of all objects only locks have some, and writers behind all. */
static size_t
places_at(int lock)
{
    int i =
        lock < HEARTH_LOCKS ? lock : lock - HEARTHI_NAMING_AT + HEARTH_LOCKS;

    return (size_t)i * sizeof(struct places);
}

size_t
hearthi_chain_bytes(void)
{
    return places_at(hearthi_turns());
}

void
hearthi_chain_open(char *base, size_t at)
{
    own = base;
    own_at = at;
    memset(base, 0, places_at(HEARTHI_SYNCS));
    memset(base + places_at(hearthi_syncs), 0,
           HEARTH_RWLOCKS * sizeof(struct places));
    used = hearthi_sparse((size_t)hearthi_turns() * sizeof *used);
    behind = hearthi_sparse((size_t)hearthi_turns() * sizeof *behind);
}

void
hearthi_chain_close(void)
{
    hearthi_sparse_free(used, (size_t)hearthi_turns() * sizeof *used);
    hearthi_sparse_free(behind, (size_t)hearthi_turns() * sizeof *behind);
}

/* ---- words ---- */

static uint64_t
make(enum item item, uint64_t value)
{
    return (uint64_t)item << ITEM_AT | value;
}

static enum item
item_of(uint64_t word)
{
    enum item item = (enum item)(word >> ITEM_AT);

    return item > TAKEN ? NAME : item;
}

/* `word` is its offset in the places. */
static uint64_t
word_op(int lock, int rank, size_t word, MPI_Op op, uint64_t value)
{
    size_t at = own_at + places_at(lock) + word;

    return hearthi_fetch_op(hearthi_mpi.sync, rank, at, op, value);
}

static uint64_t
place_op(int lock, int place, MPI_Op op, uint64_t value)
{
    return word_op(lock, hearthi_place_rank(place),
                   offsetof(struct places, word) +
                       (size_t)(place % 2) * sizeof value,
                   op, value);
}

static uint64_t
tail_op(int lock, MPI_Op op, uint64_t value)
{
    return word_op(lock, hearthi_manager(lock, hearthi_world.size),
                   offsetof(struct places, tail), op, value);
}

static uint64_t
swap(int lock, int place, uint64_t in)
{
    return place_op(lock, place, MPI_REPLACE, in);
}

static struct places *
own_places(int lock)
{
    return (struct places *)(void *)(own + places_at(lock));
}

/* The last one, as its manager's word names it. */
static int
place_named(int lock, uint64_t word)
{
    return word == 0 ? 2 * hearthi_manager(lock, hearthi_world.size)
                     : (int)(word - 1);
}

static uint64_t
my_name(void)
{
    return make(TAKEN, (uint64_t)hearthi_world.rank << NAME_AT);
}

/* A name as it is to be added, out of a word. */
static uint64_t
name_in(uint64_t word)
{
    return make(TAKEN, word & VALUE & ~KEEPER);
}

static uint64_t
name_add(int lock, int place, uint64_t name)
{
    return place_op(lock, place, MPI_SUM, name);
}

static void
grant(int lock, uint64_t name, uint64_t token)
{
    word_op(lock, (int)((name & VALUE) >> NAME_AT),
            offsetof(struct places, grant), MPI_REPLACE, token | GRANTED);
}

/* The callers of this node take turns, so no rank of it keeps the lock now;
 * and writers keep nothing. */
static void
ring(struct hearthi_want *want, int lock, int place)
{
    int rank = hearthi_place_rank(place);

    if (hearthi_help.listens && lock < hearthi_syncs &&
        hearthi_world.node_of[rank] != hearthi_world.node)
        hearthi_want_from(want, rank, lock);
}

static void
ring_once(int lock, int place)
{
    ring(&(struct hearthi_want){ 0 }, lock, place);
}

/* ---- what is in a hand ---- */

/* Put back a name.  If the token rests there by now, it is for the name. */
static void
name_back(int lock, int place, uint64_t word)
{
    uint64_t name = name_in(word), out = name_add(lock, place, name);

    if (item_of(out) == REST)
        grant(lock, name, out & VALUE);
    else if (item_of(out) == KEPT)
        ring_once(lock, place);
}

/* Put back that the lock is kept.  True if the token came out. */
static bool
kept_back(int lock, int place, uint64_t first, uint64_t *token)
{
    uint64_t in = first, out;

    while (out = swap(lock, place, in),
           item_of(out) == KEPT && out != first && out != in)
        in = out; /* another keeps it since */
    if (item_of(out) == NAME)
        name_back(lock, place, out);
    *token = out & VALUE;
    return item_of(out) == REST;
}

/* A hint, without a message: a place of another rank may be anything. */
static bool
may_be(int lock, int place, enum item item)
{
    return hearthi_place_rank(place) != hearthi_world.rank ||
           item_of(__atomic_load_n(&own_places(lock)->word[place % 2],
                                   __ATOMIC_ACQUIRE)) == item;
}

bool
hearthi_chain_take(int lock, int place, uint64_t *token)
{
    uint64_t out;

    if (!may_be(lock, place, REST))
        return false;
    out = swap(lock, place, make(EMPTY, 0));
    *token = out & VALUE;
    switch (item_of(out)) {
    case REST: return true;
    case KEPT: return kept_back(lock, place, out, token);
    case NAME: name_back(lock, place, out); return false;
    default: return false;
    }
}

void
hearthi_chain_begin(int lock)
{
    tail_op(lock, MPI_REPLACE, 0);
    swap(lock, 2 * hearthi_manager(lock, hearthi_world.size), make(REST, 0));
}

/* ---- waiting ---- */

static uint64_t
grant_wait(int lock, int before, bool kept)
{
    struct hearthi_want want = { 0 };
    unsigned            turn = 0;
    uint64_t            got;

    if (!kept)
        want.at = hearthi_now() + WANT_LATE;
    while (got = __atomic_load_n(&own_places(lock)->grant, __ATOMIC_ACQUIRE),
           got == 0) {
        ring(&want, lock, before);
        hearthi_relax(&turn);
    }
    return got & ~GRANTED;
}

static void
behind_set(int lock, int name)
{
    atomic_store_explicit(&behind[lock], name, memory_order_relaxed);
}

static int
place_clear(int lock)
{
    int which = used[lock] ^ 1;

    used[lock] = (uint8_t)which;
    __atomic_store_n(&own_places(lock)->word[which], make(EMPTY, 0),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&own_places(lock)->grant, 0, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    return 2 * hearthi_world.rank + which;
}

int
hearthi_chain_wait(int lock, uint64_t *token)
{
    int      mine = place_clear(lock), before;
    uint64_t out;

    before = place_named(lock, tail_op(lock, MPI_REPLACE, (uint64_t)mine + 1));
    behind_set(lock, 1 + hearthi_place_rank(before));
    out = name_add(lock, before, my_name());
    if (item_of(out) == KEPT)
        behind_set(lock, 1 + (int)(out & VALUE));
    if (item_of(out) == REST)
        *token = out & VALUE;
    else
        *token = grant_wait(lock, before, item_of(out) == KEPT);
    behind_set(lock, 0);
    return mine;
}

void
hearthi_chain_lost(int rank, struct hearthi_lost *lost)
{
    for (int i = 0; i < hearthi_syncs_top; i++)
        if (atomic_load_explicit(&behind[i], memory_order_relaxed) == rank + 1)
            hearthi_lost_add(lost, hearthi_name_of(i));
}

/* ---- tries ---- */

int
hearthi_chain_try(int lock, uint64_t *token)
{
    int      place = place_named(lock, tail_op(lock, MPI_NO_OP, 0));
    uint64_t word = place_op(lock, place, MPI_NO_OP, 0);

    if (item_of(word) == KEPT) {
        if (!hearthi_want_idle((int)(word & VALUE), lock))
            return -1;
        ring_once(lock, place);
        word = place_op(lock, place, MPI_NO_OP, 0);
    }
    if (item_of(word) != REST || !hearthi_chain_take(lock, place, token))
        return -1;
    return place;
}

/* ---- passing on ---- */

bool
hearthi_chain_is_wanted(int lock, int place)
{
    return hearthi_place_rank(place) == hearthi_world.rank &&
           may_be(lock, place, NAME);
}

bool
hearthi_chain_keep(int lock, int place)
{
    uint64_t out;

    if (hearthi_chain_is_wanted(lock, place))
        return false;
    out = swap(lock, place, make(KEPT, (uint64_t)hearthi_world.rank));
    if (item_of(out) != NAME)
        return true;
    name_add(lock, place, name_in(out));
    return false;
}

bool
hearthi_chain_leave(int lock, int place, uint64_t token)
{
    uint64_t out;

    if (hearthi_chain_is_wanted(lock, place)) {
        out = swap(lock, place, make(EMPTY, 0));
        if (item_of(out) == NAME) { /* no try has it */
            grant(lock, name_in(out), token);
            return false;
        }
    }
    out = swap(lock, place, make(REST, token));
    if (item_of(out) != NAME)
        return true;
    name_back(lock, place, out);
    return false;
}
