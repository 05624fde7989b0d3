/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "thread.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "descriptor.h"
#include "min.h"

const char hearthi_fault_stack_mark;

bool
hearthi_tasks_each(bool (*look)(int thread, void *to), void *to)
{
    DIR           *all = hearthi_folder_to_read(AT_FDCWD, "/proc/self/task");
    struct dirent *one;
    bool           go_on = all != NULL;

    while (go_on && (one = readdir(all)) != NULL)
        if (one->d_name[0] != '.')
            go_on = look(atoi(one->d_name), to);
    if (all != NULL)
        closedir(all);
    return go_on;
}

/* "running", "-1 0xSP 0xPC", or "NUMBER 0xARGUMENT... 0xSP 0xPC": the system
 * call in which a thread is blocked.  False if it is in none, or if that
 * cannot be known. */
static bool
call_read(int thread, char *line, size_t room)
{
    char    path[64];
    int     fd;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    fd = hearthi_descriptor(open(path, O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return false;
    n = read(fd, line, room - 1);
    close(fd);
    line[n > 0 ? n : 0] = '\0';
    return strchr(line, ' ') != NULL;
}

/* Where its stack ends, or 0. */
static uintptr_t
stack_pointer(int thread)
{
    char line[256], *at;

    if (!call_read(thread, line, sizeof line))
        return 0;
    *strrchr(line, ' ') = '\0';
    at = strrchr(line, ' ');
    return at == NULL ? 0 : (uintptr_t)strtoull(at, NULL, 16);
}

/* Behind a thread's stack lies what the C library keeps of it, which begins
 * with two pointers to itself here; elsewhere it is read, too. */
static size_t
stack_end(const uintptr_t *word, size_t n, uintptr_t base)
{
#if defined(__x86_64__)
    for (size_t i = 0; i + 2 < n; i++)
        if (word[i] == base + i * sizeof *word && word[i + 2] == word[i])
            return i;
#else
    (void)word, (void)base;
#endif
    return n;
}

/* By a call of the kernel, and page by page: what lies behind a stack may not
 * be there. */
size_t
hearthi_task_stack(int thread, uintptr_t *word, size_t room)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t       base = stack_pointer(thread) & ~(sizeof *word - 1);
    size_t          have = 0, bytes = room * sizeof *word;

    while (base != 0 && have < bytes) {
        size_t piece = hearthi_min(page - (base + have) % page, bytes - have);
        struct iovec to = { (char *)word + have, piece };
        struct iovec from = { (void *)(base + have), piece };

        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)piece)
            break;
        have += piece;
    }
    return stack_end(word, have / sizeof *word, base);
}

/* ---- threads that wait for the end of others ---- */

static bool
is_task(unsigned long long thread)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%llu", thread);
    return access(path, F_OK) == 0;
}

/* The C library (glibc) waits for a word that has the other thread's number,
 * until the kernel clears it, which it does when that thread ends.  A mutex
 * has no such number alone in its word.  One with a time goes on by itself;
 * the word is not private, since the kernel would not wake a private one. */
bool
hearthi_task_joins(int thread)
{
    enum { ADDRESS, HOW, VALUE, TIME, ARGUMENTS };
    unsigned long long arg[ARGUMENTS], how;
    char               line[256];
    int                number;

    if (!call_read(thread, line, sizeof line) ||
        sscanf(line, "%d %llx %llx %llx %llx", &number, &arg[ADDRESS],
               &arg[HOW], &arg[VALUE], &arg[TIME]) != 1 + ARGUMENTS ||
        number != SYS_futex)
        return false;
    how = arg[HOW] & ~(unsigned long long)FUTEX_CLOCK_REALTIME;
    return (how == FUTEX_WAIT || how == FUTEX_WAIT_BITSET) && arg[TIME] == 0 &&
           (int)arg[VALUE] != thread && arg[VALUE] > 0 &&
           is_task(arg[VALUE] & UINT32_MAX);
}

/* ---- threads that block signals ---- */

bool
hearthi_task_blocks_faults(int thread, char name[HEARTHI_TASK_NAME])
{
    const unsigned long long faults =
        1ULL << (SIGSEGV - 1) | 1ULL << (SIGBUS - 1);
    char path[64], text[HEARTHI_LINE];

    snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
    if (!hearthi_file_line(path, "SigBlk:", text) ||
        (strtoull(text, NULL, 16) & faults) == 0 ||
        !hearthi_file_line(path, "Name:\t", text))
        return false;
    snprintf(name, HEARTHI_TASK_NAME, "%.*s", HEARTHI_TASK_NAME - 1, text);
    return true;
}
