/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank has kept, as it goes to rank 0: numbers and arrays in one piece.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "race_report.h"

/* What one rank hands in: these, and then the arrays, in this order. */
struct head {
    uint64_t events, renewals, places, bytes;
};

void *
hearthi_race_room(size_t bytes)
{
    void *p = malloc(bytes > 0 ? bytes : 1);

    if (p == NULL)
        hearthi_fatal("hearth_barrier",
                      "no memory for %zu bytes to look for races: leave "
                      "HEARTH_RACES out",
                      bytes);
    return p;
}

int
hearthi_race_page_compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static const struct hearthi_race_stores *
stores_at(const struct hearthi_race_history *h, size_t at)
{
    return (const struct hearthi_race_stores *)(const void *)(h->stores + at);
}

/* Each page that this rank has stored to once, in order. */
size_t
hearthi_race_pages(const struct hearthi_race_history *h, uint32_t **out)
{
    const struct hearthi_race_stores *s;
    size_t                            n = 0, all = 0;

    *out = hearthi_race_room(h->cut_bytes / sizeof *s * sizeof **out);
    for (size_t at = 0; at < h->cut_bytes; at += hearthi_race_stores_bytes(s))
        (*out)[all++] = (s = stores_at(h, at))->page;
    qsort(*out, all, sizeof **out, hearthi_race_page_compare);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || (*out)[i] != (*out)[i - 1])
            (*out)[n++] = (*out)[i];
    return n;
}

static bool
is_in(const uint32_t *page, size_t n, uint32_t one)
{
    return bsearch(&one, page, n, sizeof *page, hearthi_race_page_compare) !=
           NULL;
}

/* The records of these pages, one behind the other; NULL: how long they are.
 */
static size_t
stores_copy(const struct hearthi_race_history *h, const uint32_t *page,
            size_t n, char *to)
{
    size_t sum = 0, bytes;

    for (size_t at = 0; at < h->cut_bytes; at += bytes) {
        const struct hearthi_race_stores *s = stores_at(h, at);

        bytes = hearthi_race_stores_bytes(s);
        if (!is_in(page, n, s->page))
            continue;
        if (to != NULL)
            memcpy(to + sum, s, bytes);
        sum += bytes;
    }
    return sum;
}

static size_t
head_bytes(const struct head *d)
{
    return sizeof *d + d->events * sizeof(struct hearthi_race_event) +
           d->renewals * sizeof(struct hearthi_race_renewed) +
           d->places * sizeof(struct hearthi_race_place) + d->bytes;
}

static char *
append(char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

char *
hearthi_race_pack(const struct hearthi_race_history *h, const uint32_t *page,
                  size_t n, uint64_t *bytes)
{
    const struct hearthi_race_place *place;
    struct head                      d = { .events = h->cut_events,
                                           .renewals = h->cut_renewals,
                                           .places = hearthi_race_places(&place),
                                           .bytes = stores_copy(h, page, n, NULL) };
    char                            *all, *to;

    *bytes = head_bytes(&d);
    all = hearthi_race_room(*bytes);
    to = append(all, &d, sizeof d);
    to = append(to, h->event, d.events * sizeof *h->event);
    to = append(to, h->renewed, d.renewals * sizeof *h->renewed);
    to = append(to, place, d.places * sizeof *place);
    stores_copy(h, page, n, to);
    return all;
}

struct hearthi_race_given
hearthi_race_unpack(const char *from)
{
    struct head               d;
    struct hearthi_race_given g;

    memcpy(&d, from, sizeof d);
    from += sizeof d;
    g.part.log.event = (const void *)from;
    g.part.log.events = d.events;
    g.part.renewed = (const void *)(g.part.log.event + d.events);
    g.part.renewals = d.renewals;
    g.place = (const void *)(g.part.renewed + d.renewals);
    g.places = d.places;
    g.part.stores = (const char *)(g.place + d.places);
    g.part.bytes = d.bytes;
    return g;
}
