/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "parmacs_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/report.h"
#include "collective.h"
#include "parmacs_part.h"

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
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
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
