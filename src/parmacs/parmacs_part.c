/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "parmacs_part.h"

#include <limits.h>
#include <unistd.h>

#include "api/api.h"
#include "base/report.h"
#include "hearth/hearth.h"

struct hearthi_parmacs hearthi_parmacs;

static const char *const initialiser[HEARTHI_NUMBERS] = {
    "LOCKINIT or ALOCKINIT", "PAUSEINIT", "CONDVARINIT"
};

static int64_t  own[HEARTHI_NUMBERS]; /* given in main() */
static int64_t *shared;               /* given in all, from the first CREATE */

void
hearthi_parmacs_after_you(void)
{
    if (hearthi_parmacs_is_rehearsing())
        sleep(1);
}

void
hearthi_parmacs_require(const char *macro)
{
    if (hearthi_parmacs.part == HEARTHI_OUTSIDE)
        hearthi_fatal(macro, "no file of the program says MAIN_ENV, or it is "
                             "after the end of main: use it in between");
    if (!hearthi_parmacs.initenv) {
        hearthi_parmacs_after_you();
        hearthi_fatal(macro, "used before MAIN_INITENV: say that first");
    }
    hearthi_require_thread(macro);
}

void
hearthi_parmacs_numbers_open(void)
{
    shared = hearth_alloc(HEARTHI_NUMBERS, sizeof *shared, hearth_on(0));
    for (int i = 0; i < HEARTHI_NUMBERS; i++)
        own[i] = 0;
}

void
hearthi_parmacs_numbers_share(void)
{
    for (int i = 0; i < HEARTHI_NUMBERS; i++)
        hearth_swap(&shared[i], own[i]);
}

int
hearthi_parmacs_number_new(enum hearthi_numbered what, long n)
{
    int64_t first;

    if (n < 0 || n > INT_MAX)
        hearthi_fatal(initialiser[what], "%ld objects: give at least 0", n);
    if (hearthi_parmacs.part == HEARTHI_TOGETHER) {
        first = hearth_fetch_add(&shared[what], n);
    } else {
        first = own[what];
        own[what] += n;
    }
    if (first + n >= INT_MAX)
        hearthi_fatal(initialiser[what], "more than %d objects", INT_MAX);
    return (int)first + 1;
}

/* A count that was read once is a bound below which all are known. */
void
hearthi_parmacs_number_check(const char *macro, enum hearthi_numbered what,
                             int number)
{
    if (number >= 1 && number <= own[what])
        return;
    if (number >= 1 && hearthi_parmacs.part == HEARTHI_TOGETHER) {
        own[what] = hearth_fetch_add(&shared[what], 0);
        if (number <= own[what])
            return;
    }
    hearthi_parmacs_after_you();
    hearthi_fatal(macro, "%d is not what %s has made: initialise it first",
                  number, initialiser[what]);
}
