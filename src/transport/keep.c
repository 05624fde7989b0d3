/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "keep.h"

#include <string.h>

#include "transport.h"
#include "world.h"

enum { WORD = 64 };

struct hearthi_keep *hearthi_keep;
uint32_t             hearthi_keep_uses[HEARTH_LOCKS];
static atomic_bool   stop;

static struct hearthi_keep *
keep_of(int node_rank)
{
    return (struct hearthi_keep *)(void *)(hearthi_segments.base[node_rank] +
                                           hearthi_segments.keep_at);
}

void
hearthi_keep_open(void)
{
    hearthi_keep = keep_of(hearthi_world.node_rank);
    memset((void *)hearthi_keep, 0, sizeof *hearthi_keep);
    stop = false;
}

void
hearthi_keep_stop(void)
{
    stop = true;
    hearthi_event_raise(&hearthi_keep->any);
}

void
hearthi_keep_close(void)
{
    hearthi_keep = NULL;
}

void
hearthi_keep_ask(int lock)
{
    uint8_t old = HEARTHI_AWAY | HEARTHI_WANTED;

    if (hearthi_keep != NULL)
        atomic_compare_exchange_strong(&hearthi_keep->lock[lock], &old,
                                       HEARTHI_AWAY);
}

bool
hearthi_keep_begin(int lock)
{
    uint8_t away = HEARTHI_AWAY;

    hearthi_keep_uses[lock] = 0;
    return atomic_compare_exchange_strong(&hearthi_keep->lock[lock], &away,
                                          HEARTHI_IDLE);
}

bool
hearthi_keep_out(int lock)
{
    uint8_t used = HEARTHI_USED | HEARTHI_WANTED;

    return hearthi_keep != NULL &&
           atomic_compare_exchange_strong(&hearthi_keep->lock[lock], &used,
                                          HEARTHI_IDLE | HEARTHI_WANTED);
}

bool
hearthi_keep_claim(int lock)
{
    return atomic_fetch_or(&hearthi_keep->lock[lock], HEARTHI_WANTED) ==
           HEARTHI_IDLE;
}

void
hearthi_keep_end(int lock)
{
    atomic_store(&hearthi_keep->lock[lock], HEARTHI_AWAY);
}

unsigned
hearthi_keep_want_of(int node_rank, int lock)
{
    struct hearthi_keep *k = keep_of(node_rank);
    unsigned             byte = atomic_load(&k->lock[lock]);

    if (byte & HEARTHI_WANTED)
        return byte;
    byte = atomic_fetch_or(&k->lock[lock], HEARTHI_WANTED);
    if (byte != HEARTHI_IDLE)
        return byte;
    atomic_fetch_or(&k->wanted[lock / WORD], UINT64_C(1) << lock % WORD);
    hearthi_event_raise(&k->any);
    return byte;
}

unsigned
hearthi_keep_want(int lock)
{
    return hearthi_keep_want_of(hearthi_world.node_rank, lock);
}

void
hearthi_keep_wait(void)
{
    unsigned turn = 0;

    for (int lock = 0; lock < HEARTH_LOCKS; lock++)
        while (atomic_load(&hearthi_keep->lock[lock]) ==
               (HEARTHI_IDLE | HEARTHI_WANTED))
            hearthi_relax(&turn);
}

static int
wanted_take(void)
{
    for (int i = 0; i < HEARTHI_KEEP_WORDS; i++) {
        uint64_t set = atomic_load(&hearthi_keep->wanted[i]);

        if (set == 0)
            continue;
        atomic_fetch_and(&hearthi_keep->wanted[i], ~(set & -set));
        return i * WORD + __builtin_ctzll(set);
    }
    return -1;
}

int
hearthi_keep_wanted(void)
{
    for (;;) {
        uint32_t seen = hearthi_event_value(&hearthi_keep->any);
        int      lock = wanted_take();

        if (lock >= 0 || stop)
            return lock;
        hearthi_event_wait(&hearthi_keep->any, seen, false);
    }
}
