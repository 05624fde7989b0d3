/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The limits of the control groups that this process is in.
 */
#ifndef HEARTHI_CGROUP_H
#define HEARTHI_CGROUP_H

#include <stdint.h>

#include "descriptor.h"

enum { HEARTHI_LEVELS = 6 };

/* A limit of a control group.  Processes in that group, or below it, have the
 * same numbers of it. */
struct hearthi_cgroup_limit {
    uint64_t most; /* UINT64_MAX: there is none */
    uint64_t device, group;
    char     file[2 * HEARTHI_LINE]; /* that says so */
};

/* All limits that bind this process, of its own group and those above it, from
 * the bottom up: bytes, by what kills (memory.max, limit_in_bytes) or slows
 * down (memory.high), and thousandths of a processor's time.  How many there
 * are; of more than HEARTHI_LEVELS the least. */
int hearthi_cgroup_memory(struct hearthi_cgroup_limit l[HEARTHI_LEVELS]);
int hearthi_cgroup_processors(struct hearthi_cgroup_limit l[HEARTHI_LEVELS]);

/* The least of n; of none, UINT64_MAX. */
struct hearthi_cgroup_limit
hearthi_cgroup_least(const struct hearthi_cgroup_limit *l, int n);

/* The least number in a file of this name, where its controller is mounted (""
 * is version 2). */
uint64_t hearthi_cgroup_number(const char *controller, const char *file);

/* For tests: what stands before /proc and /sys; "" usually. */
extern const char *hearthi_cgroup_root;

#endif
