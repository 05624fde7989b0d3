/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The entries of what a rank knows (notice_store.c): the array and its hash
 * table.
 */
#ifndef HEARTHI_NOTICE_TABLE_H
#define HEARTHI_NOTICE_TABLE_H

#include "notice.h"

enum { HEARTHI_NOTICE_SEEN = 4 };

/* An entry that is superseded. */
static const uint32_t HEARTHI_DEAD = UINT32_MAX;

struct hearthi_notice_entry {
    struct hearthi_notice notice;
    uint64_t              sequence;
    uint32_t              at;           /* its slot, or HEARTHI_DEAD */
    uint32_t seen[HEARTHI_NOTICE_SEEN]; /* 1 + lock, the latest first */
    bool     made;                      /* by merging */
};

static inline bool
hearthi_is_invalidate_all(const struct hearthi_notice *n)
{
    return n->count == HEARTHI_INVALIDATE_ALL;
}

static inline bool
hearthi_notice_entry_is_dead(const struct hearthi_notice_entry *e)
{
    return e->at == HEARTHI_DEAD;
}

/* The slot of a key, or the empty one where it belongs. */
size_t hearthi_notice_slot_find(const struct hearthi_notice_store *k,
                                const struct hearthi_notice       *n);
void   hearthi_notice_slot_set(struct hearthi_notice_store *k, size_t slot,
                               size_t entry);

/* Slots forget all living entries, and learn all. */
void hearthi_notice_slots_empty(struct hearthi_notice_store *k);
void hearthi_notice_slots_fill(struct hearthi_notice_store *k);

/* Drop dead entries and those that `keep` does not want. */
void hearthi_notice_entries_sweep(
    struct hearthi_notice_store *k,
    bool (*keep)(const struct hearthi_notice_entry *e, uint64_t arg),
    uint64_t arg);
bool hearthi_notice_keep_all(const struct hearthi_notice_entry *e,
                             uint64_t                           arg);

/* In whose logs it has been seen; lock < 0 stands for none. */
void hearthi_notice_entry_saw(struct hearthi_notice_entry *e, int lock);
bool hearthi_notice_entry_is_seen(const struct hearthi_notice_entry *e,
                                  int                                lock);

/* Append, in place of the living entry with the same key if there is one. */
void hearthi_notice_entry_append(struct hearthi_notice_store *k,
                                 const struct hearthi_notice *n,
                                 int                          from_lock);

#endif
