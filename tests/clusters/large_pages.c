/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages of 64 KiB for Hearth, on a system with smaller ones, loaded before the
 * C library: what is mapped and protected there by whole pages can be here.
 * But for mincore(2), which has an answer for each real page: Hearth asks it
 * only where ranks share a node.  MPI is told the truth, as UCX 1.13 takes
 * memory of the kernel by its pages.
 */
#include <config.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 64 << 10 };

static bool
is_of_hearth(const void *caller)
{
    Dl_info at;

    return dladdr(caller, &at) != 0 && at.dli_fname != NULL &&
           strstr(at.dli_fname, "libhearth") != NULL;
}

/* The library is compiled with hidden symbols. */
__attribute__((visibility("default"))) long
sysconf(int name)
{
    static long (*next)(int);
    long got;

    if (next == NULL)
        next = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    got = next(name);
    if (!is_of_hearth(__builtin_return_address(0)))
        return got;
    if (name == _SC_PAGESIZE)
        return LARGE;
    return name == _SC_PHYS_PAGES ? got / (LARGE / next(_SC_PAGESIZE)) : got;
}
