/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lock_delegation.h"

#include "base/mutex.h"
#include "cluster.h"
#include "lock_names.h"
#include "relax.h"
#include "space/heap.h"

enum { WORD = 64 };

_Atomic uint8_t   *hearthi_delegation;
uint64_t          *hearthi_delegation_uses;
static atomic_bool stop;

/* ---- where ---- */

static size_t
words(size_t bits)
{
    return (bits + WORD - 1) / WORD;
}

/* Of a rank's words: those with a bit for each lock, then those with a bit for
 * each of these. */
static size_t
groups_at(void)
{
    return words((size_t)hearthi_syncs);
}

size_t
hearthi_delegation_byte_at(int lock)
{
    return sizeof(struct hearthi_delegation) +
           (groups_at() + words(groups_at())) * sizeof(uint64_t) +
           (size_t)lock;
}

size_t
hearthi_delegation_bytes(void)
{
    return hearthi_delegation_byte_at(hearthi_syncs);
}

static struct hearthi_delegation *
keep_of(int node_rank)
{
    return (
        struct hearthi_delegation *)(void *)(hearthi_segments.base[node_rank] +
                                             hearthi_segments.keep_at);
}

static struct hearthi_delegation *
keep_own(void)
{
    return keep_of(hearthi_cluster.node_rank);
}

static _Atomic uint8_t *
byte_of(int node_rank, int lock)
{
    return (_Atomic uint8_t *)keep_of(node_rank) +
           hearthi_delegation_byte_at(lock);
}

/* ---- start and stop ---- */

static size_t
uses_bytes(void)
{
    return (size_t)hearthi_syncs * sizeof *hearthi_delegation_uses;
}

/* The segment is new, so all is 0. */
void
hearthi_delegation_open(void)
{
    hearthi_delegation_uses = hearthi_sparse(uses_bytes());
    hearthi_delegation = byte_of(hearthi_cluster.node_rank, 0);
    stop = false;
}

void
hearthi_delegation_stop(void)
{
    stop = true;
    hearthi_event_raise(&keep_own()->any);
}

void
hearthi_delegation_close(void)
{
    if (hearthi_delegation != NULL)
        hearthi_sparse_free(hearthi_delegation_uses, uses_bytes());
    hearthi_delegation = NULL;
    hearthi_delegation_uses = NULL;
}

/* ---- steps ---- */

bool
hearthi_delegation_begin(int lock)
{
    uint8_t away = HEARTHI_DELEGATION_AWAY;

    HEARTHI_ASSERT((hearthi_delegation[lock] & HEARTHI_DELEGATION_USED) == 0);
    return atomic_compare_exchange_strong(&hearthi_delegation[lock], &away,
                                          HEARTHI_DELEGATION_IDLE);
}

bool
hearthi_delegation_claim(int lock)
{
    return atomic_fetch_or(&hearthi_delegation[lock],
                           HEARTHI_DELEGATION_WANTED) ==
           HEARTHI_DELEGATION_IDLE;
}

void
hearthi_delegation_end(int lock)
{
    HEARTHI_ASSERT(hearthi_delegation[lock] ==
                   (HEARTHI_DELEGATION_IDLE | HEARTHI_DELEGATION_WANTED));
    atomic_store(&hearthi_delegation[lock], HEARTHI_DELEGATION_AWAY);
}

static void
bit_set(_Atomic uint64_t *bits, size_t i)
{
    atomic_fetch_or(&bits[i / WORD], UINT64_C(1) << i % WORD);
}

unsigned
hearthi_delegation_want_of(int node_rank, int lock)
{
    struct hearthi_delegation *k = keep_of(node_rank);
    _Atomic uint8_t           *at = byte_of(node_rank, lock);
    unsigned                   byte = atomic_load(at);

    HEARTHI_ASSERT(lock >= 0 && lock < hearthi_syncs);
    HEARTHI_ASSERT(
        (byte & (HEARTHI_DELEGATION_IDLE | HEARTHI_DELEGATION_USED)) !=
        (HEARTHI_DELEGATION_IDLE | HEARTHI_DELEGATION_USED));
    if (byte & HEARTHI_DELEGATION_WANTED)
        return byte;
    byte = atomic_fetch_or(at, HEARTHI_DELEGATION_WANTED);
    if (byte != HEARTHI_DELEGATION_IDLE)
        return byte;
    bit_set(k->wanted, (size_t)lock);
    bit_set(k->wanted + groups_at(), (size_t)lock / WORD);
    hearthi_event_raise(&k->any);
    return byte;
}

bool
hearthi_delegation_want_idle(int node_rank, int lock)
{
    unsigned turn = 0, byte;

    while (byte = atomic_load(byte_of(node_rank, lock)),
           hearthi_delegation_is_idle(byte)) {
        hearthi_delegation_want_of(node_rank, lock);
        hearthi_relax(&turn);
    }
    return !(byte & HEARTHI_DELEGATION_USED);
}

unsigned
hearthi_delegation_want(int lock)
{
    return hearthi_delegation_want_of(hearthi_cluster.node_rank, lock);
}

void
hearthi_delegation_wait(void)
{
    unsigned turn = 0;

    HEARTHI_ASSERT_HAS_NOT(TABLE);
    for (int lock = 0; lock < hearthi_syncs_top; lock++)
        while (atomic_load(&hearthi_delegation[lock]) ==
               (HEARTHI_DELEGATION_IDLE | HEARTHI_DELEGATION_WANTED))
            hearthi_relax(&turn);
}

/* The lowest bit of a word that is not 0, which it loses, or -1. */
static int
bit_take(_Atomic uint64_t *word)
{
    uint64_t set = atomic_load(word);

    if (set == 0)
        return -1;
    atomic_fetch_and(word, ~(set & -set));
    return __builtin_ctzll(set);
}

/* A rank that wants one sets its bit before that of its word; so the word is
 * looked at after its bit was taken, and has it back if another is left. */
static int
wanted_take(void)
{
    _Atomic uint64_t *wanted = keep_own()->wanted;
    size_t            groups = groups_at();

    for (size_t i = 0; i < words(groups); i++) {
        int    word, bit;
        size_t at;

        while ((word = bit_take(&wanted[groups + i])) >= 0) {
            at = i * WORD + (size_t)word;
            bit = bit_take(&wanted[at]);
            if (bit < 0)
                continue;
            HEARTHI_ASSERT(at * WORD + (size_t)bit < (size_t)hearthi_syncs);
            if (atomic_load(&wanted[at]) != 0)
                bit_set(wanted + groups, at);
            return (int)at * WORD + bit;
        }
    }
    return -1;
}

int
hearthi_delegation_wanted(void)
{
    for (;;) {
        uint32_t seen = hearthi_event_value(&keep_own()->any);
        int      lock = wanted_take();

        if (lock >= 0 || stop)
            return lock;
        hearthi_event_wait(&keep_own()->any, seen, false);
    }
}
