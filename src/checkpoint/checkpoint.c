/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A checkpoint, step by step:
 *
 *   1  what ranks freed of each other's objects goes to the owners, and two
 *      barriers bring all stores home: after the second no rank has a store
 *      that is not in a home frame, and no object is on its way
 *   2  rank 0 makes a folder of a name that does not count, and tells it
 *   3  each rank writes its file there, and has it on the disk
 *   4  rank 0 hears that all have, writes the meta file, which has length and
 *      checksum of each, and renames the folder to its number
 *   5  all hear what became of it, and go on
 *
 * Until the rename the folder has the checkpoints that it had: so one that is
 * interrupted anywhere is as if it had never begun; and what is renamed is on
 * the disk.  No rank leaves step 5 before all have written, so nothing that is
 * stored later is in a file.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/file_write.h"
#include "base/option.h"
#include "base/report.h"
#include "checkpoint.h"
#include "cluster.h"
#include "coherence/coherence.h"
#include "collective.h"
#include "folder.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "job_folder.h"
#include "malloc/arena_map.h"
#include "malloc/malloc_image.h"
#include "node/lock_numbers.h"
#include "space/heap.h"
#include "transport/transport.h"
#include "world.h"

enum { TAG = 27000 };

static const struct hearthi_folder *folder; /* rank 0: of the last one */

void
hearthi_checkpoint_open(void)
{
    if (hearthi_opt.checkpoint_keep < 1)
        hearthi_fatal("hearth_init", "HEARTH_CHECKPOINT_KEEP=0 keeps no "
                                     "checkpoint: give 1 at least");
    if (hearthi_world.rank == 0)
        hearthi_job_folder_open();
    hearthi_checkpoint_due_begin();
}

void
hearthi_checkpoint_close(void)
{
    hearthi_checkpoint_due_end();
    hearthi_job_folder_close();
    hearthi_registered_close();
}

/* ---- what ranks tell each other ---- */

/* Of rank 0, to all. */
struct begun {
    int      failed;
    uint64_t number;
    char     name[HEARTHI_NEW_NAME];
    char     path[HEARTHI_FOLDER_PATH]; /* of the folder */
};

/* Of each rank. */
struct written {
    int64_t                   failed;
    struct hearthi_image_file file;
};

static void
all_tell(void *at, size_t bytes)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Ibcast(at, (int)bytes, MPI_BYTE, 0, hearthi_cluster.comm,
                           &request));
    hearthi_requests_wait(&request, 1);
}

static void
all_gather(const struct written *mine, struct written *all)
{
    const struct hearthi_collective_way way = { "hearth_checkpoint",
                                                hearthi_cluster.comm, TAG,
                                                hearthi_requests_wait };

    hearthi_collective_gather_by(&way, mine, sizeof *mine, all);
}

/* ---- rank 0: the folder ---- */

/* `where` is as the call or the option has it. */
static void
folder_begin(const char *where, bool from_option, struct begun *b)
{
    b->failed = hearthi_job_folder_path(where, from_option, b->path);
    if (b->failed == 0)
        b->failed = hearthi_job_folder_use(b->path, where, &folder);
    if (b->failed == 0)
        b->failed = hearthi_folder_begin(folder, &b->number, b->name);
}

/* ---- every rank: its file ---- */

/* The folder, and the one in it, may be seen a little later than by rank 0:
 * the file's open waits for that (image.c). */
static int
rank_write(const struct begun *b, struct written *mine)
{
    struct hearthi_image_writer w = { .fd = -1 };
    char                        name[HEARTHI_RANK_NAME];
    char path[HEARTHI_FOLDER_PATH + HEARTHI_NEW_NAME + HEARTHI_RANK_NAME];
    int  failed;

    hearthi_rank_name((uint64_t)hearthi_world.rank, name);
    snprintf(path, sizeof path, "%s/%s/%s", b->path, b->name, name);
    failed = hearthi_image_create(&w, AT_FDCWD, path);
    if (failed == 0)
        failed = hearthi_save_rank(&w);
    return hearthi_image_finish(&w, failed, &mine->file);
}

/* ---- rank 0: the end ---- */

static void
head_fill(struct hearthi_meta_head *h, uint64_t number)
{
    *h = (struct hearthi_meta_head){
        .magic = HEARTHI_META_MAGIC,
        .format = HEARTHI_META_FORMAT,
        .number = number,
        .seconds = (uint64_t)time(NULL),
        .ranks = (uint64_t)hearthi_world.size,
        .nodes = (uint64_t)hearthi_world.nodes,
        .base = (uint64_t)(uintptr_t)hearthi_heap.base,
        .heap =
            hearthi_heap.bytes - (hearthi_heap.arena << hearthi_heap.shift),
        .page = hearthi_heap.page,
        .arenas = hearthi_heap.arena,
        .arena = hearthi_arena_map.each >> hearthi_heap.shift,
        .arena_count = (uint64_t)hearthi_arena_map.arenas,
        .arena_words = hearthi_arena_map_words(),
        .locks = (uint64_t)hearthi_lock_numbers_end(),
        .locks_on = hearthi_lock_numbers_is_on(),
        .built = hearthi_program_built(),
        .version = HEARTH_VERSION,
    };
    hearthi_program_name(h->program);
}

static int
meta_write(const struct begun *b, const struct written *all)
{
    size_t                   n = (size_t)hearthi_world.size;
    struct hearthi_word_list w = { 0 };
    struct hearthi_meta      m = { .file = calloc(n, sizeof *m.file) };
    int                      fd, failed;

    if (m.file == NULL)
        return ENOMEM;
    head_fill(&m.head, b->number);
    for (size_t r = 0; r < n; r++) {
        m.file[r] = all[r].file;
        m.head.data += all[r].file.bytes;
    }
    hearthi_save_allocations(&w);
    m.words = w.word;
    m.head.words = w.n;
    fd = hearthi_descriptor(
        openat(folder->fd, b->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    failed = fd < 0 ? errno : hearthi_meta_write(&m, fd);
    if (fd >= 0)
        close(fd);
    free(m.file);
    free(w.word);
    return failed;
}

static int
folder_finish(const struct begun *b, const struct written *all)
{
    int failed = meta_write(b, all);

    if (failed == 0)
        failed = hearthi_folder_commit(folder, b->name, b->number);
    if (failed == 0)
        hearthi_folder_prune(folder->fd, hearthi_opt.checkpoint_keep,
                             HEARTHI_LENGTHS);
    return failed;
}

/* ---- all of it ---- */

static void
trouble_tell(const char *where, const struct begun *b, int rank, int failed)
{
    char number[40] = "a checkpoint";

    if (b->number > 0)
        snprintf(number, sizeof number, "number %" PRIu64, b->number);
    if (rank == hearthi_world.rank)
        hearthi_warn("hearth_checkpoint",
                     "%s of the folder %s could not be written: %s; the run "
                     "goes on, and "
                     "the next call tries again",
                     number, where, hearthi_file_write_error(failed));
}

/* The first rank that failed, or -1. */
static int
failed_first(const struct written *all)
{
    for (int r = 0; r < hearthi_world.size; r++)
        if (all[r].failed != 0)
            return r;
    return -1;
}

/* Rank 0: all ranks have written their files, or at least one has not. */
static void
all_finish(struct begun *b, const struct written *all, bool whole)
{
    if (whole)
        b->failed = folder_finish(b, all);
    hearthi_checkpoint_progress_end();
    if (!whole || b->failed != 0)
        hearthi_folder_abandon(folder, b->name);
}

static bool
files_make(const char *where, struct begun *b)
{
    struct written *all = calloc((size_t)hearthi_world.size, sizeof *all);
    struct written  mine = { 0 };
    int             first;

    if (all == NULL)
        hearthi_fatal("hearth_checkpoint", "no memory");
    if (hearthi_world.rank == 0)
        hearthi_checkpoint_progress_begin(where, b->number);
    mine.failed = rank_write(b, &mine);
    hearthi_checkpoint_progress_note(mine.file.bytes, true);
    all_gather(&mine, all);
    first = failed_first(all);
    if (hearthi_world.rank == 0)
        all_finish(b, all, first < 0);
    all_tell(&b->failed, sizeof b->failed);
    if (first >= 0)
        trouble_tell(where, b, first, (int)all[first].failed);
    else if (b->failed != 0)
        trouble_tell(where, b, 0, b->failed);
    free(all);
    return first < 0 && b->failed == 0;
}

static void
all_settle(void)
{
    hearthi_malloc_empty();
    hearthi_barrier(false);
    hearthi_malloc_empty();
    hearthi_barrier(false);
}

bool
hearthi_checkpoint_make(const char *where)
{
    struct begun b = { 0 };
    bool         from_option = where == NULL, made;

    if (from_option)
        where = hearthi_opt.checkpoint.text;
    all_settle();
    if (hearthi_world.rank == 0)
        folder_begin(where, from_option, &b);
    all_tell(&b, sizeof b);
    if (b.failed != 0)
        trouble_tell(where, &b, 0, b.failed);
    made = b.failed == 0 && files_make(where, &b);
    if (made && from_option && hearthi_world.rank == 0)
        hearthi_job_folder_started(0, 0);
    hearthi_checkpoint_due_again(made, where, b.number);
    return made;
}
