/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to the command line of a JIAJIA program (fuzz.sh).  The
 * input is words with blanks between them, of any number; a line ends the job,
 * or there are as many hosts as an int holds.  Tmk_startup() reads none of its
 * arguments.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "fuzz.h"
#include "jia/jia_start.h"

enum { WORDS = 64 };

static jmp_buf ended;

_Noreturn void
hearthi_fatal(const char *call, const char *fmt, ...)
{
    char    line[256];
    va_list ap;

    va_start(ap, fmt);
    must(vsnprintf(line, sizeof line, fmt, ap) < (int)sizeof line);
    va_end(ap);
    must(strcmp(call, "jia_init") == 0 && strncmp(line, "option -Q", 9) == 0);
    longjmp(ended, 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = malloc(len + 1), *rest = text, *word[WORDS + 1];
    int   n = 0;

    must(text != NULL);
    memcpy(text, data, len);
    text[len] = '\0';
    while (n < WORDS && (word[n] = strsep(&rest, " ")) != NULL)
        n++;
    word[n] = NULL;
    if (setjmp(ended) == 0) {
        struct hearthi_jia_wish wish = hearthi_jia_arguments(n, word);

        must(wish.hosts >= 0 && (wish.omit == 0 || wish.omit == 1));
    }
    free(text);
    return 0;
}
