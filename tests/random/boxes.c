/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Objects of hearth_malloc: each lock has boxes, words of the heap that say
 * which object is in a box, how large it is and what it holds.  Who has the
 * lock, any thread of any rank, checks the object, writes it anew, gives it
 * another size, frees it, or puts a new one into an empty box.  So most
 * objects are freed by another rank than the one that took them, and their
 * memory goes round.  Contents have few different bytes: a new one differs
 * little from what old copies have.
 */
#include <string.h>

#include "random.h"
#include "watch.h"

enum { EACH = 6, USUAL = 300, LARGEST = 40000 };
enum { HOARD = 100, MOST_BYTES = 20000 }; /* of one rank, for a moment */

struct box {
    unsigned char *object; /* or NULL */
    uint64_t       bytes, key;
};

static struct box *
boxes_of(const struct world *w, int lock)
{
    return w->boxes + lock * EACH;
}

void
boxes_make(struct world *w, uint64_t *random)
{
    size_t rank = draw(random, (uint64_t)w->ranks);

    w->boxes = hearth_alloc(LOCKS * EACH, sizeof *w->boxes,
                            draw(random, 2) ? hearth_on((int)rank)
                                            : hearth_cyclic(1));
}

static unsigned char
value(uint64_t key, uint64_t i)
{
    static const unsigned char mask[] = { 0, 1, 1, 3, 0x81, 0xff };

    return (unsigned char)((i * 5 + (i >> 7) + key / 7) &
                           mask[key % sizeof mask]);
}

static void
box_check(const struct actor *a, const struct box *b)
{
    const volatile unsigned char *p = b->object;

    for (uint64_t i = 0; p != NULL && i < b->bytes; i++)
        if (p[i] != value(b->key, i))
            world_fail(a,
                       "wrong byte %llu of %llu of the object at %p (home %d) "
                       "in box %d: found 0x%02x, expected 0x%02x",
                       (unsigned long long)i, (unsigned long long)b->bytes,
                       (void *)b->object, hearth_home(b->object),
                       (int)(b - a->w->boxes), p[i], value(b->key, i));
    tally_add(TALLY_CHECKED, p != NULL ? b->bytes : 0);
}

static void
box_write(struct actor *a, struct box *b)
{
    b->key = draw(&a->random, 1000);
    for (uint64_t i = 0; i < b->bytes; i++)
        b->object[i] = value(b->key, i);
}

static uint64_t
bytes_draw(struct actor *a)
{
    return 1 + draw(&a->random, draw(&a->random, 12) ? USUAL : LARGEST);
}

static void
box_fill(struct actor *a, struct box *b)
{
    uint64_t bytes = bytes_draw(a), i = 0;
    int      rank = (int)draw(&a->random, (uint64_t)a->w->ranks);

    switch (draw(&a->random, 5)) {
    case 0:
        b->object = hearth_calloc(bytes, 1);
        while (i < bytes && b->object[i] == 0)
            i++;
        if (i < bytes)
            world_fail(a, "byte %llu of new zeros at %p is 0x%02x",
                       (unsigned long long)i, (void *)b->object, b->object[i]);
        break;
    case 1: b->object = hearth_malloc(bytes); break;
    case 2:
        b->object = hearth_aligned_alloc_on((size_t)1 << draw(&a->random, 15),
                                            bytes, rank);
        break;
    case 3:
        b->object = hearth_try_malloc(bytes);
        if (draw(&a->random, 8) == 0)
            hearth_collect();
        break;
    default: b->object = hearth_malloc_on(bytes, rank);
    }
    b->bytes = bytes;
    box_write(a, b);
    tally_add(TALLY_OBJECTS, 1);
}

static void
box_resize(struct actor *a, struct box *b)
{
    uint64_t bytes = bytes_draw(a);

    b->object = hearth_realloc(b->object, bytes);
    if (bytes < b->bytes)
        b->bytes = bytes;
    box_check(a, b);
    b->bytes = bytes;
    box_write(a, b);
}

/* Many at a time, and back at once: their memory serves others then, whoever
 * they are and whatever their size. */
static void
hoard(struct actor *a)
{
    uint64_t size =
        1 + draw(&a->random, draw(&a->random, 2) ? USUAL : MOST_BYTES);
    uint64_t       n = 1 + draw(&a->random, HOARD);
    int            rank = (int)draw(&a->random, (uint64_t)a->w->ranks);
    unsigned char *p[HOARD];

    for (uint64_t i = 0; i < n; i++)
        memset(p[i] = hearth_malloc_on(size, rank), (int)i + 1, size);
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t k = 0; k < size; k += 1 + size / 64)
            if (p[i][k] != (unsigned char)(i + 1))
                world_fail(a, "wrong byte %llu of hoarded object %p: 0x%02x",
                           (unsigned long long)k, (void *)p[i], p[i][k]);
        hearth_free(p[i]);
    }
    tally_add(TALLY_OBJECTS, n);
}

void
boxes_use(struct actor *a, int lock)
{
    struct box *b = boxes_of(a->w, lock) + draw(&a->random, EACH);

    if (draw(&a->random, 40) == 0)
        hoard(a);
    box_check(a, b);
    if (b->object == NULL) {
        box_fill(a, b);
        return;
    }
    switch (draw(&a->random, 4)) {
    case 0: box_write(a, b); break;
    case 1: box_resize(a, b); break;
    case 2:
        hearth_free(b->object);
        b->object = NULL;
        break;
    default: break;
    }
}

void
boxes_inspect(const struct actor *a)
{
    for (int i = 0; i < LOCKS * EACH; i++)
        box_check(a, &a->w->boxes[i]);
}
