/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_MIGRATE_H
#define HEARTHI_MIGRATE_H

/* At the end of a barrier in which some rank asked for it, on every rank:
 * pages move to those who ask for them (migrate_request.h). */
void hearthi_migrate(void);

#endif
