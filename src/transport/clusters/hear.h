/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank is told unasked, over several clusters.  Each rank has a
 * connection to its gateway for it, at which a thread sleeps.
 *
 * Questions of a rank that waits long (life/collective_watch.h,
 * life/stalled.h) go from each rank to the next one, through the gateways, as
 * they go along the lines in a job of one cluster.  One that is lost on its
 * way is asked anew.
 *
 * And a rank hears that another one of its cluster has said why the job ends,
 * so that there is one line: who would end the job tells its gateway first,
 * which takes one line, passes it on to the other clusters, and tells all
 * ranks here before it ends itself.  So a rank that loses its gateway, or
 * whose call of MPI fails, knows whether it is to say so.
 */
#ifndef HEARTHI_CLUSTERS_HEAR_H
#define HEARTHI_CLUSTERS_HEAR_H

/* As soon as there is a gateway, and until this rank has said goodbye to it:
 * who ends the job tells the others why. */
void hearthi_endings_open(void);
void hearthi_endings_close(void);

/* Where there are several clusters: begin, after hearthi_stalled_open(), and
 * end, when all ranks have come.  In between the program runs. */
void hearthi_hear_open(void);
void hearthi_hear_close(void);

/* The connection stays until the gateway has heard goodbye. */
void hearthi_hear_end(void);

/* In a child that fork(2) has made. */
void hearthi_hear_forked(void);

#endif
