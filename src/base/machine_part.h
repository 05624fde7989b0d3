/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a process may have of its machine, by its affinity and its control
 * groups, and what that leaves to each of several on one machine.
 */
#ifndef HEARTHI_MACHINE_PART_H
#define HEARTHI_MACHINE_PART_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "cgroup.h"

/* A limit, and what has it: those with the same numbers share it. */
struct hearthi_machine_limit {
    uint64_t most; /* UINT64_MAX: there is none */
    uint64_t device, group;
};

/* Bytes, and thousandths of a processor. */
enum hearthi_machine_limit_kind { HEARTHI_OF_MEMORY, HEARTHI_OF_PROCESSORS };

/* Its bytes can be sent to others of the machine. */
struct hearthi_machine_part {
    int                       rank;   /* in its job: the caller sets it */
    int                       online; /* processors of the machine */
    cpu_set_t                 bound;  /* to these of them, or all */
    uint64_t                  memory; /* of the machine */
    uint64_t                  shm_device, shm_file; /* /dev/shm; 0: none */
    struct hearthi_machine_limit limit[2][HEARTHI_LEVELS];
};

/* What this process may have. */
void hearthi_machine_part(struct hearthi_machine_part *p);

/* Bytes that a process may have if no other wants any. */
size_t hearthi_machine_memory(const struct hearthi_machine_part *p);

/* Its share of them, if it is all[i] of n on one machine: those in a group
 * share each limit of that group alike. */
size_t hearthi_machine_share(const struct hearthi_machine_part *all, int n,
                             int i);

/* The shares of all. */
size_t hearthi_machine_together(const struct hearthi_machine_part *all, int n);

/* Those among the n that share the limit by which all[i] has least. */
int hearthi_machine_sharers(const struct hearthi_machine_part *all, int n,
                            int i);

/* Processors that the n have together, at least 1. */
int hearthi_machine_cores(const struct hearthi_machine_part *all, int n);

/* The same for one that knows nothing of the others: all that its control
 * groups leave to it, since a launcher may have bound it to one. */
int hearthi_machine_cores_alone(void);

#endif
