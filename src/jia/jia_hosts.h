/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The hosts of jia.h and what calls of it begin with.  This layer stands on
 * hearth.h and knows of the layers below only how to end the job, wait and
 * place pages.
 */
#ifndef HEARTHI_JIA_HOSTS_H
#define HEARTHI_JIA_HOSTS_H

#include <mpi.h>
#include <stdbool.h>

struct hearthi_jia {
    bool     up;       /* between jia_init and jia_exit */
    bool     owns_mpi; /* jia_init initialised MPI */
    MPI_Comm all;      /* every rank that was started */
    MPI_Comm comm;     /* the hosts, for messages and jia_wait */
};

extern struct hearthi_jia hearthi_jia;

/* Every call but jia_init() starts with this. */
void hearthi_jia_require(const char *call);

/* Calls that wait for all hosts start with this (jia_sync.c):
 * hearthi_jia_require(), and the thread must hold no lock. */
void hearthi_jia_outside(const char *call);

/* End the job if a number is not one of 0 .. count - 1. */
void hearthi_jia_number(const char *call, const char *what, int number,
                        int count);

/* Between these two a thread waits: for LOADBAL it does not compute, and what
 * jia_send() has begun goes on. */
void hearthi_jia_wait_begin(void);
void hearthi_jia_wait_end(void);

/* For those two (jia_message.c). */
void hearthi_jia_messages_wait_begin(void);
void hearthi_jia_messages_wait_end(void);

#endif
