/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What this rank knows of objects, as words that a file can have, and back: in
 * another run, whose heap lies at the same addresses.
 *
 * Only what the program has is told: which slots of which slab are live, and
 * which runs of quanta.  All else of a block is free in the run that reads it:
 * what is in the caches of threads, too, as these threads are no more.  What
 * other ranks freed and this one owns has been taken before
 * (hearthi_malloc_empty), so no object is told of that the program has not.
 *
 * Of the arenas that are at home on it a rank tells which blocks were ever
 * split off, and which were given back.  Owner tags follow from what owners
 * tell, and all other words of an arena begin anew: no mail is on its way.
 */
#ifndef HEARTHI_MALLOC_IMAGE_H
#define HEARTHI_MALLOC_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hearthi_word_list {
    uint64_t *word; /* free(3) takes them back */
    size_t    n, room;
};

/* One more word. */
void hearthi_word_list_add(struct hearthi_word_list *w, uint64_t word);

/* What other ranks freed of this rank's is taken, and what this rank freed of
 * theirs is handed over.  All ranks do so, meet, and do so again. */
void hearthi_malloc_empty(void);

/* No thread of any rank takes or gives back meanwhile. */
void hearthi_malloc_image_objects(struct hearthi_word_list *w);
void hearthi_malloc_image_arena(struct hearthi_word_list *w);

/* Before the program has taken anything: what another rank told is this one's
 * from now on, and of arenas what is at home here.  False if that cannot have
 * been told. */
bool hearthi_malloc_image_own(const uint64_t *word, size_t n);
bool hearthi_malloc_image_split(const uint64_t *word, size_t n);

#endif
