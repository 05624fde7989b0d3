/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/dlsym_next.h"
#include "base/report.h"
#include "cluster.h"
#include "heap.h"
#include "segment.h"

/* One line of /proc/self/maps:
 * 7f0000000000-7f0000001000 rw-s 00000000 00:01 1025    /memfd:... */
struct mapping {
    char    *at, *end;
    bool     shared;
    uint64_t device, inode; /* inode 0: no file */
};

struct lines {
    int    fd;
    size_t have, next;
    char   text[16384];
};

/* Of the cached frames, and of each rank of the node. */
static struct {
    int             n;
    bool            allow;
    struct mapping *own;
} f;

/* ---- the kernel's lines ---- */

static bool
lines_open(struct lines *l)
{
    l->have = l->next = 0;
    l->fd = hearthi_descriptor(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
    return l->fd >= 0;
}

/* What is left of the text goes to the front, and more comes behind. */
static bool
lines_fill(struct lines *l)
{
    ssize_t n;

    l->have -= l->next;
    memmove(l->text, l->text + l->next, l->have);
    l->next = 0;
    if (l->have == sizeof l->text)
        return false;
    n = read(l->fd, l->text + l->have, sizeof l->text - l->have);
    if (n > 0)
        l->have += (size_t)n;
    return n > 0;
}

static uint64_t
number_read(const char **at, unsigned base)
{
    uint64_t n = 0;

    for (;; ++*at) {
        unsigned c = (unsigned char)**at;
        unsigned digit = c - '0' < 10u          ? c - '0'
                         : (c | 32u) - 'a' < 6u ? (c | 32u) - 'a' + 10
                                                : base;

        if (digit >= base)
            return n;
        n = n * base + digit;
    }
}

/* Every line ends in a newline, where each of these stops. */
static void
line_read(const char *at, struct mapping *m)
{
    m->at = (char *)(uintptr_t)number_read(&at, 16);
    at++;
    m->end = (char *)(uintptr_t)number_read(&at, 16);
    m->shared = at[0] == ' ' && at[4] == 's';
    at += sizeof " rw-s" - 1;
    at += *at == ' ';
    number_read(&at, 16); /* offset */
    at += *at == ' ';
    m->device = number_read(&at, 16) << 32;
    at += *at == ':';
    m->device |= number_read(&at, 16);
    at += *at == ' ';
    m->inode = number_read(&at, 10);
}

static bool
lines_next(struct lines *l, struct mapping *m)
{
    char *end;

    while ((end = memchr(l->text + l->next, '\n', l->have - l->next)) == NULL)
        if (!lines_fill(l))
            return false;
    line_read(l->text + l->next, m);
    l->next = (size_t)(end - l->text) + 1;
    return true;
}

/* ---- Hearth's own files ---- */

static const char *
own_at(int i)
{
    return i == 0 ? hearthi_heap.cached : hearthi_segments.base[i - 1];
}

/* Without all of them nothing can be said. */
void
hearthi_foreign_open(void)
{
    const int      n = 1 + hearthi_cluster.node_size;
    struct lines   l;
    struct mapping m;

    f.own = calloc((size_t)n, sizeof *f.own);
    f.allow = false;
    f.n = f.own != NULL ? n : 0;
    if (f.n == 0 || !lines_open(&l))
        return;
    while (lines_next(&l, &m))
        for (int i = 0; i < n; i++)
            if (m.at <= own_at(i) && own_at(i) < m.end)
                f.own[i] = m;
    close(l.fd);
}

void
hearthi_foreign_close(void)
{
    free(f.own);
    f.own = NULL;
    f.n = 0;
}

void
hearthi_foreign_allow(bool allow)
{
    f.allow = allow;
}

static bool
own_are_known(void)
{
    for (int i = 0; i < f.n; i++)
        if (f.own[i].inode == 0)
            return false;
    return f.n > 0;
}

static bool
is_own(const struct mapping *m)
{
    for (int i = 0; i < f.n && m->shared; i++)
        if (m->inode == f.own[i].inode && m->device == f.own[i].device)
            return true;
    return false;
}

/* ---- what lies over the heap ---- */

struct part {
    char *at, *end;
    bool  is_hole; /* nothing is mapped there */
};

static char *
lesser(char *a, char *b)
{
    return a < b ? a : b;
}

/* Lines come in the order of addresses, and the stack's behind the heap's.
 * Each takes two to three microseconds: a heap in 55,000 pieces took a tenth
 * of a second, and hearth_finalize() half a second and more.  The kernel lets
 * a process have 65,530 mappings, unless it is told otherwise. */
static bool
find(struct lines *l, struct part *part)
{
    char *const    last = hearthi_heap.base + hearthi_heap.bytes;
    char          *at = hearthi_heap.base;
    struct mapping m;

    for (int n = 0;
         n < HEARTHI_FOREIGN_MAPPINGS && at < last && lines_next(l, &m); n++) {
        if (m.end <= at)
            continue;
        if (m.at > at)
            *part = (struct part){ at, lesser(m.at, last), true };
        else if (!is_own(&m))
            *part = (struct part){ at, lesser(m.end, last), false };
        if (m.at > at || !is_own(&m))
            return true;
        at = m.end;
    }
    return false;
}

void
hearthi_foreign_check(const char *call)
{
    struct lines l;
    struct part  part = { NULL, NULL, false };
    bool         found;

    if (f.allow || !own_are_known() || !lines_open(&l))
        return;
    found = find(&l, &part);
    close(l.fd);
    if (found && part.is_hole)
        hearthi_fatal(call,
                      "the heap is no longer mapped at %p to %p: the program "
                      "or a library has called munmap() or mremap() there, "
                      "and what was stored there was lost; hearth_free() "
                      "gives memory back",
                      (void *)part.at, (void *)part.end);
    if (found)
        hearthi_fatal(call,
                      "the program has mapped something else over the heap at "
                      "%p to %p (mmap with MAP_FIXED, shmat with SHM_REMAP): "
                      "what was stored there was lost, and no other rank saw "
                      "it; let the system choose the address, or copy to the "
                      "heap",
                      (void *)part.at, (void *)part.end);
}

/* ---- how many mappings there may be ---- */

enum {
    EVERY = 10000000
}; /* nanoseconds: for which a program maps thousands */

/* For as long as the process lives. */
static char *
three_pages(size_t page)
{
    static char *at;
    char        *got;

    if (at != NULL)
        return at;
    got = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got != MAP_FAILED)
        at = got;
    return at;
}

static bool
split_and_mend(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char  *at = three_pages(page);

    if (at == NULL || hearthi_mprotect(at + page, page, PROT_READ) != 0)
        return errno != ENOMEM;
    hearthi_mprotect(at + page, page, PROT_NONE);
    return true;
}

bool
hearthi_maps_may_grow(void)
{
    static uint64_t next;
    uint64_t        now = hearthi_now();

    if (now < next)
        return true;
    next = now + EVERY;
    return split_and_mend();
}
