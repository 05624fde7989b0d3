/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The order in which layers open and close.
 */
#ifndef HEARTHI_LAYERS_H
#define HEARTHI_LAYERS_H

#include "transport/clusters/clusters.h"

/* Collective.  Does not return on a rank that is not the program's. */
void hearthi_layers_open(const struct hearthi_job *job);
void hearthi_layers_close(void);

#endif
