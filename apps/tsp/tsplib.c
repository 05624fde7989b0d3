/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "file.h"
#include "tsplib.h"

enum { VALUE = 256 };

/* What is known of a file while it is read. */
struct reader {
    FILE       *file;
    const char *path;
    char        type[VALUE], weight[VALUE], format[VALUE], name[VALUE];
    long        cities;     /* 0: not known yet */
    bool        has_data;   /* cities or distances were read */
    bool        in_display; /* where to draw cities: of no use here */
};

int32_t
tsp_euclid(const double a[2], const double b[2])
{
    return (int32_t)(hypot(a[0] - b[0], a[1] - b[1]) + 0.5);
}

/* TSPLIB's degrees, with minutes as decimals, in radians; its value of pi. */
static double
geo_radians(double x)
{
    const double degrees = trunc(x);

    return 3.141592 * (degrees + 5 * (x - degrees) / 3) / 180;
}

/* As TSPLIB's GEO, in kilometres. */
static int32_t
tsp_geo(const double a[2], const double b[2])
{
    const double latitude[2] = { geo_radians(a[0]), geo_radians(b[0]) };
    const double q1 = cos(geo_radians(a[1]) - geo_radians(b[1]));
    const double q2 = cos(latitude[0] - latitude[1]);
    const double q3 = cos(latitude[0] + latitude[1]);
    const double c = 0.5 * ((1 + q1) * q2 - (1 - q1) * q3);

    return (int32_t)(6378.388 * acos(fmin(fmax(c, -1), 1)) + 1);
}

static const char *
coordinates_read(const struct reader *r, struct tsp *t)
{
    const bool   geo = strcmp(r->weight, "GEO") == 0;
    const double limit = geo ? 360 : TSP_LONGEST / 4;
    double       at[TSP_CITIES][2];
    bool         seen[TSP_CITIES] = { false };
    long         city;

    for (long k = 0; k < r->cities; k++) {
        double x, y;

        if (fscanf(r->file, "%ld %lf %lf", &city, &x, &y) != 3)
            return app_file_missing(r->file, r->path, "city", k + 1);
        if (city < 1 || city > r->cities || seen[city - 1])
            return app_file_wrong(r->path, "has a city %ld out of place",
                                  city);
        if (!(fabs(x) <= limit && fabs(y) <= limit))
            return app_file_wrong(r->path, "has city %ld too far away", city);
        seen[city - 1] = true;
        at[city - 1][0] = x;
        at[city - 1][1] = y;
    }
    for (long i = 0; i < r->cities; i++)
        for (long j = 0; j < r->cities; j++)
            if (i != j)
                t->distance[i][j] =
                    geo ? tsp_geo(at[i], at[j]) : tsp_euclid(at[i], at[j]);
    return NULL;
}

/* Row i of a matrix holds columns [*from, *to); false: no such format. */
static bool
row_extent(const struct reader *r, long i, long *from, long *to)
{
    const char *f = r->format;

    *from = 0;
    *to = r->cities;
    if (strcmp(f, "LOWER_DIAG_ROW") == 0)
        *to = i + 1;
    else if (strcmp(f, "LOWER_ROW") == 0)
        *to = i;
    else if (strcmp(f, "UPPER_DIAG_ROW") == 0)
        *from = i;
    else if (strcmp(f, "UPPER_ROW") == 0)
        *from = i + 1;
    else
        return strcmp(f, "FULL_MATRIX") == 0;
    return true;
}

/* A full matrix says each distance twice. */
static const char *
symmetry_check(const struct reader *r, const struct tsp *t)
{
    for (int i = 0; i < r->cities; i++)
        for (int j = 0; j < i; j++)
            if (t->distance[i][j] != t->distance[j][i])
                return app_file_wrong(
                    r->path,
                    "has a distance of %" PRId32 " from city %d to %d and "
                    "of %" PRId32 " back, and is of TYPE TSP: roads of one "
                    "way cannot be solved here",
                    t->distance[j][i], j + 1, i + 1, t->distance[i][j]);
    return NULL;
}

static const char *
weights_read(const struct reader *r, struct tsp *t)
{
    const bool full = strcmp(r->format, "FULL_MATRIX") == 0;
    long       from, to, number = 0;

    for (long i = 0; i < r->cities; i++) {
        if (!row_extent(r, i, &from, &to))
            return app_file_wrong(
                r->path,
                "has EDGE_WEIGHT_FORMAT '%.40s', which is not "
                "understood",
                r->format);
        for (long j = from; j < to; j++) {
            long distance;

            number++;
            if (fscanf(r->file, "%ld", &distance) != 1)
                return app_file_missing(r->file, r->path, "distance", number);
            if (distance < 0 || distance > TSP_LONGEST)
                return app_file_wrong(
                    r->path, "has a distance of %ld, not within 0 and %d",
                    distance, TSP_LONGEST);
            if (i != j)
                t->distance[i][j] = (int32_t)distance;
            if (i != j && !full)
                t->distance[j][i] = (int32_t)distance;
        }
    }
    return full ? symmetry_check(r, t) : NULL;
}

/* Is all said that must be before the data, and is it what can be solved? */
static const char *
header_check(const struct reader *r)
{
    if (strcmp(r->type, "TSP") != 0)
        return app_file_wrong(r->path, "is of TYPE '%.40s', not TSP", r->type);
    if (r->cities == 0)
        return app_file_wrong(r->path, "has data before a DIMENSION");
    if (r->cities < 3 || r->cities > TSP_CITIES)
        return app_file_wrong(r->path,
                              "has %ld cities, 3 to %d can be solved here",
                              r->cities, TSP_CITIES);
    return NULL;
}

static const char *
section_read(const struct reader *r, struct tsp *t, const char *section)
{
    const bool explicit = strcmp(r->weight, "EXPLICIT") == 0;
    const char *why = header_check(r);

    if (why != NULL)
        return why;
    if (strcmp(section, "EDGE_WEIGHT_SECTION") == 0 && explicit)
        return weights_read(r, t);
    if (strcmp(section, "NODE_COORD_SECTION") == 0 &&
        (strcmp(r->weight, "GEO") == 0 || strcmp(r->weight, "EUC_2D") == 0))
        return coordinates_read(r, t);
    return app_file_wrong(
        r->path,
        "has %.40s for EDGE_WEIGHT_TYPE '%.40s', which is not "
        "understood",
        section, r->weight);
}

/* Where a key's value is kept, or NULL if it is of no use. */
static char *
value_place(struct reader *r, const char *key)
{
    if (strcmp(key, "NAME") == 0)
        return r->name;
    if (strcmp(key, "TYPE") == 0)
        return r->type;
    if (strcmp(key, "EDGE_WEIGHT_TYPE") == 0)
        return r->weight;
    return strcmp(key, "EDGE_WEIGHT_FORMAT") == 0 ? r->format : NULL;
}

/* "KEY : value": keep the value if it is one of use. */
static const char *
value_take(struct reader *r, const char *key, const char *value)
{
    char *place = value_place(r, key), *end;

    if (strcmp(key, "DIMENSION") == 0) {
        r->cities = strtol(value, &end, 10);
        if (end == value || *end != '\0' || r->cities < 1)
            return app_file_wrong(r->path, "has DIMENSION '%.40s'", value);
    }
    if (place == NULL)
        return NULL;
    if (strlen(value) >= VALUE)
        return app_file_wrong(r->path,
                              "has a %s of %zu bytes, %d are the most", key,
                              strlen(value), VALUE - 1);
    strcpy(place, value);
    return NULL;
}

/* A line that has no colon: the name of a section, or what it holds. */
static const char *
section_take(struct reader *r, struct tsp *t, const char *line)
{
    const bool is_number = strspn(line, "+-.0123456789") > 0;

    if (r->in_display && is_number)
        return NULL;
    r->in_display = strcmp(line, "DISPLAY_DATA_SECTION") == 0;
    if (r->in_display)
        return NULL;
    if (strcmp(line, "NODE_COORD_SECTION") == 0 ||
        strcmp(line, "EDGE_WEIGHT_SECTION") == 0) {
        r->has_data = true;
        return section_read(r, t, line);
    }
    if (strstr(line, "_SECTION") != NULL)
        return app_file_wrong(r->path, "has %.40s, which is not understood",
                              line);
    if (r->has_data && is_number)
        return app_file_wrong(r->path,
                              "has more than its DIMENSION of %ld: '%.40s'",
                              r->cities, line);
    return app_file_wrong(r->path, "is not a TSPLIB file");
}

/* One line, without its end: true if it is the file's last. */
static bool
line_take(struct reader *r, struct tsp *t, char *line, const char **why)
{
    char *key = app_file_trim(line), *colon = strchr(key, ':');

    if (colon != NULL)
        *colon = '\0';
    key = app_file_trim(key);
    if (strcmp(key, "EOF") == 0)
        return true;
    if (strstr(key, "_SECTION") != NULL || (colon == NULL && *key != '\0'))
        *why = section_take(r, t, key);
    else if (colon != NULL)
        *why = value_take(r, key, app_file_trim(colon + 1));
    return *why != NULL;
}

/* Line by line, which may be of any length, but for sections of data. */
static const char *
file_read(struct reader *r, struct tsp *t)
{
    char       *line = NULL;
    size_t      room = 0;
    const char *why = NULL;

    while (getline(&line, &room, r->file) >= 0)
        if (line_take(r, t, line, &why))
            break;
    free(line);
    if (why != NULL)
        return why;
    if (ferror(r->file))
        return app_file_wrong(r->path, "cannot be read: %s", strerror(errno));
    if (r->type[0] == '\0')
        return app_file_wrong(r->path, "is not a TSPLIB file");
    return r->has_data ? NULL
                       : app_file_wrong(r->path, "ends before the cities");
}

const char *
tsplib_read(struct tsp *t, const char *path)
{
    struct reader r = { .file = fopen(path, "r"), .path = path };
    const char   *why;

    memset(t, 0, sizeof *t);
    if (r.file == NULL)
        return app_file_wrong(r.path, "cannot be read: %s", strerror(errno));
    why = file_read(&r, t);
    fclose(r.file);
    if (why != NULL)
        return why;
    t->cities = (int32_t)r.cities;
    r.name[strcspn(r.name, " \t.")] = '\0';
    snprintf(t->name, sizeof t->name, "%.39s", r.name);
    return NULL;
}
