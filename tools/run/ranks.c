/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The launcher's option that says how many ranks there are, as `-n 4`, `-n4`
 * or
 * `--ntasks=4`: the first that stands among its arguments.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* A number that is all of a text, or 0. */
static long
number_of(const char *text)
{
    char *end;
    long  n;

    if (text == NULL || *text < '1' || *text > '9')
        return 0;
    n = strtol(text, &end, 10);
    return *end == '\0' && n <= MOST_RANKS ? n : 0;
}

/* The argument that has the number, and where it begins there; NULL: there is
 * none. */
static char **
place_find(char **launcher, const char *option, size_t *at)
{
    size_t n = strlen(option);

    for (char **word = launcher + 1; *word != NULL; word++) {
        if (strncmp(*word, option, n) != 0)
            continue;
        *at = 0;
        if ((*word)[n] == '\0' && number_of(word[1]) > 0)
            return word + 1;
        *at = (*word)[n] == '=' ? n + 1 : n;
        if (number_of(*word + *at) > 0)
            return word;
    }
    return NULL;
}

long
ranks_find(char **launcher, const char *option)
{
    size_t at;
    char **word = place_find(launcher, option, &at);

    return word == NULL ? 0 : number_of(*word + at);
}

bool
ranks_replace(char **launcher, const char *option, long ranks)
{
    size_t at;
    char **word = place_find(launcher, option, &at);
    char  *made;

    if (word == NULL || asprintf(&made, "%.*s%ld", (int)at, *word, ranks) < 0)
        return false;
    *word = made; /* until the process ends */
    return true;
}
