/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The function of a name that comes behind Hearth's own: the C library's, or
 * that of another library that stands in front of it.
 */
#ifndef HEARTHI_DLSYM_NEXT_H
#define HEARTHI_DLSYM_NEXT_H

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Put it into *slot, a pointer to a function, once.  Where there is none the
 * call is one that this machine has not.  Nothing is allocated and no other
 * call that has a next is made. */
void hearthi_dlsym_next(void *slot, const char *name);

/* Where libhearth was loaded from, as far as that is known. */
const char *hearthi_library_path(void);

/* Hearth's own mprotect(2), past the one that stands before the program's
 * (front/user_mprotect.c). */
static inline int
hearthi_mprotect(void *at, size_t len, int prot)
{
    return (int)syscall(SYS_mprotect, at, len, prot);
}

#endif
