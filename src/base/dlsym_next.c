/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "dlsym_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

static long
none(void)
{
    errno = ENOSYS;
    return -1;
}

static const char here; /* in this library */

const char *
hearthi_library_path(void)
{
    Dl_info ours;

    return dladdr(&here, &ours) != 0 && ours.dli_fname[0] == '/'
               ? ours.dli_fname
               : "libhearth.so";
}

/* Where libhearth stands behind the C library (Rust links so), nothing comes
 * next, and the first of that name is the one: unless it is our own, which
 * would call itself. */
static void *
first_of(const char *name)
{
    void   *found = dlsym(RTLD_DEFAULT, name);
    Dl_info theirs, ours;

    if (found == NULL || dladdr(found, &theirs) == 0 ||
        dladdr(&here, &ours) == 0 || theirs.dli_fbase == ours.dli_fbase)
        return NULL;
    return found;
}

void
hearthi_dlsym_next(void *slot, const char *name)
{
    long (*const absent)(void) = none;
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL)
        found = first_of(name);

    if (found == NULL)
        memcpy(&found, &absent, sizeof found);
    /* As one word: other threads may call through it, who have found the same.
     */
    __atomic_store_n((void **)slot, found, __ATOMIC_RELAXED);
}
