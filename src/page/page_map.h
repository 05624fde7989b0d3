/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where pages live: the allocations, and which home and frame a page of one
 * has.  Nothing is kept for each page.  An allocation is a few pieces, each
 * one run of frames at one home, and a page's home and frame follow from its
 * number; so an allocation costs what it has pieces, however large it is.
 * Pages that have moved since are kept in runs (migrated.h), which are looked
 * at first.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_PAGE_MAP_H
#define HEARTHI_PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "migrated.h"
#include "space/heap.h"
#include "space/segment.h"

struct hearthi_migration_frames; /* frames to which pages may move
                                    (home/migration_frames.h) */

/* An allocation that was placed by stretches (home/home_layout.h). */
enum { HEARTHI_STRETCHES = -1 };

/* Pieces are runs of pages and sorted by them, `at` being a page of the
 * allocation, or blocks of pages are dealt to the homes in turn, `at` being
 * one of the pages that its home has, and pieces are sorted by home first. */
struct hearthi_allocation {
    uint64_t                page, pages; /* in the heap */
    size_t                  bytes;       /* as asked for */
    unsigned                unit;        /* of its diffs: 1, 4 or 8 bytes */
    uint64_t                number;      /* no other ever had it, nor 0 */
    int                     kind;  /* hearth_layout_kind, or HEARTHI_STRETCHES */
    uint64_t                block; /* pages of a block that is dealt, or 0 */
    uint32_t                first; /* which of the ranks has the first block */
    uint32_t                ranks; /* to which they are dealt */
    uint32_t               *rank;  /* these, in order; NULL: all there are */
    struct hearthi_piece   *piece;
    size_t                  pieces;
    struct hearthi_migrated migrated;
    struct hearthi_migration_frames *migration; /* or NULL: its pages stay */
    bool fresh;  /* first touch, and no barrier since */
    bool placed; /* its pages may be used */
    bool mapped; /* with home pages in the application view */
    long areas;  /* kernel mappings that it has */
};

/* Pages that follow each other with frames that do, at one home: as many as
 * there are of them in a row. */
struct hearthi_page_place {
    uint64_t                   page, count;
    uint32_t                   home, frame;
    uint8_t                    state; /* of what was never touched */
    struct hearthi_allocation *in;
};

void hearthi_page_map_open(void);
void hearthi_page_map_close(void);

/* Add an allocation, which gets its arrays (from malloc) for its own.  It
 * counts as not there until it is placed.  Stays where it is until removed. */
struct hearthi_allocation      *
hearthi_page_map_add(const struct hearthi_allocation *a);
void hearthi_page_map_remove(struct hearthi_allocation *a);

/* Its pages may be used; and its home pages have been mapped. */
void hearthi_page_map_placed(struct hearthi_allocation *a);
void hearthi_page_map_mapped(struct hearthi_allocation *a);

/* Pages that follow each other live here from now on: at neighbouring frames
 * of one home.  Their home pages are not mapped. */
void hearthi_page_map_move(uint64_t page, uint64_t count, uint32_t home,
                           uint32_t frame);

/* The i-th allocation in the order of pages, placed or not; NULL behind the
 * last.  And how many begin at or before a page: the one before that number
 * is the only one that can have it. */
struct hearthi_allocation *hearthi_page_map_get(size_t i);
size_t                     hearthi_page_map_before(uint64_t page);

/* The allocation that has a page, or NULL. */
struct hearthi_allocation *hearthi_allocation_of(uint64_t page);

/* The run in which a page lies; of no home, and one page long, if it is in no
 * allocation.  Valid until the next call.  Costs some 3 ns where a page nearby
 * was asked for before, else a search among allocations and pieces. */
const struct hearthi_page_place *hearthi_page_place_of(uint64_t page);
enum { HEARTHI_NO_HOME = -1 };

static inline int
hearthi_home_of(uint64_t page)
{
    return (int)hearthi_page_place_of(page)->home;
}

/* Where blocks are dealt: which of its ranks has block b, the how-manieth; and
 * what rank that is. */
static inline uint32_t
hearthi_dealt_to(const struct hearthi_allocation *a, uint32_t b)
{
    uint32_t i = a->first + b % a->ranks;

    return i < a->ranks ? i : i - a->ranks;
}

static inline uint32_t
hearthi_dealt_rank(const struct hearthi_allocation *a, uint32_t i)
{
    return a->rank == NULL ? i : a->rank[i];
}

/* The first block of a rank; HEARTHI_NO_BLOCK if none is dealt to it. */
uint32_t hearthi_dealt_first(const struct hearthi_allocation *a,
                             uint32_t                         rank);
#define HEARTHI_NO_BLOCK UINT32_MAX

/* The number of its frame in the home's segment. */
static inline uint64_t
hearthi_home_frame_of(uint64_t page)
{
    const struct hearthi_page_place *r = hearthi_page_place_of(page);

    return r->frame + (page - r->page);
}

/* And the offset of that frame there. */
static inline size_t
hearthi_home_at(uint64_t page)
{
    return hearthi_frame_at(hearthi_home_frame_of(page), hearthi_heap.shift);
}

/* ---- local_frames.c: which page has a frame of this node ---- */

void hearthi_local_frames_open(void);
void hearthi_local_frames_close(void);

/* A piece of an allocation, if its home is on this node: placed, and removed.
 */
void hearthi_local_frames_add(const struct hearthi_allocation *a,
                              const struct hearthi_piece      *p);
void hearthi_local_frames_remove(const struct hearthi_piece *p);

/* Frames have pages that have moved to them, or have not any more. */
void hearthi_local_frames_migrated(const struct hearthi_allocation *a,
                                   const struct hearthi_piece *p, bool is);

/* The page, or HEARTHI_NO_PAGE. */
uint64_t hearthi_page_in(int node_rank, uint64_t frame);
#define HEARTHI_NO_PAGE UINT64_MAX

/* All frames of a rank of this node that ever belonged to a page lie below. */
uint64_t hearthi_page_map_top(int node_rank);

/* Room for one more element of an array. */
void *hearthi_grown(void *array, size_t n, size_t size, size_t *most);

#endif
