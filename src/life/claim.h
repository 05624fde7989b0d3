/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Claims: who knows that a rank is gone, and which of those speaks.
 */
#ifndef HEARTHI_LIFE_CLAIM_H
#define HEARTHI_LIFE_CLAIM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "line.h"

/* Nanoseconds for which others hold their tongue. */
#define HEARTHI_HOLD UINT64_C(5000000000)

void hearthi_claims_open(void);

/* A rank has one claim, its first.  It is told to others, and is due after a
 * moment (nanoseconds), or as soon as `least` has passed and it is known which
 * locks are lost. */
struct hearthi_claim {
    int         about, weight; /* the lightest speaks */
    uint64_t    least, moment;
    const char *call; /* of the line */
};
void hearthi_claim_make(const struct hearthi_claim *claim, const char *fmt,
                        va_list ap) __attribute__((format(printf, 2, 0)));

/* What another rank claims or has said. */
void hearthi_claim_heard(const struct hearthi_record *r);

/* The others have said which locks are lost with a rank. */
void hearthi_claim_locks(int about, const struct hearthi_lost *lost);

/* When this rank may speak next, or UINT64_MAX; and do so, if it is time. */
uint64_t hearthi_claim_due(void);
void     hearthi_claim_judge(void);

bool hearthi_claims_known(void);  /* somebody claims or has spoken */
bool hearthi_claims_ending(void); /* somebody has spoken */

#endif
