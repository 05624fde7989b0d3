/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank keeps for HEARTH_RACES: how it has synchronised, and which bytes
 * it has stored, interval by interval, since the last barrier.  NULL where
 * races are not looked for, and that is all that is looked at then.
 *
 * A synchronisation is an event, and ends an interval: interval i is what lies
 * between event i - 1 and event i.  An object (a lock, a flag, ...) counts its
 * releases, across all ranks; an event has that number (coherence/race_sync.h
 * has what it says).
 *
 * Stores are what diffs have: a record for each diff of a page, with a bit for
 * each byte that differs from the twin, and the words in which those are, as
 * they are then.  All of it is guarded by the lock of the page table.
 */
#ifndef HEARTHI_RACE_HISTORY_H
#define HEARTHI_RACE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hearthi_race_kind {
    HEARTHI_RACE_BARRIER_IN,
    HEARTHI_RACE_BARRIER_OUT,
    HEARTHI_RACE_LOCK,
    HEARTHI_RACE_UNLOCK,
    HEARTHI_RACE_FLAG_SET,
    HEARTHI_RACE_FLAG_WAIT,
    HEARTHI_RACE_RW_LOCK,
    HEARTHI_RACE_RW_UNLOCK,
    HEARTHI_RACE_RELEASE, /* hearth_release() */
    HEARTHI_RACE_ACQUIRE
};

/* An acquire comes after each release of the object that has its number or a
 * lower one; one that is not in any history was before the last barrier. */
struct hearthi_race_event {
    uint64_t number;
    uint32_t object;
    uint16_t kind, place; /* the index of a place of the program */
};

static inline bool
hearthi_race_acquires(const struct hearthi_race_event *e)
{
    return e->kind == HEARTHI_RACE_BARRIER_OUT ||
           e->kind == HEARTHI_RACE_LOCK || e->kind == HEARTHI_RACE_FLAG_WAIT ||
           e->kind == HEARTHI_RACE_RW_LOCK || e->kind == HEARTHI_RACE_ACQUIRE;
}

/* Behind it: a mask for each block of 64 bytes in which a byte was stored, the
 * numbers of these blocks, rounded up to a word, and the words of 8 bytes that
 * have such bytes, in order. */
struct hearthi_race_stores {
    uint32_t page, interval;
    uint32_t blocks, words;
    uint32_t atomic; /* by an atomic step: then there is no word */
    uint32_t unused;
};

/* Memory that hearth_malloc() gave out in an interval. */
struct hearthi_race_renewed {
    uint64_t from, bytes; /* in the heap */
    uint64_t interval;
};

struct hearthi_race_history {
    struct hearthi_race_event   *event;
    struct hearthi_race_renewed *renewed;
    char                        *stores;
    size_t                       events, renewals, bytes;
    size_t                       room; /* bytes of all three */
    uint64_t dropped;                  /* records of stores that found none */
    bool     lost;                     /* an event or a renewal found none */

    /* So much of each there was when this rank came to the last barrier. */
    size_t cut_events, cut_renewals, cut_bytes;
};

extern struct hearthi_race_history *hearthi_races;

void hearthi_races_open(size_t room);
void hearthi_races_close(void);

/* Bytes of a page were stored in this interval: a bit a byte, by blocks of 64;
 * and the page as it is now. */
void hearthi_races_stored(uint64_t page, const uint64_t *mask,
                          const char *bytes);

/* An atomic step changed so many bytes at an offset of the heap. */
void hearthi_races_stepped(uint64_t at, unsigned bytes);

/* The interval ends. */
void hearthi_races_event(enum hearthi_race_kind kind, uint32_t object,
                         uint64_t number, unsigned place);

/* hearth_malloc() gave this out. */
void hearthi_races_renew(const void *p, size_t bytes);

/* This rank has come to a barrier: its last event so far says so. */
void hearthi_races_cut(void);

/* What was before the cut has been looked at: forget it. */
void hearthi_races_forget(void);

/* ---- records ---- */

static inline size_t
hearthi_race_index_words(const struct hearthi_race_stores *s)
{
    return (s->blocks + 1) / 2;
}

static inline size_t
hearthi_race_stores_bytes(const struct hearthi_race_stores *s)
{
    return sizeof *s + sizeof(uint64_t) * (s->blocks + s->words +
                                           hearthi_race_index_words(s));
}

static inline const uint64_t *
hearthi_race_masks(const struct hearthi_race_stores *s)
{
    return (const uint64_t *)(const void *)(s + 1);
}

static inline const uint32_t *
hearthi_race_blocks(const struct hearthi_race_stores *s)
{
    return (const uint32_t *)(const void *)(hearthi_race_masks(s) + s->blocks);
}

static inline const uint64_t *
hearthi_race_words(const struct hearthi_race_stores *s)
{
    return hearthi_race_masks(s) + s->blocks + hearthi_race_index_words(s);
}

/* ---- places of the program (race_places.c) ---- */

enum { HEARTHI_RACE_PLACES = 4096, HEARTHI_RACE_PATH = 240 };

/* A file and where in it, since ranks may have loaded it elsewhere; of 0 in no
 * file it is not known.  Of a longer path the end is kept. */
struct hearthi_race_place {
    uint64_t offset;
    char     path[HEARTHI_RACE_PATH];
};

/* Its index: of the program's call that this thread is in, or 0. */
unsigned hearthi_race_place_here(void);

/* How many calls found the table full since this was asked last. */
uint64_t hearthi_race_places_lacked(void);

/* All that are known. */
size_t hearthi_race_places(const struct hearthi_race_place **place);

void hearthi_race_places_open(void);
void hearthi_race_places_close(void);

#endif
