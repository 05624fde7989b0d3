/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "file.h"

enum { PATH = 256, WHY = 200 };

const char *
app_file_wrong(const char *path, const char *format, ...)
{
    static char problem[PATH + WHY + 2];
    char        why[WHY];
    va_list     args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    snprintf(problem, sizeof problem, "%.*s %s", PATH, path, why);
    return problem;
}

const char *
app_file_missing(FILE *file, const char *path, const char *what, long number)
{
    if (ferror(file))
        return app_file_wrong(path, "cannot be read: %s", strerror(errno));
    if (feof(file))
        return app_file_wrong(path, "ends before %s %ld", what, number);
    return app_file_wrong(path, "has no valid %s %ld", what, number);
}

char *
app_file_trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}
