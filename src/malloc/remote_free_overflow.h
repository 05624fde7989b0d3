/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Any number of freed objects on their way back to an owner that takes nothing
 * meanwhile: they are listed in themselves.
 *
 * Their bytes are the freer's until the owner has them: no rank reads them.
 * So of the objects of a block that do not fit its ring (remote_free.h) the
 * freer picks some, the carriers, and stores into each the places of others of
 * that block, and which carrier is next.  These are stores like those that the
 * program made there before it freed the object, and all that is said in
 * remote_free.c of those holds: they are released before the owner is told,
 * and the owner acquires before it reads.  Both touch pages, as no other call
 * here does; but one in many.
 *
 * A word at the owner, one for each freer, says where the chain begins.  The
 * freer takes the old beginning out of it by one atomic step, which the owner
 * does, too, hangs that behind the new carriers, and puts their beginning in:
 * so a carrier is in one chain, and a chain is one rank's at a time.
 */
#ifndef HEARTHI_REMOTE_FREE_OVERFLOW_H
#define HEARTHI_REMOTE_FREE_OVERFLOW_H

#include <stddef.h>
#include <stdint.h>

/* All objects that one block has, and so many again for what is wrong. */
enum { HEARTHI_OVERFLOW_MOST = 2 * (1 << 16) / 16 };

/* Send n objects, by their offsets in the heap, which are sorted; their pages
 * are released here.  The bell is for the caller to ring. */
void hearthi_overflow_send(int owner, uint64_t *at, size_t n);

/* Take the chain of a rank: where it begins, or 0. */
uint64_t hearthi_overflow_take(int rank);

/* Objects from a chain that has come to *next, which moves; 0 at its end. */
size_t hearthi_overflow_read(uint64_t *next,
                             uint64_t at[HEARTHI_OVERFLOW_MOST], int rank);

#endif
