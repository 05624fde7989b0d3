/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "initial.h"

struct reader {
    FILE        *file;
    const char  *path;
    struct body *body;
    long         bodies;
};

static const char *
header_read(struct reader *r, long most)
{
    long   dimensions;
    double time;

    if (fscanf(r->file, "%ld", &r->bodies) != 1)
        return ferror(r->file)
                   ? app_file_wrong(r->path, "cannot be read: %s",
                                    strerror(errno))
                   : app_file_wrong(r->path, "does not begin with the number "
                                             "of bodies");
    if (r->bodies < 1 || r->bodies > most)
        return app_file_wrong(r->path, "has %ld bodies, not 1 to %ld",
                              r->bodies, most);
    if (fscanf(r->file, "%ld", &dimensions) != 1 || dimensions != 3)
        return app_file_wrong(r->path, "has no 3 for the dimensions");
    if (fscanf(r->file, "%lf", &time) != 1)
        return app_file_wrong(r->path, "has no valid time");
    r->body = calloc((size_t)r->bodies, sizeof *r->body);
    return r->body != NULL
               ? NULL
               : app_file_wrong(r->path, "is too large: %s", strerror(errno));
}

/* So many numbers that belong together. */
static const char *
numbers_read(const struct reader *r, const char *what, long number, double *to,
             int count)
{
    for (int d = 0; d < count; d++)
        if (fscanf(r->file, "%lf", &to[d]) != 1 || !isfinite(to[d]))
            return app_file_missing(r->file, r->path, what, number);
    return NULL;
}

static const char *
bodies_read(const struct reader *r)
{
    const char *why = NULL;

    for (long i = 0; why == NULL && i < r->bodies; i++) {
        why = numbers_read(r, "mass", i + 1, &r->body[i].mass, 1);
        if (why == NULL && !(r->body[i].mass > 0))
            why = app_file_wrong(r->path, "has a mass of %g for body %ld",
                                 r->body[i].mass, i + 1);
    }
    for (long i = 0; why == NULL && i < r->bodies; i++)
        why = numbers_read(r, "place of body", i + 1, r->body[i].x, 3);
    for (long i = 0; why == NULL && i < r->bodies; i++)
        why = numbers_read(r, "velocity of body", i + 1, r->body[i].v, 3);
    return why;
}

const char *
initial_read(struct body **body, long *bodies, long most, const char *path)
{
    struct reader r = { .file = fopen(path, "r"), .path = path };
    const char   *why;

    if (r.file == NULL)
        return app_file_wrong(path, "cannot be read: %s", strerror(errno));
    why = header_read(&r, most);
    if (why == NULL)
        why = bodies_read(&r);
    fclose(r.file);
    *body = r.body;
    *bodies = r.bodies;
    return why;
}
