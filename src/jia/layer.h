/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The layer of jia.h: what its files share.  It stands on hearth.h, and knows
 * of the layers below only how to end the job, wait and place pages.
 */
#ifndef HEARTHI_JIA_LAYER_H
#define HEARTHI_JIA_LAYER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "hearth/jia.h"
#include "world.h"

struct hearthi_jia {
    bool     up;       /* between jia_init and jia_exit */
    bool     owns_mpi; /* jia_init initialised MPI */
    MPI_Comm all;      /* every rank that was started */
    MPI_Comm comm;     /* the hosts, for messages and jia_wait */
};

extern struct hearthi_jia hearthi_jia;

/* Every call but jia_init() starts with this. */
void hearthi_jia_require(const char *call);

/* End the job if a number is not one of 0 .. count - 1. */
void hearthi_jia_number(const char *call, const char *what, int number,
                        int count);

/* Each file's part of jia_init() and jia_exit(). */
void hearthi_jia_alloc_open(void);
void hearthi_jia_sync_open(void);
void hearthi_jia_tune_open(void);
void hearthi_jia_tune_close(void);
void hearthi_jia_messages_close(void);

/* LOADBAL: time between these two is waiting, not computing. */
void hearthi_jia_load_pause(void);
void hearthi_jia_load_resume(void);

#endif
