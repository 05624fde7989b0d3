/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What this rank owns of each arena and the program does not have: slabs with
 * free slots, and runs of quanta for large objects.  Any thread may call
 * these; they send messages where new blocks are needed.
 */
#ifndef HEARTHI_CENTRAL_FREELIST_H
#define HEARTHI_CENTRAL_FREELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void hearthi_freelists_open(void);
void hearthi_freelists_close(void);

/* An object that was taken: its address, and 1 if its bytes may not be 0. */
typedef uintptr_t hearthi_object;

static inline char *
hearthi_object_at(hearthi_object o)
{
    return (char *)(o & ~(uintptr_t)1);
}

/* Up to n small objects of a class at home on a rank; returns how many, at
 * least 1, or 0 if that has no memory left. */
unsigned hearthi_freelist_take(int home, unsigned class, hearthi_object *out,
                               unsigned n);

/* One back, which was taken. */
void hearthi_freelist_give(void *p);

/* A large object of so many bytes at a multiple of so many, a power of two; or
 * 0.  If it is not to be `exact`, the caller would take less, and it is not
 * looked for everywhere. */
hearthi_object hearthi_freelist_take_run(int home, size_t bytes, size_t align,
                                         bool exact);

/* A live one of this rank's gets another size where it is: false if it
 * cannot. */
bool hearthi_run_resize(void *p, size_t bytes);

/* The program frees what lies in a block of large objects: false if it does
 * not have an object that begins there. */
bool hearthi_run_return(const void *p);

/* Its bytes, whether it was returned or not; 0 if there is none. */
size_t hearthi_run_bytes(const void *p);

/* One back, which was returned. */
void hearthi_freelist_give_run(void *p);

/* One back of either kind, and its bytes. */
void   hearthi_freelist_give_object(void *p);
size_t hearthi_freelist_object_bytes(const void *p);

/* Blocks in which nothing is live go back to the arenas for other ranks: where
 * there is much of them and they are soon had again, all, or all and their
 * memory to the system. */
enum hearthi_shed {
    HEARTHI_SHED_SCARCE,
    HEARTHI_SHED_ALL,
    HEARTHI_SHED_PURGED
};
void hearthi_freelists_shed(enum hearthi_shed how);

/* What this rank has, of all homes. */
struct hearthi_freelist_counts {
    uint64_t live, live_bytes, peak_bytes, carved_bytes;
};
void hearthi_freelists_count(struct hearthi_freelist_counts *c);

#endif
