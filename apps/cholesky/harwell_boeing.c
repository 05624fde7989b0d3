/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers stand in columns, as a format of Fortran says, without blanks
 * between them where they are wide.
 */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "matrix.h"

enum { LINE = 256, FIELD = 64 };

/* So many fields in a line, each so wide, the last so many digits of which are
 * behind the point if there is none. */
struct format {
    long count, width, digits;
};

struct reader {
    FILE         *file;
    const char   *path;
    struct format format;
    char          line[LINE];
    long          field; /* the next one of the line */
    char          text[FIELD];
};

static bool
line_read(struct reader *r)
{
    r->field = 0;
    if (fgets(r->line, LINE, r->file) == NULL)
        return false;
    r->line[strcspn(r->line, "\r\n")] = '\0';
    return true;
}

/* "(16I5)", "(4D20.12)", "(1P,5E15.8)": count, letter, width and digits. */
static bool
format_parse(struct format *f, const char *text)
{
    char *at = (char *)(uintptr_t)strchr(text, '(');

    if (at == NULL)
        return false;
    f->count = strtol(at + 1, &at, 10);
    while (isspace((unsigned char)*at))
        at++;
    if (toupper((unsigned char)*at) ==
        'P') { /* a factor: not with exponents */
        at++;
        at += strspn(at, " ,");
        f->count = strtol(at, &at, 10);
    }
    if (f->count == 0)
        f->count = 1;
    if (*at == '\0' || strchr("IEDFGiedfg", *at) == NULL)
        return false;
    f->width = strtol(at + 1, &at, 10);
    f->digits = *at == '.' ? strtol(at + 1, &at, 10) : 0;
    at += strspn(at, " ");
    return *at == ')' && f->count > 0 && f->width > 0 && f->width < FIELD &&
           f->count * f->width < LINE && f->digits >= 0;
}

/* A part of a line, without the blanks around it. */
static char *
columns(char to[LINE], const char *line, size_t from, size_t width)
{
    size_t length = strlen(line);

    if (from >= length)
        from = length;
    snprintf(to, LINE, "%.*s", (int)width, line + from);
    return app_file_trim(to);
}

/* The next number's text, or NULL. */
static char *
field_read(struct reader *r)
{
    const struct format *f = &r->format;
    char                 room[LINE], *text;

    if (r->field == f->count && !line_read(r))
        return NULL;
    text = columns(room, r->line, (size_t)(r->field * f->width),
                   (size_t)f->width);
    r->field++;
    snprintf(r->text, FIELD, "%s", text);
    return r->text;
}

/* The numbers of a part begin with a line of their own. */
static void
part_begin(struct reader *r, const struct format *f)
{
    r->format = *f;
    r->field = f->count;
}

static const char *
whole_read(struct reader *r, const char *what, long number, long *to)
{
    char *text = field_read(r), *end;

    if (text == NULL)
        return app_file_missing(r->file, r->path, what, number);
    *to = strtol(text, &end, 10);
    if (end == text || *end != '\0')
        return app_file_wrong(r->path, "has no valid %s %ld: '%.40s'", what,
                              number, text);
    return NULL;
}

/* 1.5D-3 and 1.5-3 are 1.5e-3. */
static const char *
real_read(struct reader *r, long number, double *to)
{
    char        *text = field_read(r), *end, number_text[FIELD + 1];
    const size_t whole = text == NULL ? 0 : strspn(text, "+-0123456789.");
    size_t       sign;

    if (text == NULL)
        return app_file_missing(r->file, r->path, "value", number);
    if (text[whole] != '\0' && strchr("DdEeQq", text[whole]) != NULL)
        text[whole] = 'e';
    sign = strcspn(text + (*text != '\0'), "+-e") + (*text != '\0');
    if (text[sign] == '+' || text[sign] == '-')
        snprintf(number_text, sizeof number_text, "%.*se%s", (int)sign, text,
                 text + sign);
    else
        snprintf(number_text, sizeof number_text, "%s", text);
    *to = strtod(number_text, &end);
    if (end == number_text || *end != '\0' || !isfinite(*to))
        return app_file_wrong(r->path, "has no valid value %ld: '%.40s'",
                              number, text);
    if (strchr(text, '.') == NULL)
        *to /= pow(10, (double)r->format.digits);
    return NULL;
}

/* ---- the parts ---- */

struct header {
    char          type[LINE];
    long          lines_of_values, lines_of_sides, rows, columns, entries;
    struct format pointer, index, value;
};

static bool
number_in(const char *line, size_t from, size_t width, long *to)
{
    char room[LINE], *text = columns(room, line, from, width), *end;

    *to = strtol(text, &end, 10);
    return *end == '\0'; /* blanks are 0 */
}

/* The first three lines after the title: how many lines there are, how many
 * rows and the like, and the formats. */
static bool
lines_parse(struct reader *r, struct header *h)
{
    return line_read(r) && number_in(r->line, 42, 14, &h->lines_of_values) &&
           number_in(r->line, 56, 14, &h->lines_of_sides);
}

static bool
sizes_parse(struct reader *r, struct header *h)
{
    char room[LINE];

    if (!line_read(r))
        return false;
    strcpy(h->type, columns(room, r->line, 0, 3));
    for (char *c = h->type; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    return strlen(h->type) == 3 && number_in(r->line, 14, 14, &h->rows) &&
           number_in(r->line, 28, 14, &h->columns) &&
           number_in(r->line, 42, 14, &h->entries);
}

static bool
formats_parse(struct reader *r, struct header *h)
{
    char room[LINE];

    return line_read(r) &&
           format_parse(&h->pointer, columns(room, r->line, 0, 16)) &&
           format_parse(&h->index, columns(room, r->line, 16, 16)) &&
           (h->type[0] == 'P' ||
            format_parse(&h->value, columns(room, r->line, 32, 20)));
}

/* A fourth line is about right hand sides, if there are any. */
static bool
header_parse(struct reader *r, struct header *h)
{
    return lines_parse(r, h) && sizes_parse(r, h) && formats_parse(r, h) &&
           (h->lines_of_sides == 0 || line_read(r));
}

static const char *
type_check(const struct header *h, const char *path)
{
    if (strchr("RP", h->type[0]) == NULL)
        return app_file_wrong(path, "is of the type %s, not of real numbers",
                              h->type);
    if (h->type[1] != 'S')
        return app_file_wrong(path, "is of the type %s, not symmetric",
                              h->type);
    if (h->type[2] != 'A')
        return app_file_wrong(path, "is of the type %s, not assembled",
                              h->type);
    return NULL;
}

/* pointer[c] to pointer[c + 1] - 1 are the entries of column c. */
static const char *
pointers_read(struct reader *r, const struct header *h, long *pointer)
{
    const char *why;

    part_begin(r, &h->pointer);
    for (long c = 0; c <= h->columns; c++) {
        why = whole_read(r, "pointer", c + 1, &pointer[c]);
        if (why != NULL)
            return why;
        if (c == 0 ? pointer[c] != 1 : pointer[c] < pointer[c - 1])
            return app_file_wrong(r->path, "has %ld for pointer %ld",
                                  pointer[c], c + 1);
    }
    if (pointer[h->columns] - 1 != h->entries)
        return app_file_wrong(r->path, "has %ld entries and pointers to %ld",
                              h->entries, pointer[h->columns] - 1);
    return NULL;
}

static const char *
rows_read(struct reader *r, struct entries *e, const struct header *h,
          const long *pointer)
{
    long        row, k = 0;
    const char *why = NULL;

    part_begin(r, &h->index);
    for (long c = 0; c < h->columns; c++)
        for (; why == NULL && k < pointer[c + 1] - 1; k++) {
            why = whole_read(r, "row", k + 1, &row);
            if (why == NULL)
                why = entries_add(e, r->path, row, c + 1, 0);
        }
    return why;
}

static const char *
values_read(struct reader *r, struct entries *e, const struct header *h)
{
    const char *why = NULL;

    if (e->pattern)
        return NULL;
    part_begin(r, &h->value);
    for (long k = 0; why == NULL && k < h->entries; k++)
        why = real_read(r, k + 1, &e->value[k]);
    return why;
}

const char *
harwell_boeing_read(struct entries *e, FILE *file, const char *path)
{
    struct reader r = { .file = file, .path = path };
    struct header h = { .type = "" };
    const char   *why;
    long         *pointer;

    if (!header_parse(&r, &h))
        return app_file_wrong(path, "is no matrix of Matrix Market, and none "
                                    "of Harwell and Boeing");
    why = type_check(&h, path);
    e->pattern = h.type[0] == 'P' || h.lines_of_values == 0;
    if (why == NULL)
        why = entries_open(e, path, h.rows, h.columns, h.entries);
    if (why != NULL)
        return why;
    pointer = calloc((size_t)h.columns + 1, sizeof *pointer);
    if (pointer == NULL)
        return app_file_wrong(path, "is too large");
    why = pointers_read(&r, &h, pointer);
    if (why == NULL)
        why = rows_read(&r, e, &h, pointer);
    if (why == NULL)
        why = values_read(&r, e, &h);
    free(pointer);
    return why;
}
