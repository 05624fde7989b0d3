/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of bodies, and of forces on them, by --verify. */
#ifndef APPS_BARNES_CHECK_H
#define APPS_BARNES_CHECK_H

#include "plummer.h"

/* The bodies are those of a sequential run, bit for bit. */
void check_bodies(struct app_run *run, const struct body *got,
                  const struct body *want, size_t bodies);

/* Forces beside direct sums, for some bodies of all. */
struct check {
    double off, all; /* squares; zeros at first */
};

/* Take each body that is so far from the one before. */
static inline size_t
check_stride(size_t bodies)
{
    return bodies / 100 + 1;
}

void check_add(struct check *c, const double got[3], const double want[3]);

/* They are as good as they can be with this angle: octupoles are left out. */
void check_forces(struct app_run *run, const struct check *c, double theta);

#endif
