/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <string.h>

#include "room.h"

enum { SAMPLES = 4, ALL_SAMPLES = SAMPLES * SAMPLES };

static double
dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A face of a box, seen from outside or from inside. */
static struct patch
box_face(const struct box *box, int face, bool inside)
{
    const int    axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const bool   high = face % 2 == 1;
    struct patch p = { .reflects = 0.3 + 0.1 * face };

    memcpy(p.piece.at, box->low, sizeof p.piece.at);
    if (high)
        p.piece.at[axis] = box->high[axis];
    p.piece.edge[0][u] = box->high[u] - box->low[u];
    p.piece.edge[1][v] = box->high[v] - box->low[v];
    p.piece.area = p.piece.edge[0][u] * p.piece.edge[1][v];
    p.normal[axis] = high == inside ? -1 : 1;
    return p;
}

/* Boxes on the floor, four in a row; their sizes are random. */
static struct box
box_place(int number)
{
    struct box box = { .low = { 0.1 + 0.22 * (number % 4),
                                0.1 + 0.3 * (number / 4), 0.01 } };

    for (int d = 0; d < 3; d++) {
        const double random = app_random((uint64_t)(3 * number + d));

        box.high[d] = box.low[d] + 0.08 + (d == 2 ? 0.4 : 0.1) * random;
    }
    return box;
}

/* The faces of the walls lie between those of the boxes: they are the largest
 * ones, and each rank is to have some. */
void
room_make(struct room *room)
{
    static const struct box walls = { { 0, 0, 0 }, { 1, 1, 1 } };
    static const struct box lamp = { { 0.4, 0.4, 0.9 }, { 0.6, 0.6, 0.95 } };
    int                     next = 0;

    for (int b = 0; b < ROOM_BOXES; b++)
        room->box[b] = b == 0 ? lamp : box_place(b);
    for (int f = 0; f < ROOM_FACES; f++) {
        room->patch[next++] = box_face(&walls, f, true);
        for (int i = 0; i < ROOM_BOXES; i++) {
            const int     number = f * ROOM_BOXES + i;
            struct patch *p = &room->patch[next++];

            *p = box_face(&room->box[number / ROOM_FACES], number % ROOM_FACES,
                          false);
            if (number == 4) /* the lower face of the lamp */
                p->emits = 50;
        }
    }
}

int
room_level(int32_t element)
{
    int level = 0;

    for (; element > 0; element = (element - 1) / 4)
        level++;
    return level;
}

struct piece
room_piece(const struct patch *p, int32_t element)
{
    struct piece piece = p->piece;
    double       place[2] = { 0, 0 }, part = 1;

    /* from the element up: each step halves what is known so far */
    for (; element > 0; element = (element - 1) / 4) {
        const int k = (element - 1) % 4;

        part /= 2;
        place[0] = (place[0] + (k & 1)) / 2;
        place[1] = (place[1] + (k >> 1)) / 2;
    }
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 2; e++) {
            piece.at[d] += place[e] * p->piece.edge[e][d];
            piece.edge[e][d] *= part;
        }
    piece.area *= part * part;
    return piece;
}

/* Sample i of a rectangle. */
static void
piece_sample(const struct piece *p, int i, double x[3])
{
    const double u = (i % SAMPLES + 0.5) / SAMPLES;
    const double v = (i / SAMPLES + 0.5) / SAMPLES;

    for (int d = 0; d < 3; d++)
        x[d] = p->at[d] + u * p->edge[0][d] + v * p->edge[1][d];
}

/* Does a box stand between two points?  One that they lie on does not. */
static bool
box_hides(const struct box *box, const double from[3], const double way[3])
{
    double begin = 1e-6, end = 1 - 1e-6;

    for (int d = 0; d < 3; d++) {
        const double a = (box->low[d] - from[d]) / way[d];
        const double b = (box->high[d] - from[d]) / way[d];

        if (way[d] == 0) {
            if (from[d] <= box->low[d] || from[d] >= box->high[d])
                return false;
            continue;
        }
        begin = fmax(begin, fmin(a, b));
        end = fmin(end, fmax(a, b));
    }
    return begin < end;
}

static bool
is_visible(const struct room *room, const double from[3], const double way[3])
{
    for (int b = 0; b < ROOM_BOXES; b++)
        if (box_hides(&room->box[b], from, way))
            return false;
    return true;
}

/* Between two points: the cosines over the square, with the disc of an area
 * for what is near. */
static double
point_factor(const struct room *room, const double to[3],
             const double to_normal[3], const double from[3],
             const double from_normal[3], double area)
{
    double way[3], square, cosines;

    for (int d = 0; d < 3; d++)
        way[d] = from[d] - to[d];
    square = dot(way, way);
    cosines = dot(way, to_normal) * -dot(way, from_normal);
    if (dot(way, to_normal) <= 1e-12 || cosines <= 0 ||
        !is_visible(room, to, way))
        return 0;
    return cosines / square * area / (APP_PI * square + area);
}

double
room_factor(const struct room *room, int32_t to, int32_t to_element,
            int32_t from, int32_t from_element)
{
    const struct patch *p = &room->patch[to], *q = &room->patch[from];
    const struct piece  a = room_piece(p, to_element);
    const struct piece  b = room_piece(q, from_element);
    double              sum = 0;

    for (int i = 0; i < ALL_SAMPLES; i++) {
        double x[3], y[3];

        piece_sample(&a, i, x);
        piece_sample(&b, (5 * i + 3) % ALL_SAMPLES, y);
        sum += point_factor(room, x, p->normal, y, q->normal,
                            b.area / ALL_SAMPLES);
    }
    return sum;
}
