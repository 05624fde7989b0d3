/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Claims: which ranks know that one is gone, and which of them speaks.
 */
#ifndef HEARTHI_REPORT_ELECTION_H
#define HEARTHI_REPORT_ELECTION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "liveness_line.h"

/* Nanoseconds for which others hold their tongue. */
#define HEARTHI_ELECTION_SILENCE UINT64_C(5000000000)

void hearthi_elections_open(void);

/* A rank has one claim, its first.  It is told to others, and is due after a
 * moment (nanoseconds), or as soon as `least` has passed and it is known which
 * locks are lost. */
struct hearthi_election {
    int         about, weight; /* the lightest speaks */
    uint64_t    least, moment;
    const char *call; /* of the line */
};
void hearthi_election_make(const struct hearthi_election *claim,
                           const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* What another rank claims or has said. */
void hearthi_election_heard(const struct hearthi_record *r);

/* When this rank may speak next, or UINT64_MAX; and do so, if it is time. */
uint64_t hearthi_election_due(void);
void     hearthi_election_judge(void);

bool hearthi_elections_known(void);  /* a rank claims or has spoken */
bool hearthi_elections_ending(void); /* a rank has spoken */

/* ---- abandoned locks ----
 *
 * Which locks are lost with a rank that is gone: a rank that manages one, or
 * shares memory with that rank, may know. */

void hearthi_abandoned_gather_open(void);

/* All others are asked: by the rank after the one that is gone, once. */
void hearthi_abandoned_gather_ask(int gone);

/* That has come by, and goes on. */
void hearthi_abandoned_gather_heard(const struct hearthi_record *r);

#endif
