/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The room: a box with boxes in it, whose faces are patches, one of which
 * emits light.
 *
 * A patch is divided into four, and these again: its elements.  Element 0 is
 * the patch itself, and those of element i are 4 i + 1 to 4 i + 4; so where an
 * element is follows from its number.
 */
#ifndef APPS_RADIOSITY_ROOM_H
#define APPS_RADIOSITY_ROOM_H

#include "common.h"

enum {
    ROOM_BOXES = 12, /* in the room; the first one is the lamp */
    ROOM_FACES = 6,
    ROOM_PATCHES = (1 + ROOM_BOXES) * ROOM_FACES,
    ROOM_LEVELS = 6, /* below a patch */
    ROOM_ELEMENTS = ((1 << (2 * (ROOM_LEVELS + 1))) - 1) / 3 /* of a patch */
};

struct box {
    double low[3], high[3];
};

/* A rectangle: its corner and two edges. */
struct piece {
    double at[3], edge[2][3];
    double area;
};

struct patch {
    struct piece piece;
    double       normal[3];
    double       emits, reflects;
};

struct room {
    struct box   box[ROOM_BOXES];
    struct patch patch[ROOM_PATCHES];
};

void room_make(struct room *room);

/* Where an element of a patch is. */
struct piece room_piece(const struct patch *p, int32_t element);

/* Its level: 0 for the whole patch. */
int room_level(int32_t element);

/* The part of what an element of `to` would receive from all directions that
 * one of `from` fills. */
double room_factor(const struct room *room, int32_t to, int32_t to_element,
                   int32_t from, int32_t from_element);

#endif
