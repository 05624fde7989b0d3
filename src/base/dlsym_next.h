/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The function of a name that comes behind Hearth's own: the C library's, or
 * that of another library that stands in front of it.
 */
#ifndef HEARTHI_DLSYM_NEXT_H
#define HEARTHI_DLSYM_NEXT_H

/* Put it into *slot, a pointer to a function, once.  Where there is none the
 * call is one that this machine has not.  Nothing is allocated and no other
 * call that has a next is made. */
void hearthi_dlsym_next(void *slot, const char *name);

#endif
