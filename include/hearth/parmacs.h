/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the PARMACS macros of hearth.m4 call.  Programs say the macros, which
 * doc/porting.md describes; these functions may change with them.
 */
#ifndef HEARTH_PARMACS_H
#define HEARTH_PARMACS_H

/* What sources in these macros take to be there. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What SPLASH-3's macros say it is: programs align by it. */
#ifndef PAGE_SIZE
#define PAGE_SIZE 4096
#endif

#define PARMACS_API __attribute__((visibility("default")))

struct parmacs_pause {
    int number, set;
};

/* Before main(), in the file that says MAIN_ENV. */
PARMACS_API void parmacs_start(void);
PARMACS_API void parmacs_initenv(void);

/* Before that: main() enters its work after all that CREATE has made. */
PARMACS_API void parmacs_main_last(void);

/* n: processes with this one, or 0 for one more. */
PARMACS_API void parmacs_create(void (*work)(void), long n);
PARMACS_API void parmacs_wait_for_end(void);
PARMACS_API int  parmacs_pid(void);

PARMACS_API void *parmacs_malloc(size_t bytes);
PARMACS_API void *parmacs_malloc_on(size_t bytes, long process);
PARMACS_API void  parmacs_free(void *p);

PARMACS_API void parmacs_lock_init(int *lock, long n);
PARMACS_API void parmacs_lock(int lock);
PARMACS_API void parmacs_unlock(int lock);

PARMACS_API void parmacs_barrier(long n);

PARMACS_API void parmacs_pause_init(struct parmacs_pause *pause);
PARMACS_API void parmacs_pause_clear(struct parmacs_pause *pause);
PARMACS_API void parmacs_pause_set(struct parmacs_pause *pause);
PARMACS_API void parmacs_pause_wait(struct parmacs_pause *pause);

PARMACS_API void parmacs_cond_init(int *cond);
PARMACS_API void parmacs_cond_wait(int cond, int lock);
PARMACS_API void parmacs_cond_signal(int cond);
PARMACS_API void parmacs_cond_broadcast(int cond);

PARMACS_API long parmacs_clock(void); /* microseconds */

#ifdef __cplusplus
}
#endif

#endif
