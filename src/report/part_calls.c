/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a part has of calls: of locks, flags and barriers; and the place of a
 * call, or of any other instruction.
 */
#include "config.h"

#include "part.h"

#include <string.h>

#include "profile/caller.h"

struct hearthi_code_place
hearthi_part_place(struct hearthi_profile_part              *to,
                   const struct hearthi_profile_part_arrays *a, uintptr_t at)
{
    struct hearthi_code_place p = { .module = HEARTHI_NOWHERE };
    const char               *path = hearthi_caller_module(at, &p.offset);
    uint64_t                  n = to->modules;
    char                      kept[HEARTHI_PART_PATH];

    if (path == NULL)
        return p;
    hearthi_caller_path_keep(kept, sizeof kept, path);
    for (uint64_t i = 0; i < n; i++)
        if (strcmp(a->module[i], kept) == 0) {
            p.module = (uint32_t)i;
            return p;
        }
    if (n == HEARTHI_PART_MODULES)
        return p;
    strcpy(a->module[n], kept);
    p.module = (uint32_t)to->modules++;
    return p;
}

static void
lock_put(struct hearthi_profile_part_lock  *to,
         const struct hearthi_profile_lock *l, struct hearthi_code_place at)
{
    *to = (struct hearthi_profile_part_lock){
        .at = at,
        .n = l->n,
        .wait_ns = l->wait_ns,
        .longest_ns = l->longest_ns,
        .held_ns = l->held_ns,
        .holds = l->holds,
        .computed = l->computed,
        .one_word = l->one_word,
        .wider = l->wider,
        .word = l->word,
        .sync = (int32_t)l->key - 1,
    };
    hearthi_profile_part_lock_name(to);
}

void
hearthi_part_calls_put(const struct hearthi_profile             *from,
                       struct hearthi_profile_part              *to,
                       const struct hearthi_profile_part_arrays *a)
{
    struct hearthi_profile_part_lock *lock = a->lock;

    for (size_t i = 0; i < HEARTHI_PROFILE_LOCKS; i++)
        if (from->lock[i].key != 0)
            lock_put(lock++, &from->lock[i],
                     hearthi_part_place(to, a, from->lock[i].at));
    for (size_t i = 0; i < to->places; i++) {
        const struct hearthi_profile_barrier *b = &from->barrier[i];

        a->barrier[i] = (struct hearthi_profile_part_barrier){
            hearthi_part_place(to, a, b->at), b->n, b->wait_ns, b->longest_ns
        };
    }
    memcpy(a->sample, from->sample, to->samples * sizeof *a->sample);
}
