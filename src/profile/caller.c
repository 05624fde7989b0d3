/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "caller.h"

#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include "base/format.h"
#include "base/thread.h"

/* A run of code of one file. */
struct module {
    uintptr_t   low, high, base;
    const char *path;
    bool        program;
};

enum { WORDS = 256 };

static struct {
    struct module in[HEARTHI_MODULES];
    size_t        n;
    uintptr_t     low, high; /* of all that is the program's */
} m;

static bool
name_begins(const char *path, const char *const *begin, size_t n)
{
    const char *name = hearthi_base_name(path);

    for (size_t i = 0; i < n; i++)
        if (strncmp(name, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

/* By the beginnings of their names: the run-time libraries under a program. */
static bool
is_system(const char *path)
{
    static const char *const begin[] = {
        "libhearth",   "libc.",      "libc-",       "libm.",     "libm-",
        "ld-",         "libpthread", "libmpi",      "libopen-",  "libpmix",
        "libprrte",    "libuc",      "libfabric",   "libstdc++", "libgcc_s",
        "libgfortran", "libpython",  "linux-vdso",  "libasan",   "libtsan",
        "libubsan",    "mca_",       "libfakeroot", "librt",     "libdl",
        "python",
    };

    return name_begins(path, begin, sizeof begin / sizeof *begin);
}

static void
code_add(const struct dl_phdr_info *info, const ElfW(Phdr) * h,
         const char                *path)
{
    struct module *to = &m.in[m.n];

    if (m.n == HEARTHI_MODULES || path == NULL)
        return;
    to->base = info->dlpi_addr;
    to->low = info->dlpi_addr + h->p_vaddr;
    to->high = to->low + h->p_memsz;
    to->path = path;
    to->program = !is_system(path);
    if (to->program) {
        m.low = m.low == 0 || to->low < m.low ? to->low : m.low;
        m.high = to->high > m.high ? to->high : m.high;
    }
    m.n++;
}

static char *
own_path(void)
{
    char    path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n < 0)
        return NULL;
    path[n] = '\0';
    return strdup(path);
}

static int
module_add(struct dl_phdr_info *info, size_t size, void *first)
{
    char *path = info->dlpi_name[0] != '\0' ? strdup(info->dlpi_name)
                 : *(bool *)first           ? own_path()
                                            : NULL;

    (void)size;
    *(bool *)first = false;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            (info->dlpi_phdr[i].p_flags & PF_X))
            code_add(info, &info->dlpi_phdr[i], path);
    return 0;
}

/* Paths of an earlier start stay: places may name them. */
void
hearthi_caller_open(void)
{
    bool first = true;

    m.n = 0;
    m.low = m.high = 0;
    dl_iterate_phdr(module_add, &first);
}

static const struct module *
module_of(uintptr_t at)
{
    for (size_t i = 0; i < m.n; i++)
        if (at - m.in[i].low < m.in[i].high - m.in[i].low)
            return &m.in[i];
    return NULL;
}

int
hearthi_caller_is_program(uintptr_t at)
{
    const struct module *in =
        at - m.low < m.high - m.low ? module_of(at) : NULL;

    return in != NULL && in->program;
}

const char *
hearthi_caller_module(uintptr_t at, uint64_t *in_file)
{
    const struct module *in = module_of(at);

    *in_file = in == NULL ? at : at - in->base;
    return in == NULL ? NULL : in->path;
}

void
hearthi_caller_path_keep(char *to, size_t room, const char *path)
{
    size_t n = strlen(path);

    if (n < room)
        memcpy(to, path, n + 1);
    else
        snprintf(to, room, "...%s", path + n - (room - 4));
}

/* Does a call end here?  Where that is not known any word of the stack that
 * points to code is taken. */
static bool
follows_call(uintptr_t at)
{
#if defined(__x86_64__)
    const unsigned char *p = (const unsigned char *)at;

    if (p[-5] == 0xe8)
        return true;
    for (int n = 2; n <= 7; n++)
        if (p[-n] == 0xff && (p[-n + 1] & 0x38) == 0x10)
            return true;
    return false;
#else
    (void)at;
    return true;
#endif
}

/* The stack is read by a call of the kernel: it may end before as many words
 * do. */
uintptr_t
hearthi_caller_at(uintptr_t at, const void *stack)
{
    uintptr_t    word[WORDS];
    struct iovec to = { word, sizeof word };
    struct iovec from = { (void *)((uintptr_t)stack & ~(sizeof *word - 1)),
                          sizeof word };
    ssize_t      n;

    if (m.n == 0 || hearthi_caller_is_program(at))
        return at;
    n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    for (size_t i = 0; n > 0 && i < (size_t)n / sizeof *word; i++)
        if (hearthi_caller_is_program(word[i]) &&
            hearthi_caller_is_program(word[i] - 7) && follows_call(word[i]))
            return word[i] - 1;
    return at;
}

static _Unwind_Reason_Code
frame_look(struct _Unwind_Context *c, void *found)
{
    uintptr_t at = _Unwind_GetIP(c) - 1;

    if (!hearthi_caller_is_program(at))
        return _URC_NO_REASON;
    *(uintptr_t *)found = at;
    return _URC_NORMAL_STOP;
}

uintptr_t
hearthi_caller_here(void)
{
    uintptr_t found = 0;

    _Unwind_Backtrace(frame_look, &found);
    return found;
}

/* ---- whose thread it is ---- */

/* An interpreter is what the program runs in; and these have threads of their
 * own, which call nothing of the program's but for a thread of it. */
static bool
is_server(const char *path)
{
    static const char *const program[] = { "libpython", "python" };
    static const char *const server[] = {
        "libevent", "libhwloc",       "libgomp",   "libomp",      "libiomp",
        "libpsm",   "libibverbs",     "librdmacm", "libopenblas", "libtbb",
        "libcuda",  "libhsa-runtime", "libamdhip", "libze_"
    };

    if (name_begins(path, program, sizeof program / sizeof *program))
        return false;
    return is_system(path) ||
           name_begins(path, server, sizeof server / sizeof *server);
}

struct words {
    const uintptr_t *at;
    size_t           n;
    bool             first, found;
};

static bool
any_returns_to(const struct words *w, uintptr_t low, uintptr_t size)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i] - 7 - low < size - 7 && follows_call(w->at[i]))
            return true;
    return false;
}

/* The program's own name is empty. */
static int
words_look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct words *w = data;
    bool          program = w->first;

    (void)size;
    w->first = false;
    if (!program && is_server(info->dlpi_name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum && !w->found; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];

        if (h->p_type == PT_LOAD && (h->p_flags & PF_X) && h->p_memsz > 7)
            w->found =
                any_returns_to(w, info->dlpi_addr + h->p_vaddr, h->p_memsz);
    }
    return w->found;
}

/* It is the program that a page fault interrupts. */
static bool
is_in_fault(const uintptr_t *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (word[i] == (uintptr_t)&hearthi_fault_stack_mark)
            return true;
    return false;
}

static enum hearthi_caller_of
kind_of(const uintptr_t *word, size_t n)
{
    struct words w = { word, n, true, false };

    if (n == 0)
        return HEARTHI_CALLER_UNKNOWN;
    if (!is_in_fault(word, n)) {
        dl_iterate_phdr(words_look, &w);
        if (!w.found)
            return HEARTHI_CALLER_SERVES;
    }
    return HEARTHI_CALLER_PROGRAMS;
}

/* No library calls deeper, but for page faults, whose stacks are no larger. */
enum hearthi_caller_of
hearthi_caller_of(int thread)
{
    enum { ROOM = 256 << 10 };
    uintptr_t             *word = malloc(ROOM);
    enum hearthi_caller_of of = HEARTHI_CALLER_UNKNOWN;

    if (word != NULL)
        of = kind_of(word,
                     hearthi_task_stack(thread, word, ROOM / sizeof *word));
    free(word);
    return of;
}
