/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Holds of ranges that nobody has to use: they change nothing of what is read,
 * whoever writes what there meanwhile, and the kernel finds them present when
 * they begin and when they end, some steps, barriers or epochs later.
 */
#include <config.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "random.h"
#include "watch.h"

/* Of the main thread.  Each is of two pages at most, and of the smallest cache
 * eight can be held. */
enum { HELD = 3, HELD_BYTES = 4096 };

static struct held {
    const unsigned char *p; /* NULL: none */
    size_t               bytes;
    int                  how;
} held[HELD];

/* A system call without the C library: nothing stands in front of it. */
static void
kernel_reads(const struct actor *a, const struct held *h)
{
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("holds", MFD_CLOEXEC);
    if (syscall(SYS_pwrite64, fd, h->p, h->bytes, 0L) != (long)h->bytes)
        world_fail(a, "%zu bytes at %p (home %d), held as %d, are not here",
                   h->bytes, (const void *)h->p, hearth_home(h->p), h->how);
}

static void
held_end(const struct actor *a, struct held *h)
{
    kernel_reads(a, h);
    hearth_drop(h->p, h->bytes, h->how);
    h->p = NULL;
}

static void
held_begin(struct actor *a, struct held *h)
{
    const struct arena *arena = &a->w->arena[draw(&a->random, ARENAS)];
    size_t              from, most;

    if (arena->base == NULL)
        return;
    from = draw(&a->random, arena->bytes);
    most = arena->bytes - from < HELD_BYTES ? arena->bytes - from : HELD_BYTES;
    h->p = arena->base + from;
    h->bytes = 1 + draw(&a->random, most);
    h->how = 1 + (int)draw(&a->random, HEARTH_READ | HEARTH_WRITE);
    hearth_hold(h->p, h->bytes, h->how);
    tally_add(TALLY_HOLDS, 1);
    kernel_reads(a, h);
}

void
step_hold(struct actor *a)
{
    struct held *h = &held[draw(&a->random, HELD)];

    if (h->p != NULL)
        held_end(a, h);
    else
        held_begin(a, h);
}

void
holds_leave(struct world *w, const struct arena *arena)
{
    struct actor a = { .w = w };

    for (int i = 0; i < HELD; i++)
        if (held[i].p >= arena->base && held[i].p < arena->base + arena->bytes)
            held_end(&a, &held[i]);
}
