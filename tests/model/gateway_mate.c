/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Two ranks of a node, which take copies of each other.
 */
#include "gateway.h"

static int
mate_of(int me)
{
    return me == ONE ? TWO : ONE;
}

void
gateway_number_draw(struct state *s, int me)
{
    s->actor[mate_of(me)].fresh = 0;
}

bool
gateway_mate_lends(const struct state *s, int me)
{
    const struct actor *mate = &s->actor[mate_of(me)];

    return mate->has && !mate->waits && !mate->written &&
           (mate->fresh || broken(TAKE_ANY));
}

void
gateway_copy_take(struct state *s, struct actor *a, int me)
{
    const struct actor *mate = &s->actor[mate_of(me)];

    a->has = 1;
    a->copy = mate->copy;
    a->first = mate->first;
    a->fresh = mate->fresh;
    a->written = 0;
}
