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
 * who was given that was given all parts, and who was not is given more than
 * he needs.  It is remembered as seen where all parts were.  But it is *made*
 * here: nobody has told this rank that the pages between its parts were
 * written, and copies of them are still there.  So when a notice of just this
 * run comes from a lock it is news, however old, and then the run is as if it
 * had been learnt: its writer's intervals up to that of its latest part had
 * ended before (merge.c), so that copies which are dropped now, after that,
 * are dropped for all of them.
 */
#include "config.h"

#include "notice.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"

enum { SEEN = 4, ROOM_MIN = 64 };

struct hearthi_known_entry {
    struct hearthi_notice notice;
    uint64_t              sequence;
    uint32_t              at;         /* its slot; DEAD if it is superseded */
    uint16_t              seen[SEEN]; /* 1 + lock, the latest first */
    bool                  made;       /* by merging */
};

static const uint32_t DEAD = UINT32_MAX;

void
hearthi_known_init(struct hearthi_known *k, size_t cap, uint32_t origin)
{
    memset(k, 0, sizeof *k);
    k->cap = cap > 0 ? cap : 1;
    k->origin = origin;
}

void
hearthi_known_free(struct hearthi_known *k)
{
    free(k->entry);
    free(k->slot);
    hearthi_known_init(k, k->cap, k->origin);
}

uint64_t
hearthi_known_next(const struct hearthi_known *k)
{
    return k->next;
}

static bool
is_everything(const struct hearthi_notice *n)
{
    return n->count == HEARTHI_EVERYTHING;
}

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

/* The slot of a key, or the empty one where it belongs. */
static size_t
slot_find(const struct hearthi_known *k, const struct hearthi_notice *n)
{
    size_t i = (size_t)key_hash(n) & (k->slots - 1);

    while (k->slot[i] != 0 && !key_equal(&k->entry[k->slot[i] - 1].notice, n))
        i = (i + 1) & (k->slots - 1);
    return i;
}

static void
slot_set(struct hearthi_known *k, size_t slot, size_t entry)
{
    k->slot[slot] = (uint32_t)entry + 1;
    k->entry[entry].at = (uint32_t)slot;
}

/* Costs what is in it, not its size: barriers that wrote little are cheap. */
static void
slots_empty(struct hearthi_known *k)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->entry[i].at != DEAD)
            k->slot[k->entry[i].at] = 0;
}

static void
slots_fill(struct hearthi_known *k)
{
    for (size_t i = 0; i < k->n; i++)
        slot_set(k, slot_find(k, &k->entry[i].notice), i);
}

/* ---- room ---- */

/* Drop dead entries and those that `keep` does not want. */
static void
entries_sweep(struct hearthi_known *k,
              bool (*keep)(const struct hearthi_known_entry *e, uint64_t arg),
              uint64_t arg)
{
    size_t out = 0;

    slots_empty(k);
    k->runs = 0;
    for (size_t i = 0; i < k->n; i++) {
        if (k->entry[i].at == DEAD || !keep(&k->entry[i], arg))
            continue;
        k->entry[out] = k->entry[i];
        k->runs += !is_everything(&k->entry[out++].notice);
    }
    k->n = k->live = out;
    slots_fill(k);
}

static bool
keep_all(const struct hearthi_known_entry *e, uint64_t arg)
{
    (void)e;
    (void)arg;
    return true;
}

/* Twice the entries, and two slots for each, so that chains stay short. */
static void
entries_grow(struct hearthi_known *k)
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
    slots_fill(k);
}

/* Room for one entry more.  Only an array that is mostly alive grows. */
static void
entries_reserve(struct hearthi_known *k)
{
    if (k->n < k->room)
        return;
    if (k->room > 0)
        entries_sweep(k, keep_all, 0);
    if (k->room == 0 || k->n > k->room / 2)
        entries_grow(k);
}

/* ---- adding ---- */

static void
seen_note(struct hearthi_known_entry *e, int lock)
{
    uint16_t name = (uint16_t)(lock + 1);

    if (lock < 0)
        return;
    for (int i = 0; i < SEEN; i++)
        if (e->seen[i] == name)
            return;
    memmove(e->seen + 1, e->seen, (SEEN - 1) * sizeof *e->seen);
    e->seen[0] = name;
}

static bool
is_seen(const struct hearthi_known_entry *e, int lock)
{
    for (int i = 0; lock >= 0 && i < SEEN; i++)
        if (e->seen[i] == (uint16_t)(lock + 1))
            return true;
    return false;
}

/* Append, in place of the living entry with the same key if there is one. */
static void
entry_append(struct hearthi_known *k, const struct hearthi_notice *n,
             int from_lock)
{
    struct hearthi_known_entry *e;
    size_t                      slot;

    entries_reserve(k);
    slot = slot_find(k, n);
    if (k->slot[slot] != 0) {
        k->entry[k->slot[slot] - 1].at = DEAD;
        k->live--;
        k->runs -= !is_everything(n);
    }
    e = &k->entry[k->n];
    *e = (struct hearthi_known_entry){ .notice = *n, .sequence = k->next++ };
    seen_note(e, from_lock);
    slot_set(k, slot, k->n++);
    k->live++;
    k->runs += !is_everything(n);
}

/* ---- too many ---- */

static uint64_t
entry_gap(const void *entries, size_t i)
{
    const struct hearthi_known_entry *e = entries;

    return hearthi_notice_gap(&e[i].notice, &e[i + 1].notice);
}

/* Also where a said it all: it may have been made of parts, and those who were
 * given these were not given that; or it is to be forgotten sooner. */
static void
entry_join(void *into, const void *from)
{
    struct hearthi_known_entry       *a = into;
    const struct hearthi_known_entry *b = from;
    int                               n = 0;

    hearthi_notice_join(&a->notice, &b->notice);
    if (b->sequence > a->sequence)
        a->sequence = b->sequence;
    for (int i = 0; i < SEEN; i++)
        if (a->seen[i] != 0 && is_seen(b, a->seen[i] - 1))
            a->seen[n++] = a->seen[i];
    while (n < SEEN)
        a->seen[n++] = 0;
    a->made = true;
}

static int
sequence_order(const void *a, const void *b)
{
    const struct hearthi_known_entry *x = a, *y = b;

    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* Runs that were merged may have become the same, and others may stand between
 * them. */
static bool
entry_unite(struct hearthi_known *k, size_t i)
{
    size_t slot = slot_find(k, &k->entry[i].notice);

    if (k->slot[slot] == 0) {
        slot_set(k, slot, i);
        return false;
    }
    entry_join(&k->entry[k->slot[slot] - 1], &k->entry[i]);
    return true;
}

static void
known_merge(struct hearthi_known *k)
{
    static const struct hearthi_merging m = { sizeof *k->entry, entry_gap,
                                              entry_join };
    size_t                              others = k->live - k->runs, out = 0;

    entries_sweep(k, keep_all, 0);
    slots_empty(k);
    k->n = hearthi_merge(k->entry, k->n, k->cap / 2 + others, &m);
    for (size_t i = 0; i < k->n; i++) {
        k->entry[out] = k->entry[i];
        out += !entry_unite(k, out);
    }
    k->n = out;
    slots_empty(k);
    qsort(k->entry, k->n, sizeof *k->entry, sequence_order);
    k->live = k->n;
    k->runs = k->n - others;
    slots_fill(k);
}

static bool
keep_everything(const struct hearthi_known_entry *e, uint64_t arg)
{
    (void)arg;
    return is_everything(&e->notice);
}

/* "Everything" of others stays: it must be known, or it would be learnt
 * again, and passed on again, by ranks that all have too much to say. */
static void
known_collapse(struct hearthi_known *k)
{
    struct hearthi_notice all = { 0, HEARTHI_EVERYTHING, k->origin,
                                  ++k->everything };

    entries_sweep(k, keep_everything, 0);
    entry_append(k, &all, -1);
}

/* The living entry with the same key, or NULL. */
static struct hearthi_known_entry *
entry_find(const struct hearthi_known *k, const struct hearthi_notice *n)
{
    uint32_t i = k->slots > 0 ? k->slot[slot_find(k, n)] : 0;

    return i > 0 ? &k->entry[i - 1] : NULL;
}

/* A notice that does not say more than a living entry does. */
static bool
entry_confirm(struct hearthi_known *k, const struct hearthi_known_entry *e,
              const struct hearthi_notice *n, int from_lock)
{
    struct hearthi_notice all = e->notice;

    if (!e->made)
        return false;
    entry_append(k, &all, n->interval == all.interval ? from_lock : -1);
    return true;
}

bool
hearthi_known_add(struct hearthi_known *k, const struct hearthi_notice *n,
                  int from_lock)
{
    struct hearthi_known_entry *e = entry_find(k, n);
    bool                        own = n->writer == k->origin;

    if (own && from_lock < 0 && is_everything(n)) {
        known_collapse(k);
        return true;
    }
    if (e != NULL && e->notice.interval == n->interval)
        seen_note(e, from_lock);
    /* What this rank said itself it knows, if only as "everything". */
    if (own && from_lock >= 0)
        return false;
    if (e != NULL && e->notice.interval >= n->interval)
        return entry_confirm(k, e, n, from_lock);
    entry_append(k, n, from_lock);
    if (k->runs <= k->cap)
        return true;
    known_merge(k);
    if (k->runs > k->cap - k->cap / 4)
        known_collapse(k); /* it would be too many again soon */
    return true;
}

/* An older "everything" of this rank that the lock has not got yet is
 * superseded by the new one, which the lock then needs after all. */
void
hearthi_known_lost(struct hearthi_known *k, int lock, uint64_t given)
{
    struct hearthi_notice       all = { 0, HEARTHI_EVERYTHING, k->origin,
                                        ++k->everything };
    struct hearthi_known_entry *old = entry_find(k, &all);
    bool has = old == NULL || old->sequence < given || is_seen(old, lock);

    entry_append(k, &all, has ? lock : -1);
}

/* ---- forgetting, and what a lock is to be given ---- */

void
hearthi_known_clear(struct hearthi_known *k)
{
    slots_empty(k);
    k->n = k->live = k->runs = 0;
}

static bool
keep_from(const struct hearthi_known_entry *e, uint64_t mark)
{
    return e->sequence >= mark;
}

void
hearthi_known_forget(struct hearthi_known *k, uint64_t mark)
{
    if (k->n == 0 || k->entry[0].sequence >= mark)
        return;
    if (k->entry[k->n - 1].sequence < mark)
        hearthi_known_clear(k);
    else
        entries_sweep(k, keep_from, mark);
}

/* The first entry with a sequence number of at least `from`. */
static size_t
entry_from(const struct hearthi_known *k, uint64_t from)
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
hearthi_known_since(const struct hearthi_known *k, int lock, uint64_t *given,
                    struct hearthi_notice *out, size_t max)
{
    size_t n = 0;

    for (size_t i = entry_from(k, *given); i < k->n; i++) {
        const struct hearthi_known_entry *e = &k->entry[i];

        if (e->at == DEAD || is_seen(e, lock))
            continue;
        if (n == max)
            return n; /* *given is just past out[n - 1] */
        out[n++] = e->notice;
        *given = e->sequence + 1;
    }
    *given = k->next;
    return n;
}

size_t
hearthi_known_merged(struct hearthi_known *k, int lock, uint64_t *given,
                     struct hearthi_notice *out, size_t most)
{
    size_t n = 0;

    while (n <= most) {
        n += hearthi_known_since(k, lock, given, out + n, most + 1 - n);
        if (n <= most)
            return n;
        n = hearthi_notices_merge(out, n, most / 2);
    }
    *given = k->next;
    return n;
}
