/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes at homes, read and written past all copies: what hearth_read() and
 * hearth_write() ask the gateway.
 */
#ifndef HEARTHI_EXPLICIT_REMOTE_IO_H
#define HEARTHI_EXPLICIT_REMOTE_IO_H

#include <stddef.h>
#include <stdint.h>

/* Of one home's segment. */
struct hearthi_remote_io {
    int    home;
    size_t at, len;
    char  *to; /* or from */
};

/* At most so many at a time, of one cluster and some 256 KiB together. */
enum { HEARTHI_REMOTE_IO = 64 };

/* Runs of one cluster.  Any thread; blocks. */
void hearthi_remote_io_read(const struct hearthi_remote_io *run, int n);
void hearthi_remote_io_write(const struct hearthi_remote_io *run, int n);

#endif
