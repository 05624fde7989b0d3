/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "abandoned_locks.h"

#include <stdio.h>

#include "lock_key.h"

void
hearthi_abandoned_locks_add(struct hearthi_abandoned_locks *l, uint64_t name)
{
    if (name == 0)
        return;
    for (int i = 0; i < HEARTHI_ABANDONED_LOCKS; i++) {
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
hearthi_abandoned_locks_merge(struct hearthi_abandoned_locks       *l,
                              const struct hearthi_abandoned_locks *of)
{
    for (int i = 0; i < HEARTHI_ABANDONED_LOCKS && of->lock[i] > 0; i++)
        hearthi_abandoned_locks_add(l, of->lock[i]);
    l->more |= of->more;
}

void
hearthi_abandoned_locks_text(const struct hearthi_abandoned_locks *l,
                             char *text, size_t room)
{
    char   name[HEARTHI_LOCK_KEY_TEXT];
    size_t at = 0;
    int    n = 0;

    text[0] = '\0';
    while (n < HEARTHI_ABANDONED_LOCKS && l->lock[n] > 0)
        n++;
    for (int i = 0; i < n && at < room; i++) {
        hearthi_lock_key_text(l->lock[i], name, sizeof name);
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
