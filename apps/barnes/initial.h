/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bodies from a file of text, as SPLASH-2's Barnes reads it and as Barnes'
 * tree code and the Stellar Dynamics Toolbox NEMO write it (stoa): the number
 * of bodies, the number of dimensions, which is 3, the time, which is not
 * used; the masses of all; three coordinates of each; three velocities of
 * each.  The constant of gravity is 1.
 */
#ifndef APPS_BARNES_INITIAL_H
#define APPS_BARNES_INITIAL_H

#include "plummer.h"

/* Returns NULL, with the bodies in memory of malloc, or what is wrong; the
 * text is valid until the next call. */
const char *initial_read(struct body **body, long *bodies, long most,
                         const char *path);

#endif
