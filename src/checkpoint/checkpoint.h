/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Checkpoints of a run, and a run that goes on from one: see
 * doc/design/checkpoint.md.  The layer above checks calls.
 */
#ifndef HEARTHI_CHECKPOINT_H
#define HEARTHI_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"
#include "meta.h"

/* ---- a checkpoint (checkpoint.c, due.c, pages.c, save.c) ---- */

void hearthi_checkpoint_open(void);
void hearthi_checkpoint_close(void);

/* Make one in a folder, or for NULL in HEARTH_CHECKPOINT.  Collective; the
 * table of pages changes nowhere meanwhile.  False on all ranks, after a line,
 * if it could not be written. */
bool hearthi_checkpoint_make(const char *where);

/* The run begins; and one was made, or tried. */
void hearthi_checkpoint_due_begin(void);
void hearthi_checkpoint_due_end(void);
void hearthi_checkpoint_due_again(bool made, const char *where,
                                  uint64_t number);

/* One was made because a signal asked for it. */
void hearthi_checkpoint_answered(void);

/* Are barriers points at which one may be made, too? */
extern bool hearthi_checkpoint_at_barriers;

/* What this rank says at a point, a barrier: HEARTHI_ASKS_DUE, if it is rank 0
 * and time has come; HEARTHI_ASKS_SIGNAL, if it got the signal. */
unsigned hearthi_checkpoint_asks(void);

/* A line about the last one, after which the job ends: false if it goes on. */
bool hearthi_checkpoint_ends(void);

/* Lines of rank 0 about one that takes long (checkpoint_progress.c): what it
 * has written so far, and whether that is all of its own. */
void hearthi_checkpoint_progress_begin(const char *where, uint64_t number);
void hearthi_checkpoint_progress_note(uint64_t bytes, bool written);
void hearthi_checkpoint_progress_end(void);

/* What this rank has of it goes into its file.  0, or an errno. */
int hearthi_save_rank(struct hearthi_image_writer *w);

/* The pages of which it is the home. */
int hearthi_save_pages(struct hearthi_image_writer *w);

/* The allocations, as words. */
struct hearthi_word_list;
void hearthi_save_allocations(struct hearthi_word_list *w);

/* ---- memory of the program (registered.c) ---- */

/* The memory, or NULL if this rank has not given it that name. */
bool hearthi_registered_add(void *p, size_t bytes, const char *name);
bool hearthi_registered_remove(const char *name);
int  hearthi_registered_save(struct hearthi_image_writer *w);
void hearthi_registered_close(void);

/* ---- a restart (restart.c, restart_file.c, restore.c) ---- */

struct hearthi_restart {
    bool                        is;
    uint64_t                    number;
    struct hearthi_meta         meta;
    int                         folder; /* of the checkpoint */
    struct hearthi_image_reader own;    /* see restart_file.c */
    uint64_t                    own_rank;
    char                        where[1024];
};
extern struct hearthi_restart hearthi_restart;

/* Which checkpoint it is that the run goes on from, and what of it the heap
 * must know: before the heap is made.  Collective. */
void hearthi_restart_open(void);

/* All of it comes back, once the layers are open.  Collective. */
void hearthi_restart_fill(void);
void hearthi_restart_close(void);

/* The parts of one kind are given to a function, one after the other, with
 * their bytes.  Ends the job if they cannot be read. */
typedef void hearthi_part_use(const struct hearthi_image_part *p, void *bytes);
void         hearthi_restart_parts(const char *call, uint64_t rank,
                                   enum hearthi_part_kind kind, hearthi_part_use *use);

/* What a rank had under a name: false if it had none; ends the job if it had
 * another size. */
bool hearthi_restart_private(const char *call, uint64_t rank, const char *name,
                             void *to, size_t bytes);

/* Allocations and pages of them; malloc, flags and locks (restore.c). */
void hearthi_restore_allocations(void);
void hearthi_restore_contents(void);

#endif
