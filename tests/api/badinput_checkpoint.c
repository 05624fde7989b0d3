/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Checkpoints that cannot be.  None comes to make a folder.
 */
#include "badinput.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static long own;

static void
saved_in_a_section(void)
{
    if (me == last)
        hearth_lock(3);
    hearth_checkpoint("/tmp/hearth-none/none");
}

static void
saved_while_read(void)
{
    if (me == last)
        hearth_rdlock(3);
    hearth_checkpoint("/tmp/hearth-none/none");
}

static void
saved_while_written(void)
{
    if (me == last)
        hearth_wrlock(4);
    hearth_checkpoint("/tmp/hearth-none/none");
}

static void
saved_while_held(void)
{
    void *p = page_new();

    if (me == last)
        hearth_hold(p, 8, HEARTH_READ);
    hearth_checkpoint("/tmp/hearth-none/none");
}

static void
saved_elsewhere(void)
{
    hearth_checkpoint(me == last ? "/tmp/hearth-none/a"
                                 : "/tmp/hearth-none/b");
}

static void
name_taken(void)
{
    if (me != last)
        return;
    hearth_checkpoint_add(&own, sizeof own, "own");
    hearth_checkpoint_add(&own, sizeof own, "own");
}

static void
name_with_slash(void)
{
    if (me == last)
        hearth_checkpoint_add(&own, sizeof own, "a/b");
}

/* One more than may be, behind as many as may be. */
static void
name_too_long(void)
{
    char name[65] = "";

    memset(name, 'n', 63);
    if (me != last)
        return;
    hearth_checkpoint_add(&own, sizeof own, name);
    hearth_checkpoint_remove(name);
    name[63] = 'm';
    hearth_checkpoint_add(&own, sizeof own, name);
}

static void
registered_heap(void)
{
    void *p = page_new();

    if (me == last)
        hearth_checkpoint_add(p, 8, "own");
}

static void
name_unknown(void)
{
    if (me == last)
        hearth_checkpoint_remove("own");
}

static void
read_unrestarted(void)
{
    if (me == last)
        hearth_checkpoint_read(0, "own", &own, sizeof own);
}

/* One that cannot be written is no error: a line, and the run goes on. */
static void
saved_nowhere(void)
{
    if (hearth_checkpoint("/tmp/hearth-none/none") ||
        !hearth_checkpoint_done() || !hearth_checkpoint_wait() ||
        hearth_restarted() != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Nor is one whose file is larger than any may be. */
static void
saved_beyond_limit(void)
{
    static char   many[1 << 20];
    struct rlimit most;
    const char   *folder = getenv("BADINPUT_FOLDER");

    if (me == last) {
        hearth_checkpoint_add(many, sizeof many, "many");
        getrlimit(RLIMIT_FSIZE, &most);
        most.rlim_cur = 64 << 10;
        setrlimit(RLIMIT_FSIZE, &most);
    }
    if (folder == NULL || hearth_checkpoint(folder))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

const struct badinput badinput_checkpoints[] = {
    BADINPUT(saved_in_a_section),  BADINPUT(saved_while_held),
    BADINPUT(saved_elsewhere),     BADINPUT(saved_nowhere),
    BADINPUT(saved_beyond_limit),  BADINPUT(saved_while_read),
    BADINPUT(saved_while_written), BADINPUT(name_taken),
    BADINPUT(name_with_slash),     BADINPUT(name_too_long),
    BADINPUT(registered_heap),     BADINPUT(name_unknown),
    BADINPUT(read_unrestarted),    { 0 },
};
