/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "geometry.h"

struct reader {
    FILE          *file;
    const char    *path;
    struct sphere *sphere;
    size_t         spheres;
};

/* A comment, if there is one. */
static const char *
comment_skip(const struct reader *r)
{
    int c = getc(r->file);

    if (c != '#') {
        ungetc(c, r->file);
        return NULL;
    }
    while ((c = getc(r->file)) != '#')
        if (c == EOF)
            return app_file_wrong(r->path, "ends within its comment");
    return NULL;
}

static const char *
sphere_read(struct reader *r)
{
    struct sphere *s = &r->sphere[r->spheres];

    if (fscanf(r->file, "%lf %lf %lf %lf", &s->at[0], &s->at[1], &s->at[2],
               &s->radius) != 4)
        return app_file_missing(r->file, r->path, "sphere",
                                (long)r->spheres + 1);
    if (!(fabs(s->at[0]) <= 1e9 && fabs(s->at[1]) <= 1e9 &&
          fabs(s->at[2]) <= 1e9 && s->radius > 0 && s->radius <= 1e9))
        return app_file_wrong(r->path,
                              "has sphere %zu at %g, %g, %g with a radius of "
                              "%g",
                              r->spheres + 1, s->at[0], s->at[1], s->at[2],
                              s->radius);
    r->spheres++;
    return NULL;
}

static const char *
spheres_read(struct reader *r, long count)
{
    void       *more;
    const char *why = NULL;

    if (count < 1 || (size_t)count > GEOMETRY_SPHERES - r->spheres)
        return app_file_wrong(r->path, "has %ld spheres, not 1 to %zu", count,
                              GEOMETRY_SPHERES - r->spheres);
    more =
        realloc(r->sphere, (r->spheres + (size_t)count) * sizeof *r->sphere);
    if (more == NULL)
        return app_file_wrong(r->path, "is too large: %s", strerror(errno));
    r->sphere = more;
    while (why == NULL && count-- > 0)
        why = sphere_read(r);
    return why;
}

/* Behind the word "object". */
static const char *
object_read(struct reader *r)
{
    char   name[40], kind;
    double number;
    long   count;

    if (fscanf(r->file, "%39s", name) != 1)
        return app_file_wrong(r->path, "ends before an object's name");
    for (int i = 0; i < 15; i++)
        if (fscanf(r->file, "%lf", &number) != 1)
            return app_file_missing(r->file, r->path,
                                    "number of an object's surface", i + 1);
    if (fscanf(r->file, " %c %ld", &kind, &count) != 2)
        return app_file_wrong(r->path,
                              "does not say what object %s is made "
                              "of",
                              name);
    if (kind != 's')
        return app_file_wrong(
            r->path, "has object %s of %s: only spheres are traced", name,
            kind == 't'   ? "triangles"
            : kind == 'p' ? "polygons"
                          : "an unknown kind");
    return spheres_read(r, count);
}

static const char *
objects_read(struct reader *r)
{
    char        word[16];
    const char *why = comment_skip(r);

    while (why == NULL && fscanf(r->file, "%15s", word) == 1)
        why = strcmp(word, "object") == 0
                  ? object_read(r)
                  : app_file_wrong(r->path,
                                   "is no geometry file of SPLASH-2: "
                                   "'%s' is not 'object'",
                                   word);
    if (why == NULL && ferror(r->file))
        return app_file_wrong(r->path, "cannot be read: %s", strerror(errno));
    return why == NULL && r->spheres == 0
               ? app_file_wrong(r->path, "has no spheres")
               : why;
}

/* Fit them into a cube about the origin. */
static void
spheres_fit(const struct reader *r)
{
    const double edge = 1.9 * SCENE_HALF;
    double       low[3], high[3], most = 0;

    for (int d = 0; d < 3; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
        for (size_t i = 0; i < r->spheres; i++) {
            const struct sphere *s = &r->sphere[i];

            low[d] = fmin(low[d], s->at[d] - s->radius);
            high[d] = fmax(high[d], s->at[d] + s->radius);
        }
        most = fmax(most, high[d] - low[d]);
    }
    for (size_t i = 0; i < r->spheres; i++) {
        for (int d = 0; d < 3; d++)
            r->sphere[i].at[d] =
                (r->sphere[i].at[d] - (low[d] + high[d]) / 2) * edge / most;
        r->sphere[i].radius *= edge / most;
    }
}

const char *
geometry_read(struct sphere **sphere, size_t *spheres, const char *path)
{
    struct reader r = { .file = fopen(path, "r"), .path = path };
    const char   *why;

    if (r.file == NULL)
        return app_file_wrong(path, "cannot be read: %s", strerror(errno));
    why = objects_read(&r);
    fclose(r.file);
    if (why == NULL)
        spheres_fit(&r);
    *sphere = r.sphere;
    *spheres = r.spheres;
    return why;
}
