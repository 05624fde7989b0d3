/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How ranks learn at start, by MPI, where others listen outside MPI, and by
 * what they know each other: lines (life/), doorbells (transport/mpi/),
 * datagrams (transport/udp/) and a gateway's ranks (transport/clusters/).
 *   - A rank listens before it tells where, so that no rank calls too early.
 *   - A secret tells ranks from strangers.  One rank draws it, and MPI alone
 *     carries it to others.  Each user has one of its own: some go over the
 *     network in clear later, and tell nothing of the keys of datagrams.
 *   - A *card* says where a rank listens, and what else its user must know. It
 *     goes by MPI, too, and no further than it is needed.
 * All ranks learn together that one has no address, so none waits for it.
 */
#ifndef HEARTHI_RENDEZVOUS_H
#define HEARTHI_RENDEZVOUS_H

#include <stddef.h>

#include "base/network.h"

/* ---- this rank alone ---- */

/* The addresses that it tells, without port: the loopback where all ranks are
 * on one machine, or those of HEARTH_NETWORK.  Of AF_INET or AF_INET6; or with
 * AF_UNSPEC of IPv4, and of IPv6 if it has none of that. */
struct hearthi_addresses hearthi_rendezvous_addresses(int family);

/* A TCP socket that listens there, at a port that is put into the addresses;
 * -1, with errno: it cannot be. */
int hearthi_rendezvous_listen(struct hearthi_addresses *at, int backlog);

/* Random bytes, for a secret that is told on a card. */
void hearthi_rendezvous_draw(void *secret, size_t bytes);

/* ---- the ranks of the cluster together ---- */

/* Those of one family that all ranks have, rather IPv4; or none. */
struct hearthi_addresses hearthi_rendezvous_addresses_alike(void);

/* The addresses that this rank tells, of the transport's family.  Every host
 * must have one that HEARTH_NETWORK takes, and udp one at all: the first rank
 * without ends the job.  One with more than it can tell says so. */
struct hearthi_addresses hearthi_rendezvous_addresses_checked(void);

/* Random bytes, the same on all ranks. */
void hearthi_rendezvous_secret(void *secret, size_t bytes);

/* Cards of so many bytes: of all ranks, for the caller to free; or of the two
 * beside this one in a ring.  One rank's goes by hearthi_collective_bcast().
 */
void *hearthi_rendezvous_all(const void *card, size_t bytes);
void  hearthi_rendezvous_ring(const void *card, void *prev, void *next,
                              size_t bytes);

#endif
