/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lock_key.h"

#include <stdio.h>

#include "base/assert.h"

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
    HEARTHI_ASSERT(l->lock[0] < l->lock[1]);
    l->more = 1;
}

static int
count_of(const struct hearthi_abandoned_locks *l)
{
    int n = 0;

    while (n < HEARTHI_ABANDONED_LOCKS && l->lock[n] > 0)
        n++;
    return n;
}

void
hearthi_abandoned_locks_text(const struct hearthi_abandoned_locks *l,
                             char *text, size_t room)
{
    char   name[HEARTHI_LOCK_KEY_TEXT];
    size_t at = 0;
    int    n = count_of(l);

    text[0] = '\0';
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
