/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "parmacs_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/api.h"
#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/option.h"
#include "base/report.h"
#include "collective.h"
#include "hearth/hearth.h"
#include "hearth/parmacs.h"
#include "home/home.h"
#include "page/page.h"
#include "parmacs_part.h"
#include "parmacs_private.h"
#include "space/foreign.h"
#include "space/heap.h"

enum {
    CHUNK = 1 << 20, /* bytes for small objects */
    LARGE = CHUNK / 4,
    ALIGNMENT = 16
};

struct chunk {
    struct chunk              *next;
    struct hearthi_allocation *a;
    char                      *at;
    size_t                     bytes;
};

static struct chunk *chunks;
static char  *small; /* free bytes of the last chunk for small objects */
static size_t small_left;

static void
privately(const struct chunk *c)
{
    if (mmap(c->at, c->bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        hearthi_fatal("G_MALLOC", "no private memory of %zu bytes (%s)",
                      c->bytes, strerror(errno));
}

/* Main() is the same everywhere, or should be. */
static void
agree(size_t bytes)
{
    static const char *const name[HEARTHI_ARGS] = {
        "size of what main() allocates before CREATE"
    };
    const uint64_t args[HEARTHI_ARGS] = { bytes };

    hearthi_args_check("G_MALLOC", name, args);
}

static char *
chunk_new(size_t bytes)
{
    struct chunk *c = malloc(sizeof *c);

    if (c == NULL)
        hearthi_fatal("G_MALLOC", "no memory");
    agree(bytes);
    c->a = hearthi_alloc_take(
        bytes, 1, &(struct hearthi_placing){ .layout = hearth_block() });
    c->at = hearthi_app(c->a->page);
    c->bytes = c->a->pages << hearthi_heap.shift;
    c->next = chunks;
    chunks = c;
    if (hearthi_parmacs.rank == 0)
        hearthi_alloc_place(c->a);
    else {
        hearthi_foreign_allow(true);
        privately(c);
    }
    return c->at;
}

void
hearthi_parmacs_memory_share(void)
{
    uint64_t page;

    for (struct chunk *c = chunks; c != NULL && hearthi_parmacs.rank > 0;
         c = c->next) {
        page = c->a->page;
        hearthi_parmacs_pointers_look(c->at, c->bytes);
        if (hearthi_heap_show(page, c->a->pages, page, PROT_NONE) != 0)
            hearthi_fatal("CREATE", "the heap at %p cannot be mapped again",
                          (void *)c->at);
        hearthi_alloc_place(c->a);
    }
    hearthi_foreign_allow(false);
}

void
hearthi_parmacs_memory_close(void)
{
    struct chunk *next;

    for (; chunks != NULL; chunks = next) {
        next = chunks->next;
        free(chunks);
    }
    small_left = 0;
}

static void *
before_create(size_t bytes)
{
    char *p;

    if (bytes >= LARGE)
        return chunk_new(bytes);
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes > small_left) {
        small = chunk_new(CHUNK);
        small_left = CHUNK;
    }
    p = small;
    small += bytes;
    small_left -= bytes;
    return p;
}

static void
size_check(const char *macro, size_t bytes)
{
    hearthi_parmacs_require(macro);
    if (bytes > 0 && bytes <= hearthi_opt.heap)
        return;
    hearthi_parmacs_after_you();
    hearthi_fatal(macro,
                  "%zu bytes: give at least 1, and no more than the heap of "
                  "%zu MiB (HEARTH_HEAP)",
                  bytes, hearthi_opt.heap >> 20);
}

void *
parmacs_malloc(size_t bytes)
{
    HEARTHI_UNCANCELLED;

    size_check("G_MALLOC", bytes);
    return hearthi_parmacs.part == HEARTHI_ALONE ? before_create(bytes)
                                                 : hearth_malloc(bytes);
}

/* More processes than there are share ranks. */
void *
parmacs_malloc_on(size_t bytes, long process)
{
    HEARTHI_UNCANCELLED;

    size_check("NU_MALLOC", bytes);
    if (process < 0)
        hearthi_fatal("NU_MALLOC", "process %ld does not exist", process);
    return hearthi_parmacs.part == HEARTHI_ALONE
               ? before_create(bytes)
               : hearth_malloc_on(bytes,
                                  (int)(process % hearthi_parmacs.size));
}

/* What main() has allocated before CREATE stays. */
void
parmacs_free(void *p)
{
    HEARTHI_UNCANCELLED;

    hearthi_parmacs_require("G_FREE");
    for (const struct chunk *c = chunks; c != NULL; c = c->next)
        if ((size_t)((char *)p - c->at) < c->bytes)
            return;
    if (p != NULL)
        hearth_free(p);
}

/* ---- input ---- */

static int output = -1; /* the standard output, while nothing goes there */

static ssize_t
read_again(char *at, size_t size)
{
    ssize_t n;

    do
        n = read(STDIN_FILENO, at, size);
    while (n < 0 && errno == EINTR);
    return n;
}

/* All ranks run the same main(), so they come here together. */
static ssize_t
read_together(char *at, size_t size)
{
    int64_t n = 0;

    if (hearthi_parmacs.rank == 0)
        n = read_again(at, size);
    hearthi_collective_bcast(&n, sizeof n, 0, hearthi_parmacs.comm);
    if (n > 0)
        hearthi_collective_bcast(at, (size_t)n, 0, hearthi_parmacs.comm);
    return (ssize_t)n;
}

static ssize_t
input_read(void *unused, char *at, size_t size)
{
    (void)unused;
    if (hearthi_parmacs.part == HEARTHI_ALONE)
        return read_together(at, size);
    return hearthi_parmacs.rank == 0 ? read_again(at, size) : 0;
}

void
hearthi_parmacs_input_open(void)
{
    FILE *together;
    int   nowhere;

    if (hearthi_parmacs.size == 1)
        return;
    together =
        fopencookie(NULL, "r", (cookie_io_functions_t){ .read = input_read });
    if (together == NULL)
        hearthi_fatal("MAIN_ENV", "no memory for the standard input");
    stdin = together;
    if (hearthi_parmacs.rank == 0)
        return;
    nowhere = hearthi_descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (nowhere >= 0 && output >= 0)
        dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}

void
hearthi_parmacs_input_close(void)
{
    if (output < 0)
        return;
    fflush(stdout);
    dup2(output, STDOUT_FILENO);
    close(output);
    output = -1;
}
