/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is said of a race: the memory, the two intervals with what began and
 * ended each, and what the ranks stored.  Pairs that have all of these places
 * in common are one race, whichever ranks they are of, told of when the first
 * is found and counted from then on.
 */
#include "config.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "node/lock_names.h"
#include "race_report.h"
#include "race_words.h"
#include "space/heap.h"
#include "transport/lock_key.h"
#include "transport/log.h"

enum { BEGIN, END, ENDS, SIDES = 2 };

/* What makes two pairs one race; places are indices of sites, and what a rank
 * began with is a kind and one more, or 0. */
struct race {
    uintptr_t memory;
    bool      apart, atomic[SIDES];
    uint32_t  site[SIDES][ENDS];
    uint32_t  kind[SIDES][ENDS];
    uint32_t  object[SIDES][ENDS];
};

static struct {
    void    *race; /* a tree: there may be as many as pairs of places */
    uint64_t races, pairs;
} t;

/* ---- intervals ---- */

static const char *const verb[] = {
    [HEARTHI_RACE_BARRIER_IN] = "the barrier",
    [HEARTHI_RACE_BARRIER_OUT] = "the barrier",
    [HEARTHI_RACE_LOCK] = "taking lock",
    [HEARTHI_RACE_UNLOCK] = "releasing lock",
    [HEARTHI_RACE_FLAG_SET] = "setting flag",
    [HEARTHI_RACE_FLAG_WAIT] = "waiting for flag",
    [HEARTHI_RACE_RW_LOCK] = "taking rwlock",
    [HEARTHI_RACE_RW_UNLOCK] = "releasing rwlock",
    [HEARTHI_RACE_RELEASE] = "hearth_release",
    [HEARTHI_RACE_ACQUIRE] = "hearth_acquire",
};

static void
object_print(FILE *out, uint32_t kind, uint32_t object)
{
    char text[HEARTHI_LOCK_KEY_TEXT];
    int  sync = (int)object;

    if (kind == HEARTHI_RACE_LOCK || kind == HEARTHI_RACE_UNLOCK) {
        hearthi_lock_key_text(hearthi_lock_names_key(sync), text, sizeof text);
        fprintf(out, " %s", text);
    }
    if (kind == HEARTHI_RACE_RW_LOCK || kind == HEARTHI_RACE_RW_UNLOCK)
        fprintf(out, " %d", sync - HEARTHI_RWS_AT);
    if (kind != HEARTHI_RACE_FLAG_SET && kind != HEARTHI_RACE_FLAG_WAIT)
        return;
    if (sync < HEARTHI_TEAM_FLAGS_AT)
        fprintf(out, " %d", sync - HEARTH_LOCKS);
    else
        fprintf(out, " %d of teams", sync - HEARTHI_TEAM_FLAGS_AT);
}

static void
end_print(FILE *out, const struct race *r, int side, int end)
{
    struct hearthi_site_text w = hearthi_race_site_words(r->site[side][end]);
    uint32_t                 kind = r->kind[side][end];

    if (kind == 0) {
        fprintf(out, "the start, or the last barrier");
        return;
    }
    fprintf(out, "%s", verb[kind - 1]);
    object_print(out, kind - 1, r->object[side][end]);
    fprintf(out, " (%s)", w.text);
}

static void
side_print(FILE *out, const struct hearthi_race_pair *p, int side)
{
    fprintf(out, "rank %d ", p->rank[side]);
    if (p->atomic[side]) {
        fprintf(out, "changed it by an atomic call");
        return;
    }
    fprintf(out, "stored ");
    hearthi_race_value_print(out, p->word[side], p->at);
}

static void
race_print(FILE *out, const struct race *r, const struct hearthi_race_pair *p)
{
    fprintf(out, "hearth: race: ");
    hearthi_race_memory_print(out, (uintptr_t)hearthi_heap.base + p->at);
    fprintf(out, ": ");
    side_print(out, p, 0);
    fprintf(out, ", ");
    side_print(out, p, 1);
    if (p->apart)
        fprintf(out,
                ", to different bytes of one word of %u, which hearth_alloc "
                "was told to be one",
                p->unit);
    fprintf(out, ", and nothing orders the two\n");
    for (int side = 0; side < SIDES; side++) {
        fprintf(out, "hearth: race:     rank %d: between ", p->rank[side]);
        end_print(out, r, side, BEGIN);
        fprintf(out, " and ");
        end_print(out, r, side, END);
        fprintf(out, "\n");
    }
}

static void
race_tell(const struct race *r, const struct hearthi_race_pair *p)
{
    char  *text = NULL;
    size_t len = 0;
    FILE  *out = open_memstream(&text, &len);

    if (out == NULL)
        hearthi_race_text_failed();
    race_print(out, r, p);
    if (fclose(out) != 0)
        hearthi_race_text_failed();
    hearthi_report_lines(text, len);
    free(text);
}

/* ---- pairs ---- */

static void
end_fill(struct race *r, int side, int end, const struct hearthi_race_given *g,
         size_t event)
{
    const struct hearthi_race_event *e = &g->part.log.event[event];
    const struct hearthi_race_place *at = &g->place[e->place];

    r->site[side][end] = hearthi_race_site(at->path, at->offset);
    r->kind[side][end] = e->kind + 1U;
    r->object[side][end] = e->object;
}

static void
side_fill(struct race *r, int side, const struct hearthi_race_given *g,
          uint32_t interval)
{
    r->site[side][BEGIN] = r->site[side][END] = hearthi_race_site("", 0);
    if (interval > 0)
        end_fill(r, side, BEGIN, g, interval - 1);
    if (interval < g->part.log.events)
        end_fill(r, side, END, g, interval);
}

/* An order of sides; and of races, whose sides are in that order. */
static int
sides_order(const struct race *x, int i, const struct race *y, int k)
{
    int order = x->atomic[i] - y->atomic[k];

    if (order == 0)
        order = memcmp(x->site[i], y->site[k], sizeof x->site[i]);
    if (order == 0)
        order = memcmp(x->kind[i], y->kind[k], sizeof x->kind[i]);
    return order;
}

static int
races_order(const void *first, const void *second)
{
    const struct race *x = first, *y = second;
    int                i = sides_order(x, 0, x, 1) > 0;
    int                k = sides_order(y, 0, y, 1) > 0, order;

    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    if (x->apart != y->apart)
        return x->apart - y->apart;
    order = sides_order(x, i, y, k);
    return order != 0 ? order : sides_order(x, !i, y, !k);
}

/* False if it is known. */
static bool
race_keep(const struct race *r)
{
    struct race *own = malloc(sizeof *own), **at;

    if (own == NULL)
        hearthi_race_text_failed();
    *own = *r;
    at = tsearch(own, &t.race, races_order);
    if (at == NULL)
        hearthi_race_text_failed();
    if (*at != own) {
        free(own);
        return false;
    }
    t.races++;
    return true;
}

void
hearthi_race_tell(const struct hearthi_race_pair  *p,
                  const struct hearthi_race_given *given)
{
    struct race                     r = { .apart = p->apart,
                                          .atomic = { p->atomic[0], p->atomic[1] } };
    const struct hearthi_allocated *a =
        hearthi_race_memory((uintptr_t)hearthi_heap.base + p->at);

    r.memory = a == NULL ? 0 : a->at;
    for (int side = 0; side < SIDES; side++)
        side_fill(&r, side, &given[p->rank[side]], p->interval[side]);
    t.pairs++;
    if (race_keep(&r) && t.races <= HEARTHI_RACES_TOLD)
        race_tell(&r, p);
}

/* ---- the end ---- */

void
hearthi_race_count(uint64_t *races, uint64_t *pairs)
{
    *races = t.races;
    *pairs = t.pairs;
}

static void
rest_print(FILE *out, const struct hearthi_race_counts *c)
{
    if (c->skipped > 0)
        fprintf(out,
                "hearth: race: %" PRIu64 " of %" PRIu64
                " barriers were not looked at: threads had synchronised "
                "inside of them, or more was kept than HEARTH_RACES_MEMORY\n",
                c->skipped, c->looks);
    if (c->dropped > 0)
        fprintf(out,
                "hearth: race: %" PRIu64
                " diffs of pages found no room and were not looked at: raise "
                "HEARTH_RACES_MEMORY\n",
                c->dropped);
    if (c->lacked > 0)
        fprintf(out,
                "hearth: race: %" PRIu64
                " calls came from more places than the %d that a rank keeps: "
                "races between them have no line, and count as one\n",
                c->lacked, HEARTHI_RACE_PLACES - 1);
    if (c->races > HEARTHI_RACES_TOLD)
        fprintf(out,
                "hearth: race: of %" PRIu64
                " races the first %d are told: mend those first\n",
                c->races, HEARTHI_RACES_TOLD);
}

void
hearthi_race_last_line(const struct hearthi_race_counts *c)
{
    char  *text = NULL;
    size_t len = 0;
    FILE  *out = open_memstream(&text, &len);

    if (out == NULL)
        hearthi_race_text_failed();
    rest_print(out, c);
    if (c->races == 0)
        fprintf(out, "hearth: race: no race");
    else
        fprintf(out,
                "hearth: race: %" PRIu64 " race%s, found %" PRIu64 " time%s",
                c->races, c->races == 1 ? "" : "s", c->pairs,
                c->pairs == 1 ? "" : "s");
    fprintf(out,
            ", where %" PRIu64
            " pages were stored to between barriers, %" PRIu64
            " of them by several ranks\n",
            c->pages, c->shared);
    if (fclose(out) != 0)
        hearthi_race_text_failed();
    hearthi_report_lines(text, len);
    free(text);
}

void
hearthi_race_text_close(void)
{
    hearthi_race_words_close();
    tdestroy(t.race, free);
    memset(&t, 0, sizeof t);
}
