/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lost.h"

#include <stdio.h>

#include "name.h"

void
hearthi_lost_add(struct hearthi_lost *l, uint64_t name)
{
    if (name == 0)
        return;
    for (int i = 0; i < HEARTHI_LOST_LOCKS; i++) {
        uint64_t here = l->lock[i];

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
        hearthi_lost_add(l, of->lock[i]);
    l->more |= of->more;
}

void
hearthi_lost_text(const struct hearthi_lost *l, char *text, size_t room)
{
    char   name[HEARTHI_NAME_TEXT];
    size_t at = 0;
    int    n = 0;

    text[0] = '\0';
    while (n < HEARTHI_LOST_LOCKS && l->lock[n] > 0)
        n++;
    for (int i = 0; i < n && at < room; i++) {
        hearthi_name_text(l->lock[i], name, sizeof name);
        at += (size_t)snprintf(text + at, room - at, "%s%s",
                               i > 0    ? ", "
                               : n == 1 ? "; lock "
                                        : "; locks ",
                               name);
    }
    if (n > 0 && at < room)
        snprintf(text + at, room - at, "%s lost with it",
                 l->more ? " and more are"
                 : n > 1 ? " are"
                         : " is");
}
