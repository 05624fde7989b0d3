/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "race_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "notice/diff.h"
#include "space/heap.h"

enum { BLOCK = 64, WORD = 8, WORDS = BLOCK / WORD };

struct hearthi_race_history *hearthi_races;

void
hearthi_races_open(size_t room)
{
    struct hearthi_race_history *h = calloc(1, sizeof *h);

    if (h == NULL)
        hearthi_fatal("hearth_init", "no memory");
    h->room = room;
    h->event = hearthi_sparse(room);
    h->renewed = hearthi_sparse(room);
    h->stores = hearthi_sparse(room);
    hearthi_race_places_open();
    hearthi_races = h;
}

void
hearthi_races_close(void)
{
    struct hearthi_race_history *h = hearthi_races;

    if (h == NULL)
        return;
    hearthi_races = NULL;
    hearthi_sparse_free(h->event, h->room);
    hearthi_sparse_free(h->renewed, h->room);
    hearthi_sparse_free(h->stores, h->room);
    hearthi_race_places_close();
    free(h);
}

static bool
has_room(size_t more)
{
    const struct hearthi_race_history *h = hearthi_races;

    return h->events * sizeof *h->event + h->renewals * sizeof *h->renewed +
               h->bytes + more <=
           h->room;
}

/* Which words of a block have a byte that was stored: a bit each. */
static unsigned
words_of(uint64_t mask)
{
    unsigned words = 0;

    for (unsigned i = 0; i < WORDS; i++)
        words |= (unsigned)((mask >> i * WORD & 0xff) != 0) << i;
    return words;
}

static struct hearthi_race_stores
stores_count(uint64_t page, const uint64_t *mask)
{
    struct hearthi_race_stores s = { .page = (uint32_t)page,
                                     .interval =
                                         (uint32_t)hearthi_races->events };

    for (size_t i = 0; i < hearthi_heap.page / BLOCK; i++) {
        s.blocks += mask[i] != 0;
        s.words += hearthi_bits(words_of(mask[i]));
    }
    return s;
}

static void
stores_fill(struct hearthi_race_stores *s, const uint64_t *mask,
            const char *bytes)
{
    uint64_t *masks = (uint64_t *)(void *)(s + 1);
    uint32_t *blocks = (uint32_t *)(void *)(masks + s->blocks);
    uint64_t *words = masks + s->blocks + hearthi_race_index_words(s);

    for (size_t i = 0; i < hearthi_heap.page / BLOCK; i++) {
        if (mask[i] == 0)
            continue;
        *masks++ = mask[i];
        *blocks++ = (uint32_t)i;
        for (unsigned w = words_of(mask[i]); w != 0; w &= w - 1)
            memcpy(words++,
                   bytes + i * BLOCK + (size_t)__builtin_ctz(w) * WORD, WORD);
    }
}

void
hearthi_races_stored(uint64_t page, const uint64_t *mask, const char *bytes)
{
    struct hearthi_race_history *h = hearthi_races;
    struct hearthi_race_stores   s = stores_count(page, mask), *to;
    size_t                       need = hearthi_race_stores_bytes(&s);

    HEARTHI_ASSERT_HAS(TABLE);
    if (!has_room(need)) {
        h->dropped++;
        return;
    }
    to = (struct hearthi_race_stores *)(void *)(h->stores + h->bytes);
    *to = s;
    stores_fill(to, mask, bytes);
    h->bytes += need;
}

void
hearthi_races_stepped(uint64_t at, unsigned bytes)
{
    uint64_t ones = (UINT64_C(1) << bytes) - 1;
    struct {
        struct hearthi_race_stores s;
        uint64_t                   mask;
        uint32_t                   block[2];
    } record = {
        .s = { .page = (uint32_t)(at >> hearthi_heap.shift),
               .interval = (uint32_t)hearthi_races->events,
               .blocks = 1,
               .atomic = 1 },
        .mask = ones << at % BLOCK,
        .block = { (uint32_t)(at % hearthi_heap.page / BLOCK) },
    };

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(sizeof record == hearthi_race_stores_bytes(&record.s));
    if (!has_room(sizeof record)) {
        hearthi_races->dropped++;
        return;
    }
    memcpy(hearthi_races->stores + hearthi_races->bytes, &record,
           sizeof record);
    hearthi_races->bytes += sizeof record;
}

void
hearthi_races_event(enum hearthi_race_kind kind, uint32_t object,
                    uint64_t number, unsigned place)
{
    struct hearthi_race_history *h = hearthi_races;

    HEARTHI_ASSERT_HAS(TABLE);
    if (!has_room(sizeof *h->event)) {
        h->lost = true;
        return;
    }
    h->event[h->events++] = (struct hearthi_race_event){
        .number = number,
        .object = object,
        .kind = (uint16_t)kind,
        .place = (uint16_t)place,
    };
}

void
hearthi_races_renew(const void *p, size_t bytes)
{
    struct hearthi_race_history *h = hearthi_races;
    uint64_t from = (uint64_t)((const char *)p - hearthi_heap.base);

    HEARTHI_ASSERT_HAS(TABLE);
    if (!has_room(sizeof *h->renewed)) {
        h->lost = true;
        return;
    }
    h->renewed[h->renewals++] =
        (struct hearthi_race_renewed){ from, bytes, h->events };
}

void
hearthi_races_cut(void)
{
    struct hearthi_race_history *h = hearthi_races;

    HEARTHI_ASSERT_HAS(TABLE);
    h->cut_events = h->events;
    h->cut_renewals = h->renewals;
    h->cut_bytes = h->bytes;
}

/* What came since is of the intervals from the cut on. */
static void
intervals_renumber(struct hearthi_race_history *h, uint32_t by)
{
    struct hearthi_race_stores *s;

    for (size_t i = 0; i < h->renewals; i++)
        h->renewed[i].interval -= by;
    for (size_t at = 0; at < h->bytes; at += hearthi_race_stores_bytes(s)) {
        s = (struct hearthi_race_stores *)(void *)(h->stores + at);
        s->interval -= by;
    }
}

void
hearthi_races_forget(void)
{
    struct hearthi_race_history *h = hearthi_races;
    uint32_t                     by = (uint32_t)h->cut_events;

    HEARTHI_ASSERT_HAS(TABLE);
    h->events -= h->cut_events;
    h->renewals -= h->cut_renewals;
    h->bytes -= h->cut_bytes;
    memmove(h->event, h->event + h->cut_events, h->events * sizeof *h->event);
    memmove(h->renewed, h->renewed + h->cut_renewals,
            h->renewals * sizeof *h->renewed);
    memmove(h->stores, h->stores + h->cut_bytes, h->bytes);
    intervals_renumber(h, by);
    h->cut_events = h->cut_renewals = h->cut_bytes = 0;
}
