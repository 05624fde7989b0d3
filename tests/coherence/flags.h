/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_FLAGS_H
#define HEARTH_FLAGS_H

#include "fixture.h"

TCase *flags_and_atomics(void);
TCase *atomics(void);    /* atomics.c */
TCase *adds(void);       /* adds.c */
TCase *adds_posted(void);
TCase *teams(void);      /* teams.c */
TCase *flag_logs(void);  /* flag_log.c */
TCase *log_places(void); /* log_places.c */
TCase *full_lists(void); /* full.c */
TCase *tries(void);      /* tries.c */
TCase *rests(void);
TCase *stays(void);             /* delegation.c */
TCase *stays_in_barriers(void); /* delegation_barrier.c */
TCase *conditions(void);        /* conds.c */
TCase *crowds(void);            /* crowd.c */

/* A lock that nobody has had, so that it stays at the second unlock:
 * delegation.c.
 */
int lock_new(void);

#endif
