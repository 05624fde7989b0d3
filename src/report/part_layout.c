/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the arrays of a part are, one behind the other; and what a lock is
 * called in it.
 */
#include "config.h"

#include "part.h"

#include <stdio.h>

#include "node/lock_names.h"
#include "transport/log.h"

struct hearthi_profile_part_arrays
hearthi_profile_part_arrays(struct hearthi_profile_part *p)
{
    struct hearthi_profile_part_arrays a;

    a.module = (void *)(p + 1);
    a.line = (void *)(a.module + p->modules);
    a.memory = (void *)(a.line + p->lines);
    a.page = (void *)(a.memory + p->memories);
    a.lock = (void *)(a.page + p->pages);
    a.barrier = (void *)(a.lock + p->locks);
    a.sample = (void *)(a.barrier + p->places);
    return a;
}

size_t
hearthi_profile_part_bytes(const struct hearthi_profile_part *p)
{
    struct hearthi_profile_part copy = *p;
    char                       *end =
        (char *)(hearthi_profile_part_arrays(&copy).sample + p->samples);

    return (size_t)(end - (char *)&copy);
}

/* A flag has no name but its number. */
void
hearthi_profile_part_lock_name(struct hearthi_profile_part_lock *l)
{
    if (hearthi_is_lock(l->sync))
        hearthi_lock_key_text(hearthi_lock_names_key(l->sync), l->text,
                              sizeof l->text);
    else
        snprintf(l->text, sizeof l->text, "flag %d",
                 (int)l->sync - HEARTH_LOCKS);
}
