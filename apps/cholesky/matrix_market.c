/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "file.h"
#include "matrix.h"

/* "matrix coordinate real symmetric", in any case. */
static const char *
header_read(struct entries *e, const char *path, char *line)
{
    char object[16], format[16], field[16], symmetry[32];

    for (char *c = line; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    if (sscanf(line, "%15s %15s %15s %31s", object, format, field, symmetry) !=
            4 ||
        strcmp(object, "matrix") != 0)
        return app_file_wrong(path, "is no matrix of Matrix Market");
    if (strcmp(format, "coordinate") != 0)
        return app_file_wrong(path, "has the format '%s', not coordinate",
                              format);
    e->pattern = strcmp(field, "pattern") == 0;
    if (!e->pattern && strcmp(field, "real") != 0 &&
        strcmp(field, "integer") != 0 && strcmp(field, "double") != 0)
        return app_file_wrong(
            path, "has '%s' numbers, not real, integer or pattern", field);
    if (strcmp(symmetry, "symmetric") != 0)
        return app_file_wrong(path, "is '%s', not symmetric", symmetry);
    return NULL;
}

/* The first line that is no comment: three numbers. */
static const char *
size_read(struct entries *e, FILE *file, const char *path)
{
    char line[1024], *text;
    long rows, columns, entries;

    do {
        if (fgets(line, sizeof line, file) == NULL)
            return app_file_wrong(path, "ends before the size");
        text = app_file_trim(line);
    } while (*text == '\0' || *text == '%');
    if (sscanf(text, "%ld %ld %ld", &rows, &columns, &entries) != 3)
        return app_file_wrong(path, "has no valid size: '%.40s'", text);
    return entries_open(e, path, rows, columns, entries);
}

const char *
matrix_market_read(struct entries *e, FILE *file, const char *path, char *line)
{
    const char *why = header_read(e, path, line);

    if (why == NULL)
        why = size_read(e, file, path);
    for (long k = 1; why == NULL && k <= e->room; k++) {
        long   row, column;
        double value = 0;

        if (fscanf(file, "%ld %ld", &row, &column) != 2 ||
            (!e->pattern && fscanf(file, "%lf", &value) != 1))
            return app_file_missing(file, path, "entry", k);
        why = entries_add(e, path, row, column, value);
    }
    return why;
}
