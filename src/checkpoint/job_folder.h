/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The folders that this job has open and locked, for rank 0: the one that the
 * run goes on from (HEARTH_RESTART), until the run ends, and the one that its
 * checkpoints go to, which in most runs is the same.  A lock of fcntl(2) is
 * lost when the process closes any descriptor of the file, so no folder is
 * opened twice, by whatever name.
 */
#ifndef HEARTHI_CHECKPOINT_JOB_FOLDER_H
#define HEARTHI_CHECKPOINT_JOB_FOLDER_H

#include <stdint.h>

#include "folder.h"

enum { HEARTHI_FOLDER_PATH = 4096 };

/* The name of a folder for all ranks, whatever their working folders are: in
 * rank 0's, or, for what an option has said, in that of its hearth_init().  0,
 * or an errno. */
void hearthi_job_folder_open(void);
int  hearthi_job_folder_path(const char *where, bool from_option,
                             char path[HEARTHI_FOLDER_PATH]);

/* The folder for a checkpoint.  It is made anew if the one that was used under
 * this name was moved away or removed.  Ends the job, by its name `where`, if
 * another job has it or it is of another program. */
int hearthi_job_folder_use(const char *path, const char *where,
                           const struct hearthi_folder **f);

/* The one that the run goes on from, as hearthi_folder_open() left it. */
void hearthi_job_folder_give(const struct hearthi_folder *f);

/* The run has started from a number there, so many times in a row; 0: it has
 * come to a checkpoint, or to its end. */
void hearthi_job_folder_started(uint64_t number, unsigned times);
void hearthi_job_folder_ended(void);

void hearthi_job_folder_close(void);

#endif
