/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls_region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16, AT = 1000, LARGE = 1 << 20 };

/* Bytes with which region number `which` begins. */
static void
pattern_fill(unsigned char *p, size_t bytes, int which)
{
    uint64_t word = (uint64_t)which * UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407;
        memcpy(p + i, &word, sizeof word);
    }
}

static int
number_of(const struct region *all, const struct sides *s, int rank)
{
    return rank + 1 + (all == s->recv ? CALL_RANKS : 0);
}

static size_t
span_of(enum state state, size_t bytes)
{
    size_t need = state == LAST ? bytes + (size_t)2 * SIDE : AT + bytes + SIDE;

    return (need + page_bytes() - 1) / page_bytes() * page_bytes();
}

/* The bytes beside it on that side; both are before it where it is last. */
static unsigned char *
side_at(const struct region *r, unsigned char *base, enum side side)
{
    if (side == MINE)
        return base + r->at - SIDE;
    if (r->state == LAST)
        return base + r->at - (ptrdiff_t)2 * SIDE;
    return base + r->at + r->bytes;
}

static unsigned char
side_byte(enum side side, int rank, int i)
{
    return (unsigned char)(1 + 100 * side + 16 * (rank % 4) + i);
}

/* Rank r's are at home on rank r or on another node's. */
static void
regions_new(struct sides *s, struct region *all, enum state state,
            size_t bytes)
{
    size_t span = span_of(state, bytes);
    char  *block = NULL;

    if (state != LAST)
        block = hearth_alloc((size_t)ranks * span, 1,
                             hearth_cyclic(span / page_bytes()));
    for (int r = 0; r < ranks; r++) {
        int home = state <= READ ? r : (r + s->shift) % ranks;

        all[r] = (struct region){
            .span = span,
            .at = state == LAST ? span - bytes : AT,
            .bytes = bytes,
            .state = state,
            .home = home,
        };
        all[r].base = state == LAST ? hearth_alloc(span, 1, hearth_on(home))
                                    : (void *)(block + (size_t)home * span);
    }
}

static void
regions_free(struct region *all)
{
    for (int r = 0; r < ranks; r++)
        if (all[r].state == LAST)
            hearth_free(all[r].base);
    if (all[0].state == LAST)
        return;
    for (int r = 0; r < ranks; r++)
        if (all[r].home == 0)
            hearth_free(all[r].base);
}

static void
regions_fill(const struct sides *s, struct region *all)
{
    for (int r = 0; r < ranks; r++)
        if (all[r].home == me)
            pattern_fill(all[r].base, all[r].span, number_of(all, s, r));
    all[me].shadow = malloc(all[me].span);
    if (all[me].shadow == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    pattern_fill(all[me].shadow, all[me].span, number_of(all, s, me));
}

static void
region_touch(const struct region *r)
{
    const volatile unsigned char *p = r->base;

    for (size_t i = 0; i < r->span; i += page_bytes())
        (void)p[i];
}

static void
region_write(const struct region *r)
{
    for (size_t i = r->at; i < r->at + r->bytes; i += 56) {
        r->base[i] ^= 0x3c;
        r->shadow[i] ^= 0x3c;
    }
}

static void
states_make(const struct sides *s, struct region *all)
{
    switch (all[me].state) {
    case READ: region_touch(&all[(me + ranks - s->shift) % ranks]); return;
    case CLEAN: region_touch(&all[me]); return;
    case WRITTEN: region_write(&all[me]); return;
    default: return;
    }
}

void
sides_new(struct sides *s, const struct trial *t, const char *text)
{
    memset(s, 0, sizeof *s);
    s->text = text;
    s->left = (me + ranks - 1) % ranks;
    s->shift = ranks == 1 ? 0 : ranks / 2;
    regions_new(s, s->send, t->send, t->bytes);
    regions_new(s, s->recv, t->recv, t->bytes);
    regions_fill(s, s->send);
    regions_fill(s, s->recv);
    hearth_barrier();
    states_make(s, s->send);
    states_make(s, s->recv);
}

void
sides_free(struct sides *s)
{
    free(s->send[me].shadow);
    free(s->recv[me].shadow);
    regions_free(s->recv);
    regions_free(s->send);
}

void
side_write(struct sides *s, int rank, enum side side)
{
    unsigned char *send = side_at(&s->send[rank], s->send[rank].base, side);
    unsigned char *recv = side_at(&s->recv[rank], s->recv[rank].base, side);

    s->written[side] = true; /* as all ranks do it */
    for (int i = 0; i < SIDE; i++)
        send[i] = recv[i] = side_byte(side, rank, i);
}

/* "byte -3 of recv is 0, not 7, to rank 2" */
static void
wrong(const struct sides *s, const char *what, const unsigned char *got,
      const unsigned char *want, const ptrdiff_t place[2])
{
    char text[256];

    snprintf(text, sizeof text,
             "%s: byte %td of %s is %d, not %d, to rank %td", s->text,
             place[0], what, *got, *want, place[1]);
    expect_at(false, "trial", __LINE__, text);
}

/* Bytes of a region as a rank sees them and as they must be. */
static void
region_expect(const struct sides *s, const struct region *r,
              const unsigned char *got, int seer)
{
    const char *what = r == &s->send[me] ? "send" : "recv";

    if (memcmp(got, r->shadow, r->span) == 0)
        return;
    for (size_t i = 0; i < r->span; i++)
        if (got[i] != r->shadow[i]) {
            ptrdiff_t place[] = { (ptrdiff_t)i - (ptrdiff_t)r->at, seer };

            wrong(s, what, got + i, r->shadow + i, place);
            return;
        }
}

void
side_expect(struct sides *s, int rank, enum side side)
{
    struct region *regions[] = { &s->send[rank], &s->recv[rank] };

    if (rank == me)
        s->seen = true;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < SIDE; i++) {
            unsigned char *got = side_at(regions[k], regions[k]->base, side);
            unsigned char  want = side_byte(side, rank, i);
            ptrdiff_t      place[] = {
                     got + i - regions[k]->base - (ptrdiff_t)regions[k]->at, me
            };

            if (got[i] != want)
                wrong(s, k == 0 ? "send, beside," : "recv, beside,", got + i,
                      &want, place);
        }
}

static void
shadow_side(const struct region *r, enum side side)
{
    unsigned char *p = side_at(r, r->shadow, side);

    for (int i = 0; i < SIDE; i++)
        p[i] = side_byte(side, me, i);
}

/* What another wrote and nobody has ordered is taken as it is. */
static void
expect_here(const struct sides *s, const struct region *r)
{
    unsigned char *his = side_at(r, r->shadow, HIS);
    unsigned char *now = malloc(r->span); /* it may come at any moment */

    if (now == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memcpy(now, r->base, r->span);
    if (s->written[MINE])
        shadow_side(r, MINE);
    if (s->written[HIS] && s->seen)
        shadow_side(r, HIS);
    else if (s->written[HIS])
        memcpy(his, side_at(r, now, HIS), SIDE);
    region_expect(s, r, now, me);
    free(now);
    if (s->written[HIS])
        shadow_side(r, HIS);
}

void
sides_expect_here(struct sides *s)
{
    expect_here(s, &s->send[me]);
    expect_here(s, &s->recv[me]);
}

/* Rank me - d's, as it is seen here, is sent to it. */
static void
expect_from(const struct sides *s, const struct region *all, int d,
            MPI_Comm comm)
{
    size_t         span = all[me].span;
    unsigned char *views = malloc(2 * span);
    int            owner = (me + ranks - d) % ranks, seer = (me + d) % ranks;

    if (views == NULL)
        MPI_Abort(comm, 1);
    memcpy(views, all[owner].base, span);
    MPI_Sendrecv(views, (int)span, MPI_BYTE, owner, 1, views + span, (int)span,
                 MPI_BYTE, seer, 1, comm, MPI_STATUS_IGNORE);
    region_expect(s, &all[me], views + span, seer);
    free(views);
}

void
sides_expect_everywhere(struct sides *s, MPI_Comm comm)
{
    struct region *both[] = { s->send, s->recv };

    for (int k = 0; k < 2; k++) {
        region_expect(s, &both[k][me], both[k][me].base, me);
        if (s->shift != 0)
            expect_from(s, both[k], s->shift, comm);
        if (s->shift > 1 && both[k][me].span < LARGE)
            expect_from(s, both[k], 1, comm);
    }
}
