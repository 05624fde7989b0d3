/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a report says beyond the counters: which instruction of the program
 * faulted on which page, what each page, lock and barrier cost, and where
 * memory was allocated.  Kept only where a report is asked for; elsewhere
 * hearthi_profile is NULL, and that is all that is looked at.
 *
 * Tables are of fixed size and in memory that is there where it is touched.
 * What finds no room in one is counted as dropped.  Any thread adds to them,
 * in the fault handler too: entries are taken by one atomic step and never
 * given back, and numbers are added up.  All of that is relaxed: a key is all
 * that its step says, and each number stands for itself.
 *
 * A page's line is the last instruction that faulted on it: what diffs and
 * fetches ahead cost for that page later is charged there.
 */
#ifndef HEARTHI_PROFILE_H
#define HEARTHI_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Powers of two but the last. */
enum {
    HEARTHI_PROFILE_LINES = 1 << 12,
    HEARTHI_PROFILE_PAGES = 1 << 16,
    HEARTHI_PROFILE_LOCKS = 1 << 10,
    HEARTHI_PROFILE_BARRIERS = 1 << 7,
    HEARTHI_PROFILE_SAMPLES = 1 << 13,
    HEARTHI_PROFILE_GRAINS = 512 /* of a page, in the map of its stores */
};

/* An instruction of the program that faulted.  stride is the distance from one
 * fault to the next of most of them, by vote, and strided how many had it or a
 * multiple of it; inside: not in the first 64 bytes of a page, where a walk
 * from byte to byte faults.  Or a call of hearth_prefetch(): calls are those
 * that brought pages, and brought how many. */
struct hearthi_profile_line {
    uintptr_t at;
    uint64_t  ns;
    uint64_t  last, stride, brought;
    int32_t   vote;
    uint32_t  reads, writes, strided, inside, calls;
};

struct hearthi_profile_page {
    uint32_t key;  /* page + 1 */
    uint32_t line; /* index + 1 of the last that faulted */
    uint32_t reads, writes, ahead, diffs;
    uint32_t home; /* rank + 1, once that was asked for */
    uint32_t own;  /* intervals in which this rank stored to its home frame */
    uint32_t narrow; /* diffs of words of which the low bytes alone changed */
    uint64_t ns, diff_bytes;
    uint64_t
        stored[HEARTHI_PROFILE_GRAINS / 64]; /* grains that it stored to */
};

/* What is waited for by its number: locks, flags.  `at` is the call that
 * waited for most of the time, by vote.  The rest is of locks: computed is
 * how often one was held for long, page faults left out; one_word how often
 * what went home when it was given was one and the same word, `word`, and
 * wider how often it was anything else. */
struct hearthi_profile_lock {
    uint32_t  key; /* sync + 1 */
    uintptr_t at;
    uint64_t  n, vote_ns, wait_ns, longest_ns;
    uint64_t  held_ns, holds, computed, taken_at, faults_before;
    uint64_t  one_word, wider, word;
};

/* What has gone home since a lock began to be given. */
struct hearthi_profile_given {
    uint64_t diffs, word; /* word: address, if it was only one */
    bool     wide;
};

struct hearthi_profile_barrier {
    uintptr_t at;
    uint64_t  n, wait_ns, longest_ns;
};

/* A barrier: the table's entry, and how long this rank waited in it. */
struct hearthi_profile_sample {
    uint32_t barrier, wait_us;
};

struct hearthi_profile {
    struct hearthi_profile_line    line[HEARTHI_PROFILE_LINES];
    struct hearthi_profile_page    page[HEARTHI_PROFILE_PAGES];
    struct hearthi_profile_lock    lock[HEARTHI_PROFILE_LOCKS];
    struct hearthi_profile_barrier barrier[HEARTHI_PROFILE_BARRIERS];
    struct hearthi_profile_sample  sample[HEARTHI_PROFILE_SAMPLES];
    uint64_t                       barriers; /* passed */
    uint64_t                       every;    /* of which one in so many is
                                                a sample */
    uint64_t                     dropped;
    unsigned                     grain; /* log2 of its bytes */
    struct hearthi_profile_given given;
};

/* NULL: nothing is kept. */
extern struct hearthi_profile *hearthi_profile;

/* For a heap that is open.  What is kept is forgotten at reset, and left as it
 * is from stop on, until close. */
void hearthi_profile_open(void);
void hearthi_profile_reset(void);
void hearthi_profile_stop(void);
void hearthi_profile_close(void);

/* What was kept, also behind stop; NULL: nothing was asked for. */
const struct hearthi_profile *hearthi_profile_kept(void);

/* The rest only while hearthi_profile is not NULL. */

/* A fault at an address of the heap, of an instruction and its stack. */
void hearthi_profile_fault(uintptr_t instruction, const void *stack,
                           const void *addr, bool write, uint64_t ns);

/* A page's changed bytes went home: a bit a byte, or NULL, where all may have
 * been changed. */
void hearthi_profile_diff(uint64_t page, const uint64_t *mask, size_t bytes);

/* A page at home here was written in an interval: which bytes is not known. */
void hearthi_profile_own(uint64_t page);

/* Pages were fetched since they had been used before. */
void hearthi_profile_ahead(uint64_t page, uint64_t count);

/* A call of hearth_prefetch() has brought so many pages; `from` as below. */
void hearthi_profile_prefetched(const void *from, uint64_t pages, uint64_t ns);

/* Note the homes of pages that are known, before they are freed; and of all at
 * the end, when others have theirs still. */
void hearthi_profile_homes(uint64_t page, uint64_t count,
                           int (*home_of)(uint64_t page));

/* ---- profile_sync.c ---- */

/* The program's call: `from` is the return address of a public one, and where
 * that is Hearth's own it is looked for above on the stack. */
uintptr_t hearthi_profile_place(const void *from);

/* `from` is the return address of the public call: where that is Hearth's own,
 * as in jia_lock(), it is looked for above on the stack.  What was done
 * meanwhile but wait is left out of the time by a later begin. */
void hearthi_profile_taken(int sync, const void *from, uint64_t begin,
                           uint64_t end);

/* The lock is about to be given; and was, and what was written is home. */
void hearthi_profile_giving(int sync, uint64_t now);
void hearthi_profile_gave(int sync);
void hearthi_profile_barrier_passed(const void *from, uint64_t wait_ns);

#endif
