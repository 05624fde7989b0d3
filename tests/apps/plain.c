/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the applications call of Hearth, for one rank on plain memory.  Loaded
 * before the library it makes each of them the C program that it would be
 * without Hearth, from the same object files, so that their times compare:
 *
 *     LD_PRELOAD=tests/apps/.libs/plain.so ./hearth-sor
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

enum { PAGE = 4096 };

#undef hearth_init

void
hearth_init(MPI_Comm comm)
{
    (void)comm;
}

void
hearth_finalize(void)
{
}

int
hearth_rank(void)
{
    return 0;
}

int
hearth_size(void)
{
    return 1;
}

int
hearth_nodes(void)
{
    return 1;
}

void *
hearth_alloc(size_t count, size_t size, hearth_layout layout)
{
    const size_t bytes = (count * size + PAGE - 1) / PAGE * PAGE;
    void        *p = aligned_alloc(PAGE, bytes);

    (void)layout;
    if (p == NULL) {
        perror("plain");
        exit(1);
    }
    return memset(p, 0, bytes);
}

void
hearth_free(void *p)
{
    free(p);
}

int
hearth_home(const void *p)
{
    (void)p;
    return 0;
}

void
hearth_prefetch(const void *p, size_t bytes)
{
    (void)p, (void)bytes;
}

void
hearth_release(const void *p, size_t bytes)
{
    (void)p, (void)bytes;
}

void
hearth_acquire(const void *p, size_t bytes)
{
    (void)p, (void)bytes;
}

void
hearth_barrier(void)
{
}

void
hearth_lock(int lock)
{
    (void)lock;
}

void
hearth_unlock(int lock)
{
    (void)lock;
}

void
hearth_cond_wait(int cond, int lock)
{
    (void)cond;
    (void)lock;
}

void
hearth_cond_broadcast(int cond)
{
    (void)cond;
}

void
hearth_stats_start(void)
{
}

void
hearth_stats_stop(void)
{
}

const char *
hearth_option(const char *name)
{
    return strcmp(name, "page_size") == 0 ? "4k" : "none";
}
