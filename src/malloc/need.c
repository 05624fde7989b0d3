/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "need.h"

#include "guard.h"
#include "remote_free.h"

void
hearthi_need_give(enum hearthi_shed how)
{
    hearthi_remote_free_settle();
    hearthi_remote_free_take();
    if (hearthi_guard_on)
        hearthi_guard_empty();
    hearthi_freelists_shed(how);
}

void
hearthi_need_asked(void)
{
    __atomic_store_n(&hearthi_arena_map.need,
                     hearthi_arena_map_own(hearthi_arena_need_at()),
                     __ATOMIC_RELAXED);
    hearthi_need_give(HEARTHI_SHED_ALL);
}
