/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that cannot be, but for those that allocate.
 */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "badinput.h"

/* What HEARTH_STATS=json:FOLDER/FILE was given at start is no more. */
static void
stats_folder_goes(void)
{
    char *file = strdup(strchr(getenv("HEARTH_STATS"), ':') + 1);

    *strrchr(file, '/') = '\0';
    if (me == 0 && rmdir(file) != 0)
        perror("badinput: rmdir");
    free(file);
}

static void
lock_negative(void)
{
    if (me == last)
        hearth_lock(-1);
}

static void
lock_too_large(void)
{
    if (me == last)
        hearth_lock(1 << 30);
}

/* The others are not in MPI, and will not be. */
static void
others_compute(void)
{
    if (me == last)
        hearth_lock(1 << 30);
    sleep(1000);
}

static void
trylock_too_large(void)
{
    if (me == last)
        hearth_trylock(INT_MAX);
}

static void
unlock_too_large(void)
{
    if (me == last)
        hearth_unlock(1 << 30);
}

static void
unlock_not_held_far(void)
{
    if (me == last)
        hearth_unlock(100000);
}

static void
lock_held_already_by_address(void)
{
    int lock = hearth_lock_of((const void *)(uintptr_t)0x1234);

    hearth_lock(lock);
    hearth_lock(lock);
}

static void
lock_of_null(void)
{
    if (me == last)
        hearth_lock_of(NULL);
}

static void
locks_too_many(void)
{
    for (int i = 0; i < 100000; i++)
        hearth_lock_of((const void *)(uintptr_t)(1 + i));
}

static void
unlock_not_held(void)
{
    if (me == last)
        hearth_unlock(12);
}

static void
unlock_of_another(void)
{
    if (me == 0)
        hearth_lock(12);
    hearth_barrier();
    if (me == last)
        hearth_unlock(12);
}

static void
lock_held_already(void)
{
    if (me == last) {
        hearth_lock(12);
        hearth_lock(12);
    }
}

static void
flag_too_large(void)
{
    if (me == last)
        hearth_flag_set(HEARTH_FLAGS);
}

static void
flag_negative(void)
{
    if (me == last)
        hearth_flag_wait(-5);
}

static void
cond_too_large(void)
{
    if (me == last)
        hearth_cond_signal(HEARTH_CONDS);
}

static void
cond_without_lock(void)
{
    if (me == last)
        hearth_cond_wait(3, 7);
}

static void
rwlock_too_large(void)
{
    if (me == last)
        hearth_tryrdlock(HEARTH_RWLOCKS);
}

static void
rwlock_negative(void)
{
    if (me == last)
        hearth_rwunlock(-3);
}

static void
rwunlock_not_held(void)
{
    if (me == last)
        hearth_rwunlock(13);
}

static void
rwlock_of_another(void)
{
    if (me == 0)
        hearth_rdlock(13);
    hearth_barrier();
    if (me == last)
        hearth_rwunlock(13);
}

static void
rdlock_held(void)
{
    if (me == last) {
        hearth_rdlock(13);
        hearth_wrlock(13);
    }
}

static void
wrlock_held(void)
{
    if (me == last) {
        hearth_wrlock(13);
        hearth_tryrdlock(13);
    }
}

static void
barrier_in_section(void)
{
    if (me == last)
        hearth_lock(3);
    hearth_barrier();
}

static void
release_beyond(void)
{
    hearth_release(page_new(), 2 * page_bytes());
}

static void
acquire_outside(void)
{
    static int64_t word;

    page_new();
    hearth_acquire(&word, sizeof word);
}

static void
prefetch_private(void)
{
    char byte = 0;

    hearth_prefetch(&byte, 1);
}

static void
node_of_none(void)
{
    hearth_node_of(last + 1);
}

static void
cluster_of_none(void)
{
    hearth_cluster_of(-1);
}

static void
offset_of_private(void)
{
    char byte = 0;

    hearth_offset(&byte);
}

static void
resized_of_alloc(void)
{
    hearth_realloc(page_new(), 2 * page_bytes());
}

static void
init_twice(void)
{
    hearth_init(MPI_COMM_WORLD);
}

static void
after_finalize(void)
{
    hearth_finalize();
    hearth_lock(1);
}

static void
finalize_twice(void)
{
    hearth_finalize();
    hearth_finalize();
}

static void
mpi_finalize_first(void)
{
    MPI_Finalize();
}

static void
nothing(void)
{
    char *p = page_new();

    p[me] = 1;
    hearth_barrier();
}

const struct badinput badinput_calls[] = {
    BADINPUT(stats_folder_goes),
    BADINPUT(lock_negative),
    BADINPUT(lock_too_large),
    BADINPUT(others_compute),
    BADINPUT(trylock_too_large),
    BADINPUT(unlock_too_large),
    BADINPUT(unlock_not_held),
    BADINPUT(unlock_of_another),
    BADINPUT(unlock_not_held_far),
    BADINPUT(lock_held_already_by_address),
    BADINPUT(lock_of_null),
    BADINPUT(locks_too_many),
    BADINPUT(lock_held_already),
    BADINPUT(flag_too_large),
    BADINPUT(flag_negative),
    BADINPUT(barrier_in_section),
    BADINPUT(cond_too_large),
    BADINPUT(cond_without_lock),
    BADINPUT(rwlock_too_large),
    BADINPUT(rwlock_negative),
    BADINPUT(rwunlock_not_held),
    BADINPUT(rwlock_of_another),
    BADINPUT(rdlock_held),
    BADINPUT(wrlock_held),
    BADINPUT(release_beyond),
    BADINPUT(acquire_outside),
    BADINPUT(prefetch_private),
    BADINPUT(node_of_none),
    BADINPUT(cluster_of_none),
    BADINPUT(offset_of_private),
    BADINPUT(resized_of_alloc),
    BADINPUT(init_twice),
    BADINPUT(after_finalize),
    BADINPUT(finalize_twice),
    BADINPUT(mpi_finalize_first),
    BADINPUT(nothing),
    { 0 },
};
