/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "notice_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/report.h"

enum { ROOM_MIN = 64 };

/* ---- the hash table ---- */

static bool
key_equal(const struct hearthi_notice *a, const struct hearthi_notice *b)
{
    return a->page == b->page && a->count == b->count &&
           a->writer == b->writer;
}

/* Neighbouring pages must not become neighbouring slots: the finaliser of
 * MurmurHash3 (Appleby, public domain) mixes all bits into the low ones. */
static uint64_t
key_hash(const struct hearthi_notice *n)
{
    uint64_t h = n->page ^ (uint64_t)n->count << 40 ^
                 (uint64_t)n->writer * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

size_t
hearthi_notice_slot_find(const struct hearthi_notice_store *k,
                         const struct hearthi_notice       *n)
{
    size_t i = (size_t)key_hash(n) & (k->slots - 1);

    while (k->slot[i] != 0 && !key_equal(&k->entry[k->slot[i] - 1].notice, n))
        i = (i + 1) & (k->slots - 1);
    return i;
}

void
hearthi_notice_slot_set(struct hearthi_notice_store *k, size_t slot,
                        size_t entry)
{
    k->slot[slot] = (uint32_t)entry + 1;
    HEARTHI_ASSERT(slot < k->slots && entry <= k->n);
    k->entry[entry].at = (uint32_t)slot;
}

/* Costs what is in it, not its size: barriers that wrote little are cheap. */
void
hearthi_notice_slots_empty(struct hearthi_notice_store *k)
{
    for (size_t i = 0; i < k->n; i++)
        if (!hearthi_notice_entry_is_dead(&k->entry[i]))
            k->slot[k->entry[i].at] = 0;
}

void
hearthi_notice_slots_fill(struct hearthi_notice_store *k)
{
    for (size_t i = 0; i < k->n; i++)
        hearthi_notice_slot_set(
            k, hearthi_notice_slot_find(k, &k->entry[i].notice), i);
}

/* ---- room ---- */

void
hearthi_notice_entries_sweep(struct hearthi_notice_store *k,
                             bool (*keep)(const struct hearthi_notice_entry *e,
                                          uint64_t arg),
                             uint64_t arg)
{
    size_t out = 0;

    hearthi_notice_slots_empty(k);
    k->runs = 0;
    for (size_t i = 0; i < k->n; i++) {
        if (hearthi_notice_entry_is_dead(&k->entry[i]) ||
            !keep(&k->entry[i], arg))
            continue;
        k->entry[out] = k->entry[i];
        k->runs += !hearthi_is_invalidate_all(&k->entry[out++].notice);
    }
    HEARTHI_ASSERT(k->runs <= out && out <= k->n);
    k->n = k->live = out;
    hearthi_notice_slots_fill(k);
}

bool
hearthi_notice_keep_all(const struct hearthi_notice_entry *e, uint64_t arg)
{
    (void)e;
    (void)arg;
    return true;
}

/* Twice the entries, and two slots for each, so that chains stay short. */
static void
entries_grow(struct hearthi_notice_store *k)
{
    size_t    room = k->room > 0 ? 2 * k->room : ROOM_MIN;
    void     *entry = realloc(k->entry, room * sizeof *k->entry);
    uint32_t *slot = calloc(2 * room, sizeof *slot);

    if (entry == NULL || slot == NULL)
        hearthi_fatal("release", "no memory for %zu write notices", room);
    free(k->slot);
    k->entry = entry;
    k->slot = slot;
    k->room = room;
    k->slots = 2 * room;
    HEARTHI_ASSERT(k->n < room && (k->slots & (k->slots - 1)) == 0);
    hearthi_notice_slots_fill(k);
}

/* Room for one entry more.  Only an array that is mostly alive grows. */
static void
entries_reserve(struct hearthi_notice_store *k)
{
    if (k->n < k->room)
        return;
    if (k->room > 0)
        hearthi_notice_entries_sweep(k, hearthi_notice_keep_all, 0);
    if (k->room == 0 || k->n > k->room / 2)
        entries_grow(k);
}

/* ---- adding ---- */

/* As `seen` has it, where 0 is none: each lock that an int can number has one
 * of its own.  One that two locks shared would be taken for seen by both. */
static uint32_t
seen_name(int lock)
{
    return (uint32_t)lock + 1;
}

void
hearthi_notice_entry_saw(struct hearthi_notice_entry *e, int lock)
{
    uint32_t name = seen_name(lock);

    if (lock < 0)
        return;
    for (int i = 0; i < HEARTHI_NOTICE_SEEN; i++)
        if (e->seen[i] == name)
            return;
    memmove(e->seen + 1, e->seen, (HEARTHI_NOTICE_SEEN - 1) * sizeof *e->seen);
    e->seen[0] = name;
}

bool
hearthi_notice_entry_is_seen(const struct hearthi_notice_entry *e, int lock)
{
    for (int i = 0; lock >= 0 && i < HEARTHI_NOTICE_SEEN; i++)
        if (e->seen[i] == seen_name(lock))
            return true;
    return false;
}

void
hearthi_notice_entry_append(struct hearthi_notice_store *k,
                            const struct hearthi_notice *n, int from_lock)
{
    struct hearthi_notice_entry *e;
    size_t                       slot;

    entries_reserve(k);
    slot = hearthi_notice_slot_find(k, n);
    if (k->slot[slot] != 0) {
        k->entry[k->slot[slot] - 1].at = HEARTHI_DEAD;
        k->live--;
        k->runs -= !hearthi_is_invalidate_all(n);
    }
    HEARTHI_ASSERT(k->n < k->room && k->live <= k->n);
    HEARTHI_ASSERT(k->n == 0 || k->entry[k->n - 1].sequence < k->next);
    e = &k->entry[k->n];
    *e = (struct hearthi_notice_entry){ .notice = *n, .sequence = k->next++ };
    hearthi_notice_entry_saw(e, from_lock);
    hearthi_notice_slot_set(k, slot, k->n++);
    k->live++;
    k->runs += !hearthi_is_invalidate_all(n);
}
