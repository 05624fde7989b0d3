/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank knows: an array in the order of learning, and a hash table over
 * (page, count, writer) that leads to the one living entry of that key.  An
 * entry that is superseded dies where it is; the dead are swept out when the
 * array is full, which is then at least half of it.
 *
 * Each entry remembers a few locks in whose logs it has been seen.  One that
 * is not remembered is given the notice once more than needed, which costs
 * room in its log and nothing else.
 *
 * Too many runs are merged.  A merged one takes the place of its latest part:
 * a lock that was given that part was given all parts, and one that was not is
 * given more than it needs.  It is remembered as seen where all parts were.
 * But it is *made* here: no rank has told this one that the pages between its
 * parts were written, and copies of them are still there.  So when a notice of
 * just this run comes from a lock it is news, however old, and then the run is
 * as if it had been learnt: its writer's intervals up to that of its latest
 * part had ended before (run_coarsen.c), so that copies which are dropped now,
 * after that, are dropped for all of them.
 */
#include "config.h"

#include "base/assert.h"
#include "notice_table.h"

#include <stdlib.h>
#include <string.h>

void
hearthi_notice_store_init(struct hearthi_notice_store *k, size_t cap,
                          uint32_t origin)
{
    memset(k, 0, sizeof *k);
    k->cap = cap > 0 ? cap : 1;
    k->origin = origin;
}

void
hearthi_notice_store_free(struct hearthi_notice_store *k)
{
    free(k->entry);
    free(k->slot);
    hearthi_notice_store_init(k, k->cap, k->origin);
}

uint64_t
hearthi_notice_store_next(const struct hearthi_notice_store *k)
{
    return k->next;
}

/* ---- too many ---- */

static uint64_t
entry_gap(const void *entries, size_t i)
{
    const struct hearthi_notice_entry *e = entries;

    return hearthi_notice_gap(&e[i].notice, &e[i + 1].notice);
}

/* Also where a said it all: it may have been made of parts, and locks that
 * were given these were not given that; or it is to be forgotten sooner. */
static void
entry_join(void *into, const void *from)
{
    struct hearthi_notice_entry       *a = into;
    const struct hearthi_notice_entry *b = from;
    int                                n = 0;

    hearthi_notice_coalesce(&a->notice, &b->notice);
    if (b->sequence > a->sequence)
        a->sequence = b->sequence;
    for (int i = 0; i < HEARTHI_NOTICE_SEEN; i++)
        if (a->seen[i] != 0 &&
            hearthi_notice_entry_is_seen(b, (int)(a->seen[i] - 1)))
            a->seen[n++] = a->seen[i];
    while (n < HEARTHI_NOTICE_SEEN)
        a->seen[n++] = 0;
    a->made = true;
}

static int
sequence_order(const void *a, const void *b)
{
    const struct hearthi_notice_entry *x = a, *y = b;

    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* Runs that were merged may have become the same, and others may stand between
 * them. */
static bool
entry_unite(struct hearthi_notice_store *k, size_t i)
{
    size_t slot = hearthi_notice_slot_find(k, &k->entry[i].notice);

    if (k->slot[slot] == 0) {
        hearthi_notice_slot_set(k, slot, i);
        return false;
    }
    entry_join(&k->entry[k->slot[slot] - 1], &k->entry[i]);
    return true;
}

static void
known_merge(struct hearthi_notice_store *k)
{
    static const struct hearthi_merging m = { sizeof *k->entry, entry_gap,
                                              entry_join };
    size_t                              others = k->live - k->runs, out = 0;

    hearthi_notice_entries_sweep(k, hearthi_notice_keep_all, 0);
    hearthi_notice_slots_empty(k);
    k->n = hearthi_merge(k->entry, k->n, k->cap / 2 + others, &m);
    for (size_t i = 0; i < k->n; i++) {
        k->entry[out] = k->entry[i];
        out += !entry_unite(k, out);
    }
    k->n = out;
    HEARTHI_ASSERT(out >= others && out <= k->room);
    hearthi_notice_slots_empty(k);
    qsort(k->entry, k->n, sizeof *k->entry, sequence_order);
    k->live = k->n;
    k->runs = k->n - others;
    hearthi_notice_slots_fill(k);
}

static bool
keep_invalidate_all(const struct hearthi_notice_entry *e, uint64_t arg)
{
    (void)arg;
    return hearthi_is_invalidate_all(&e->notice);
}

/* "Everything" of others stays: it must be known, or it would be learnt
 * again, and passed on again, by ranks that all have too much to say. */
static void
known_collapse(struct hearthi_notice_store *k)
{
    struct hearthi_notice all = { 0, HEARTHI_INVALIDATE_ALL, k->origin,
                                  ++k->invalidate_all };

    hearthi_notice_entries_sweep(k, keep_invalidate_all, 0);
    hearthi_notice_entry_append(k, &all, -1);
}

/* The living entry with the same key, or NULL. */
static struct hearthi_notice_entry *
entry_find(const struct hearthi_notice_store *k,
           const struct hearthi_notice       *n)
{
    uint32_t i = k->slots > 0 ? k->slot[hearthi_notice_slot_find(k, n)] : 0;

    return i > 0 ? &k->entry[i - 1] : NULL;
}

/* A notice that does not say more than a living entry does. */
static bool
entry_confirm(struct hearthi_notice_store       *k,
              const struct hearthi_notice_entry *e,
              const struct hearthi_notice *n, int from_lock)
{
    struct hearthi_notice all = e->notice;

    if (!e->made)
        return false;
    hearthi_notice_entry_append(k, &all,
                                n->interval == all.interval ? from_lock : -1);
    return true;
}

/* No more runs than there is room for. */
static void
known_bound(struct hearthi_notice_store *k)
{
    if (k->runs <= k->cap)
        return;
    known_merge(k);
    if (k->runs > k->cap - k->cap / 4)
        known_collapse(k); /* it would be too many again soon */
}

bool
hearthi_notice_store_add(struct hearthi_notice_store *k,
                         const struct hearthi_notice *n, int from_lock)
{
    struct hearthi_notice_entry *e = entry_find(k, n);
    bool                         own = n->writer == k->origin;

    if (own && from_lock < 0 && hearthi_is_invalidate_all(n)) {
        known_collapse(k);
        return true;
    }
    if (e != NULL && e->notice.interval == n->interval)
        hearthi_notice_entry_saw(e, from_lock);
    /* What this rank said itself it knows, if only as "invalidate_all". */
    if (own && from_lock >= 0)
        return false;
    if (e != NULL && e->notice.interval >= n->interval)
        return entry_confirm(k, e, n, from_lock);
    hearthi_notice_entry_append(k, n, from_lock);
    known_bound(k);
    return true;
}

/* An older "invalidate_all" of this rank that the lock has not got yet is
 * superseded by the new one, which the lock then needs after all. */
void
hearthi_notice_store_lost(struct hearthi_notice_store *k, int lock,
                          uint64_t given)
{
    struct hearthi_notice        all = { 0, HEARTHI_INVALIDATE_ALL, k->origin,
                                         ++k->invalidate_all };
    struct hearthi_notice_entry *old = entry_find(k, &all);
    bool                         has = old == NULL || old->sequence < given ||
               hearthi_notice_entry_is_seen(old, lock);

    hearthi_notice_entry_append(k, &all, has ? lock : -1);
}

/* ---- forgetting, and what a lock is to be given ---- */

void
hearthi_notice_store_clear(struct hearthi_notice_store *k)
{
    hearthi_notice_slots_empty(k);
    k->n = k->live = k->runs = 0;
}

static bool
keep_from(const struct hearthi_notice_entry *e, uint64_t mark)
{
    return e->sequence >= mark;
}

void
hearthi_notice_store_forget(struct hearthi_notice_store *k, uint64_t mark)
{
    HEARTHI_ASSERT(mark <= k->next);
    if (k->n == 0 || k->entry[0].sequence >= mark)
        return;
    if (k->entry[k->n - 1].sequence < mark)
        hearthi_notice_store_clear(k);
    else
        hearthi_notice_entries_sweep(k, keep_from, mark);
}

/* The first entry with a sequence number of at least `from`. */
static size_t
entry_from(const struct hearthi_notice_store *k, uint64_t from)
{
    size_t low = 0, high = k->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (k->entry[mid].sequence < from)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

size_t
hearthi_notice_store_since(const struct hearthi_notice_store *k, int lock,
                           uint64_t *given, struct hearthi_notice *out,
                           size_t max)
{
    size_t n = 0;

    for (size_t i = entry_from(k, *given); i < k->n; i++) {
        const struct hearthi_notice_entry *e = &k->entry[i];

        if (hearthi_notice_entry_is_dead(e) ||
            hearthi_notice_entry_is_seen(e, lock))
            continue;
        if (n == max)
            return n; /* *given is just past out[n - 1] */
        HEARTHI_ASSERT(e->sequence >= *given && e->sequence < k->next);
        out[n++] = e->notice;
        *given = e->sequence + 1;
    }
    HEARTHI_ASSERT(*given <= k->next);
    *given = k->next;
    return n;
}

size_t
hearthi_notice_store_merged(struct hearthi_notice_store *k, int lock,
                            uint64_t *given, struct hearthi_notice *out,
                            size_t most)
{
    size_t n = 0;

    while (n <= most) {
        n += hearthi_notice_store_since(k, lock, given, out + n, most + 1 - n);
        if (n <= most)
            return n;
        n = hearthi_notices_merge(out, n, most / 2);
    }
    *given = k->next;
    return n;
}
