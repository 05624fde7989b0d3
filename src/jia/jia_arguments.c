/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The command line of a JIAJIA program, as far as it is jia_init()'s.  It
 * calls nothing of MPI's, so that tests/fuzz can.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "jia_start.h"

/* The n of -Q: a whole number of at least 1. */
static int
hosts_parse(const char *text)
{
    char *end;
    long  n;

    if (text == NULL)
        hearthi_fatal("jia_init", "option -Q without a number: give the "
                                  "number of hosts, as in -Q 4");
    errno = 0;
    n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || n < 1 || n > INT_MAX)
        hearthi_fatal("jia_init",
                      "option -Q %.40s is not a number of hosts: give 1 to "
                      "the number of ranks",
                      text);
    return (int)n;
}

struct hearthi_jia_wish
hearthi_jia_arguments(int argc, char **argv)
{
    struct hearthi_jia_wish wish = { 0, 0 };

    for (int i = 1; argv != NULL && i < argc && argv[i] != NULL; i++) {
        if (strcmp(argv[i], "--") == 0)
            break;
        if (strcmp(argv[i], "-S") == 0)
            wish.omit = 1;
        else if (strcmp(argv[i], "-Q") == 0)
            wish.hosts = hosts_parse(i + 1 < argc ? argv[++i] : NULL);
        else if (strncmp(argv[i], "-Q", 2) == 0)
            wish.hosts = hosts_parse(argv[i] + 2);
    }
    return wish;
}
