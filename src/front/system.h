/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that hand memory of the program to the kernel (system.def), with
 * Hearth in front of them.
 */
#ifndef HEARTHI_SYSTEM_H
#define HEARTHI_SYSTEM_H

#include <stddef.h>
#include <sys/types.h>

/* Look for the functions behind.  It is called when the library is loaded; and
 * by name, so that a program linked with its objects alone has these calls. */
void hearthi_system_open(void);

/* From now on read(2) of others calls this instead of what it called so far,
 * which is the answer. */
typedef ssize_t hearthi_read(int fd, void *p, size_t n);
hearthi_read *hearthi_system_read_by(hearthi_read *by);

#endif
