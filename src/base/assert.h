/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What must hold where it is stated.  A library that was configured with
 * --enable-debug looks, and ends the job with one line that names the rank,
 * the place and the condition.  Any other library has no code for it: the
 * condition is parsed and not evaluated, so it must have no effect of its own.
 *
 * A condition holds in every order of events that the protocol allows, those
 * of other threads, other ranks and datagrams that come twice or late
 * included: what another rank or the program may get wrong is no assertion
 * but an error with a remedy (report.h).
 *
 * It may be stated on any thread and in the handlers of faults.
 */
#ifndef HEARTHI_ASSERT_H
#define HEARTHI_ASSERT_H

#include <stdbool.h>

#ifdef HEARTHI_DEBUG
#define HEARTHI_ASSERT(condition) \
    ((condition)                  \
         ? (void)0                \
         : hearthi_assert_failed(__FILE__, __LINE__, __func__, #condition))
#else
#define HEARTHI_ASSERT(condition) ((void)sizeof(!(condition)))
#endif

/* Of a function or variable that only assertions use. */
#define HEARTHI_FOR_ASSERT __attribute__((unused))

/* Ends the job, or comes back where this thread ends it already. */
void hearthi_assert_failed(const char *file, int line, const char *function,
                           const char *condition) __attribute__((cold));

#endif
