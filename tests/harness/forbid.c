/* SPDX-License-Identifier: BSD-2-Clause
 *
 * forbid COMMAND [ARG...] -- run a command where userfaultfd is forbidden.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forbid.h"

int
main(int argc, char **argv)
{
    if (argc < 2 || !forbid(SYS_userfaultfd, 0, EPERM)) {
        fprintf(stderr, "forbid: no command, or no filter can be set\n");
        return 77;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
