/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The heap: a range of addresses, the same on every rank, and the two views
 * of every frame (doc/design/memory.md, "The heap and its two views").  Unless
 * a home frame is mapped over it, a page shows the cached frames' memfd, at
 * the page's own offset as long as nothing had to be replaced, so that
 * neighbouring pages are neighbours in memory too.
 *
 * How pages of the application view are protected is said in page/protect.c.
 *
 * A transport that registers memory (transport.h) may have registered any part
 * of the system view with a network card, which knows physical pages and is
 * told of nothing: from start to end that view is neither punched nor mapped
 * anew.
 */
#ifndef HEARTHI_HEAP_H
#define HEARTHI_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t hearthi_page; /* number of a page in the heap */

struct hearthi_heap {
    char    *base;   /* application view */
    char    *cached; /* system view of the cached frames */
    int      fd;     /* their memfd */
    size_t   bytes;
    size_t   page; /* bytes a page */
    unsigned shift;
    unsigned bits; /* of addresses, on every rank (address_bits.h) */
    uint64_t pages;
    uint64_t arena; /* of these, the first are for hearth_malloc */
};

extern struct hearthi_heap hearthi_heap;

/* What a run that goes on from a checkpoint has from there: to be filled before
 * hearthi_heap_open(). */
struct hearthi_heap_given {
    bool     is;
    char    *base;
    uint64_t arenas; /* pages of all */
    uint64_t arena;  /* of each */
    uint64_t count;  /* how many there are */
    uint64_t words;  /* bytes of each that are not for objects */
};
extern struct hearthi_heap_given hearthi_heap_given;

/* Agree on an address with all ranks and reserve it.  Collective; before any
 * window is made, since windows take addresses too. */
void hearthi_heap_open(void);
void hearthi_heap_close(void);

/* Make the kernel's page tables of many pages of a view in one call, with
 * memory behind them: a quarter of the price of touching them one by one.
 * Only a hint: kernels before 5.14 do not know it. */
void hearthi_populate(void *at, size_t len, bool write);

/* A core dump holds this rank's home memory once, at the heap's addresses,
 * where the program's pointers lead, but for runs of pages that are more than
 * the machine has.  All else is left out: the kernel would
 * fill every page of a shared file that was never touched.  So a part of a
 * view that shows cached frames, or frames of another rank, is not dumped;
 * mprotect(2) and mremap(2) keep that, a new mmap(2) does not. */
void hearthi_dump(void *at, size_t len, bool dumped);

/* Let pages of the application view show this run of cached frames, with this
 * protection.  Returns 0, or an errno. */
int hearthi_heap_show(uint64_t page, uint64_t count, uint64_t frame, int prot);

static inline char *
hearthi_app(uint64_t page)
{
    return hearthi_heap.base + (page << hearthi_heap.shift);
}

static inline bool
hearthi_in_heap(const void *p)
{
    return (size_t)((const char *)p - hearthi_heap.base) < hearthi_heap.bytes;
}

static inline uint64_t
hearthi_page_of(const void *p)
{
    return (uint64_t)((const char *)p - hearthi_heap.base) >>
           hearthi_heap.shift;
}

/* End the job: `what` of so many bytes finds no addresses (errno).  The line
 * names all that takes addresses, and the bound on them if there is one. */
_Noreturn void hearthi_addresses_short(const char *what, size_t bytes);

/* A zeroed array that costs memory only where it is touched.  Ends the job
 * when the address space is short. */
void *hearthi_sparse(size_t bytes);
void  hearthi_sparse_free(void *p, size_t bytes);

/* Zero a part of one; memory that lies in it whole goes back. */
void hearthi_sparse_clear(void *p, size_t bytes);

/* ---- arenas ----
 *
 * How much of each rank's home memory is for hearth_malloc: its arena, the
 * first pages of the heap and the first frames of each segment, set aside at
 * the start since no rank can be asked for more later.  It is beside
 * HEARTH_HEAP and HEARTH_HOME, and memory where it is touched. */

/* An arena is a whole number of these, and of pages. */
enum { HEARTHI_ARENA_BLOCK = 1 << 16 };

/* Bytes of addresses for each rank's: the same on all ranks. */
size_t hearthi_arena_most(void);

/* Bytes that this rank can have beside so much home memory; at most the
 * above, and 0 if there is no room. */
size_t hearthi_arena_wanted(size_t home);

#endif
