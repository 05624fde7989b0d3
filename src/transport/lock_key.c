/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lock_key.h"

#include <stdio.h>

void
hearthi_lock_key_text(uint64_t name, char *text, size_t room)
{
    if (name & 1)
        snprintf(text, room, "%d", (int)(name >> 1));
    else
        snprintf(text, room, "of %p", (void *)(uintptr_t)(name >> 1));
}
