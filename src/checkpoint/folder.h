/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A folder of checkpoints, for the rank that keeps it: rank 0, and for tools.
 *
 *   7/              number 7, whole: meta, rank.0, rank.1 ...
 *   new.8.TAG/      number 8, while it is written; it becomes 8/ by one
 *                   rename(2), which makes it valid
 *   old.5.TAG/      number 5, while it is removed
 *   starts          which number was restarted last, and how often, and for
 *                   hearth-run that a run began or ended (number 0)
 *   lock            locked by fcntl(2) as long as a job uses the folder: such
 *                   a lock ends with the process, and no child has it
 *
 * The tag is another one for each writer, so that a rank of a job that has
 * died, but has not ended yet, never writes into what a later job makes.
 *
 * Functions that can fail return 0, or an errno.
 */
#ifndef HEARTHI_CHECKPOINT_FOLDER_H
#define HEARTHI_CHECKPOINT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meta.h"

enum { HEARTHI_NEW_NAME = 64 };

struct hearthi_folder {
    int fd;   /* of the folder, or -1 */
    int lock; /* of its lock, or -1 */
};

/* Make the folder if that is asked for, and lock it; EBUSY: another job has
 * it. */
int hearthi_folder_open(struct hearthi_folder *f, const char *path, bool make);
void hearthi_folder_close(struct hearthi_folder *f);

/* Numbers of checkpoints that are there, damaged or not, rising; free(3) takes
 * them back, in any case. */
int hearthi_folder_numbers(int folder, uint64_t **number, size_t *n);

/* Open the folder of one: its descriptor, or -1 and errno. */
int hearthi_folder_number(int folder, uint64_t number);

/* Begin the next one: its number, its name until it is whole, and what was
 * left of earlier ones goes. */
int hearthi_folder_begin(const struct hearthi_folder *f, uint64_t *number,
                         char name[HEARTHI_NEW_NAME]);

/* It is whole: it is valid from now on, or it goes. */
int  hearthi_folder_commit(const struct hearthi_folder *f, const char *name,
                           uint64_t number);
void hearthi_folder_abandon(const struct hearthi_folder *f, const char *name);

/* How much of one is looked at: whether the meta file is right and all files
 * are as long as it says; their indexes, too; or every byte. */
enum hearthi_folder_look {
    HEARTHI_LENGTHS,
    HEARTHI_INDEXES,
    HEARTHI_ALL_BYTES
};

/* Look at one.  *m is to be freed if it has memory, and `file` is what the
 * result is about. */
int hearthi_folder_look(int folder, uint64_t number,
                        enum hearthi_folder_look how, struct hearthi_meta *m,
                        char file[HEARTHI_RANK_NAME]);

/* Leave the last so many that are whole, as far as that look tells, and what
 * is newer than the first of them. */
int hearthi_folder_prune(int folder, size_t keep,
                         enum hearthi_folder_look how);

/* Of a folder and a number, as in saved@7: the @, or NULL if there is no
 * number. */
const char *hearthi_folder_number_at(const char *text, uint64_t *number);

/* How often the number was started, without a checkpoint since; and so often
 * is enough, unless there is no other.  Of one that is newer than the number
 * that was started last: so often, since it was passed over. */
enum { HEARTHI_STARTS_MOST = 3 };
unsigned hearthi_folder_starts(int folder, uint64_t number);
void     hearthi_folder_started(int folder, uint64_t number, unsigned times);

/* The run came to its end, for hearth-run, which looks into the file. */
#define HEARTHI_STARTS_ENDED "0 0\n"
void hearthi_folder_ended(int folder);

#endif
