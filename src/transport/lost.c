/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lost.h"

#include <stdio.h>

void
hearthi_lost_add(struct hearthi_lost *l, int lock)
{
    int32_t name = lock + 1;

    for (int i = 0; i < HEARTHI_LOST_LOCKS; i++) {
        int32_t here = l->lock[i];

        if (here == name)
            return;
        if (here != 0 && here < name)
            continue;
        l->lock[i] = name;
        if (here == 0)
            return;
        name = here;
    }
    l->more = 1;
}

void
hearthi_lost_merge(struct hearthi_lost *l, const struct hearthi_lost *of)
{
    for (int i = 0; i < HEARTHI_LOST_LOCKS && of->lock[i] > 0; i++)
        hearthi_lost_add(l, of->lock[i] - 1);
    l->more |= of->more;
}

void
hearthi_lost_text(const struct hearthi_lost *l, char *text, size_t room)
{
    size_t at = 0;
    int    n = 0;

    text[0] = '\0';
    while (n < HEARTHI_LOST_LOCKS && l->lock[n] > 0)
        n++;
    for (int i = 0; i < n && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%d",
                               i > 0    ? ", "
                               : n == 1 ? "; lock "
                                        : "; locks ",
                               (int)l->lock[i] - 1);
    if (n > 0 && at < room)
        snprintf(text + at, room - at, "%s lost with it",
                 l->more ? " and more are"
                 : n > 1 ? " are"
                         : " is");
}
