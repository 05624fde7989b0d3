/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks, between the files of their tests.
 */
#ifndef HEARTH_RWLOCKS_H
#define HEARTH_RWLOCKS_H

#include "fixture.h"

void rwlocks_seen(TCase *tc); /* rwlocks_seen.c */
void rwlocks_fair(TCase *tc); /* rwlocks_fair.c */

static inline void
lock_as(int rwlock, bool write)
{
    if (write)
        hearth_wrlock(rwlock);
    else
        hearth_rdlock(rwlock);
}

/* A version in several pages, whole whenever somebody may look; they return
 * how much was wrong. */
enum { SPREAD = 3 };

long long version_write(int64_t *p, bool dawdles);
long long version_read(int64_t *p, int64_t *last, bool dawdles);

#endif
