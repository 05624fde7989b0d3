/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes at homes, read and written past all copies: what hearth_read() and
 * hearth_write() ask the gateway.
 */
#ifndef HEARTHI_CLUSTERS_APART_H
#define HEARTHI_CLUSTERS_APART_H

#include <stddef.h>
#include <stdint.h>

/* Of one home's segment. */
struct hearthi_apart {
    int    home;
    size_t at, len;
    char  *to; /* or from */
};

/* At most so many at a time, of one cluster and some 256 KiB together. */
enum { HEARTHI_APART = 64 };

/* Runs of one cluster.  Any thread; blocks. */
void hearthi_apart_read(const struct hearthi_apart *run, int n);
void hearthi_apart_write(const struct hearthi_apart *run, int n);

#endif
