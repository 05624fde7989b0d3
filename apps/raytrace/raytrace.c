/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture of mirroring spheres, by tracing rays.
 *
 * Problem: n x n pixels of a flake of 7381 spheres on a plane, or of the
 * spheres of a file (geometry.h), with two lights and up to four mirrors on
 * the way of a ray.
 *
 * Source: Raytrace of SPLASH-2 (Woo et al., The SPLASH-2 Programs, ISCA 1995),
 * whose scene balls4 is such a flake.  As there, rays go through a uniform
 * grid, which is there in levels; a rank begins with a part of the
 * picture, in tiles of n x n pixels, and steals others when it has none. There
 * is no lock for a number of each ray, of which SPLASH-2 itself makes no use.
 *
 * Sharing: the scene, which rank 0 has made and all read, so that a node
 * fetches it once; the picture, tile after tile, at home with the ranks that
 * begin with them; the queues of tiles, each with a lock (tasks.h), which are
 * what moves when ranks have become idle.
 *
 * Limit: the last tiles, and the scene, of which a node fetches nearly all.
 */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "geometry.h"
#include "scene.h"
#include "tasks.h"
#include "trace.h"

static long        edge, tile, levels;
static const char *input;

static const struct app_option options[] = {
    APP_NUMBER('n', "edge", &edge, 512, 128, 1, 1 << 15,
               "pixels of each edge of the picture"),
    APP_NUMBER('t', "tile", &tile, 8, 8, 1, 1 << 10,
               "pixels of each edge of a tile"),
    APP_NUMBER('l', "levels", &levels, 4, 3, 0, SCENE_MOST_LEVELS,
               "levels of spheres on spheres, if there is no file"),
    APP_TEXT('f', "input", &input, NULL, NULL,
             "a geometry file of SPLASH-2, of spheres"),
};

/* Tiles along an edge. */
static long
tiles_across(void)
{
    return (edge + tile - 1) / tile;
}

static size_t
tile_pixels(void)
{
    return (size_t)(tile * tile);
}

/* The kernel: the pixels of a tile; those beyond the edge are 0. */
static void
tile_trace(const struct scene *s, int64_t number, uint32_t *pixel)
{
    const long left = number % tiles_across() * tile;
    const long top = number / tiles_across() * tile;

    for (long y = top; y < top + tile; y++)
        for (long x = left; x < left + tile; x++, pixel++)
            *pixel = x < edge && y < edge ? trace_pixel(s, x, y, edge) : 0;
}

/* Rank 0: of the file. */
static struct sphere *sphere;
static size_t         spheres;

/* What rank 0 knows, on all. */
static size_t
number_share(struct app_run *run, size_t number)
{
    return (size_t)app_max(run, run->rank == 0 ? (double)number : 0);
}

/* A scene in the heap, which rank 0 fills: how large it is, rank 0 finds
 * out. */
static struct scene
scene_share(struct app_run *run)
{
    const size_t n =
        number_share(run, input != NULL ? spheres : scene_spheres(levels));
    struct scene own = {
        .sphere = app_private(run, n, sizeof *own.sphere),
        .start = app_private(run, SCENE_ALL_CELLS + 1, sizeof *own.start),
    };
    struct scene s = {
        .sphere = app_alloc(run, n, sizeof *s.sphere, hearth_on(0)),
        .start =
            app_alloc(run, SCENE_ALL_CELLS + 1, sizeof *s.start, hearth_on(0)),
    };
    size_t length = 0;

    if (run->rank == 0 && input != NULL)
        memcpy(own.sphere, sphere, n * sizeof *sphere);
    else if (run->rank == 0)
        scene_flake(&own, levels);
    if (run->rank == 0)
        length = scene_grid(&own, n);
    length = number_share(run, length);
    s.list = app_alloc(run, length + 1, sizeof *s.list, hearth_on(0));
    if (run->rank == 0) {
        memcpy(s.sphere, own.sphere, n * sizeof *s.sphere);
        scene_grid(&s, n);
    }
    free(own.start);
    free(own.sphere);
    hearth_barrier();
    return s;
}

static void
scene_free(struct scene *s)
{
    hearth_free(s->list);
    hearth_free(s->start);
    hearth_free(s->sphere);
}

/* A rank's tiles: those that are at home with it. */
static void
tiles_deal(struct tasks *t, const uint32_t *picture, size_t tiles)
{
    size_t from, to;

    app_home_rows(t->run, picture, tiles, tile_pixels() * sizeof *picture,
                  &from, &to);
    while (to > from)
        tasks_push(t, t->run->rank, (int64_t)--to);
}

static void
picture_trace(struct app_run *run, struct tasks *t, const struct scene *s,
              uint32_t *picture)
{
    int64_t number;

    while (tasks_take(t, &number)) {
        tile_trace(s, number, &picture[(size_t)number * tile_pixels()]);
        app_progress(run, "tile", t->taken,
                     tiles_across() * tiles_across() / run->ranks);
    }
}

/* Rank 0: the picture is that of a sequential run. */
static void
picture_verify(struct app_run *run, const struct scene *s,
               const uint32_t *picture, size_t tiles)
{
    uint32_t *want = app_private(run, tile_pixels(), sizeof *want);
    size_t    wrong = 0;

    app_sequential_start(run);
    for (size_t i = 0; i < tiles; i++) {
        tile_trace(s, (int64_t)i, want);
        wrong += memcmp(want, &picture[i * tile_pixels()],
                        tile_pixels() * sizeof *want) != 0;
    }
    app_sequential_stop(run);
    app_verdict(run, wrong == 0, "%zu of %zu tiles differ", wrong, tiles);
    free(want);
}

/* The sum of all, which tells pictures from each other. */
static uint64_t
picture_sum(const uint32_t *picture, size_t pixels)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < pixels; i++)
        sum += picture[i];
    return sum;
}

static void
raytrace_run(struct app_run *run)
{
    const size_t tiles = (size_t)(tiles_across() * tiles_across());
    const size_t pixels = tiles * tile_pixels();
    struct scene s = scene_share(run);
    struct tasks t;
    uint32_t    *picture =
        app_alloc(run, pixels, sizeof *picture, hearth_block());
    double stolen;

    tasks_open(&t, run, tiles);
    app_start(run);
    tiles_deal(&t, picture, tiles);
    hearth_barrier();
    picture_trace(run, &t, &s, picture);
    app_stop(run);

    if (run->verify && run->rank == 0)
        picture_verify(run, &s, picture, tiles);
    stolen = app_max(run, (double)t.stolen);
    if (run->rank == 0)
        app_field(run, "spheres=%zu steals=%.0f sum=%" PRIu64,
                  input != NULL ? spheres : scene_spheres(levels), stolen,
                  picture_sum(picture, pixels));
    app_barrier(run);
    tasks_close(&t);
    hearth_free(picture);
    scene_free(&s);
    free(sphere);
}

static const char *
raytrace_check(const struct app_run *run)
{
    (void)run;
    if (tile > edge)
        return "--tile is more than --edge";
    if (input == NULL)
        return NULL;
    levels = 0;
    return geometry_read(&sphere, &spheres, input);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "raytrace",
        .about = "A picture of mirroring spheres, by tracing rays.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = raytrace_check,
        .run = raytrace_run,
    };

    return app_main(&app, argc, argv);
}
