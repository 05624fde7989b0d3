/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Teams of ranks (api_team.c).
 */
#ifndef HEARTHI_TEAM_H
#define HEARTHI_TEAM_H

/* End those that the program has left.  Before MPI may be finalised. */
void hearthi_teams_close(void);

#endif
