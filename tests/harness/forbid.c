/* SPDX-License-Identifier: BSD-2-Clause
 *
 * forbid [CALL...] COMMAND [ARG...] -- run a command where calls of the kernel
 * are forbidden: those of the table that are named, or userfaultfd.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forbid.h"

static const struct {
    const char *name;
    int         number;
} calls[] = {
    { "userfaultfd", SYS_userfaultfd },
    { "process_vm_readv", SYS_process_vm_readv },
    { "memfd_create", SYS_memfd_create },
};

/* -1 if it names no call. */
static int
number_of(const char *word)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(word, calls[i].name) == 0)
            return calls[i].number;
    return -1;
}

int
main(int argc, char **argv)
{
    char **word = argv + 1;
    bool   set = true;

    for (; *word != NULL && number_of(*word) >= 0; word++)
        set = set && forbid(number_of(*word), 0, EPERM);
    if (word == argv + 1)
        set = forbid(SYS_userfaultfd, 0, EPERM);
    if (argc < 2 || *word == NULL || !set) {
        fprintf(stderr, "forbid: no command, or no filter can be set\n");
        return 77;
    }
    execvp(*word, word);
    perror(*word);
    return 127;
}
