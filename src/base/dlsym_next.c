/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "dlsym_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static long
none(void)
{
    errno = ENOSYS;
    return -1;
}

void
hearthi_dlsym_next(void *slot, const char *name)
{
    long (*const nobody)(void) = none;
    void *found = dlsym(RTLD_NEXT, name);

    if (found != NULL)
        memcpy(slot, &found, sizeof found);
    else
        memcpy(slot, &nobody, sizeof nobody);
}
