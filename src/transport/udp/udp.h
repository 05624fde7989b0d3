/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the tables in udp.c are made of: the operations of the transport, as
 * transport.h has them, and what the server of this rank does for others.
 */
#ifndef HEARTHI_UDP_H
#define HEARTHI_UDP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/lock_key.h"
#include "transport/sync/managed_object.h"
#include "transport/transport.h"
#include "wire.h"

/* ---- the start: udp_address.c ---- */

/* Tell all ranks of all servers, and how large a datagram may be; and meet
 * some ranks.  Collective; the service thread runs between the
 * two. */
int    hearthi_udp_cards_exchange(void); /* gives the server's socket */
size_t hearthi_udp_mtu(void);
void   hearthi_udp_hello(void);

/* ---- pages: udp_page.c ---- */

void hearthi_udp_pages_open(void);

void hearthi_udp_fetch(const struct hearthi_fetch *run, size_t n);
void hearthi_udp_fetch_concurrent(int way, const struct hearthi_fetch *run,
                                  size_t n);
bool hearthi_udp_fetch_begin(const struct hearthi_fetch *run, size_t n);
void hearthi_udp_fetch_end(void);

/* ---- diffs: udp_diff.c ---- */

void hearthi_udp_diffs_open(void);
void hearthi_udp_diffs_close(void);

bool hearthi_udp_patch(int home, size_t offset, const char *src,
                       const uint64_t *mask, size_t blocks, size_t runs);
void hearthi_udp_diff(int home, size_t offset, const void *src, size_t len);
void hearthi_udp_store(int home, size_t offset, const void *src, size_t len);
void hearthi_udp_stored(void);
void hearthi_udp_notify(int home);
void hearthi_udp_flush(void);

/* Those that were kept to be packed. */
void hearthi_udp_diffs_send(void);

/* ---- their home: udp_home.c ---- */

/* What slot 0 asks the service thread for. */

void hearthi_udp_home_open(int fd); /* the server's socket */
void hearthi_udp_home_close(void);
void hearthi_udp_home_serve(const struct hearthi_udp_message *m,
                            const struct sockaddr_in         *from);

/* An atomic step, or adds, for that peer. */
void hearthi_udp_home_step(uint32_t peer, const struct hearthi_udp_message *m);

/* ---- locks and the like: sync.c ---- */

bool     hearthi_udp_acquire(int sync, bool try, struct hearthi_grant *g);
void     hearthi_udp_release(int sync, uint64_t epoch,
                             const struct hearthi_notice *n, size_t count);
bool     hearthi_udp_delegate(int lock);
bool     hearthi_udp_rw_acquire(int sync, bool write, bool try,
                                struct hearthi_grant *g);
void     hearthi_udp_rw_release(int sync, bool write,
                                const struct hearthi_notice *n, size_t count);
void     hearthi_udp_flag_set(int sync, const struct hearthi_notice *n,
                              size_t count);
void     hearthi_udp_flag_wait(int sync, struct hearthi_grant *g);
void     hearthi_udp_flag_reset(int sync);
bool     hearthi_udp_flag_is_set(int sync);
uint64_t hearthi_udp_cond_enter(int sync);
void     hearthi_udp_cond_wait(int sync, uint64_t place);
void     hearthi_udp_cond_wake(int sync, bool all);
uint64_t hearthi_udp_atomic(int home, size_t offset,
                            const struct hearthi_atomic_op *s);
void     hearthi_udp_adds(const struct hearthi_add_run *run, size_t n);

/* ---- their manager: sync_manager.c ---- */

/* The locks, flags, condition variables and reader-writer locks that this rank
 * manages (transport/sync/): object i is at rank i modulo the number of ranks.
 * With the mutex of the servers, but for what says otherwise. */

void hearthi_udp_manager_open(void);
void hearthi_udp_manager_close(void);
void hearthi_udp_manage(uint32_t peer, const struct hearthi_udp_message *m);

/* What another server says of a lock that stays. */
void hearthi_udp_recalled(const struct hearthi_udp_message *m);

/* Add the locks that a rank has, held or kept, of those that this one manages.
 * Without the mutex; nothing if it is not to be had soon, as the thread that
 * has it may be one of those that wait for the end. */
void hearthi_udp_abandoned_locks(int rank, struct hearthi_abandoned_locks *l);

/* ---- locks that stay: udp_delegation.c ---- */

/* Locks that are delegated to a rank, for their manager.  With the mutex of
 * the servers, but for what says otherwise. */

void hearthi_udp_delegations_open(void);

/* A peer would keep the lock that it holds, and is answered; and a lock is
 * about to be released, which may have stayed. */
void hearthi_udp_delegation_begin(struct hearthi_managed_object *o,
                                  uint32_t                       peer);
void hearthi_udp_delegation_end(const struct hearthi_managed_object *o);

/* A client waits for one that stays. */
void hearthi_udp_delegation_recall(struct hearthi_managed_object *o);

/* Without the mutex: send what is due; when there will be more. */
uint64_t hearthi_udp_recall_again(void);

/* ---- the barrier: barrier.c ---- */

void hearthi_udp_barrier_open(void);
void hearthi_udp_barrier_close(void);
void hearthi_udp_barrier(const struct hearthi_notice *own, size_t n,
                         bool                            invalidate_all,
                         struct hearthi_barrier_notices *news);
void hearthi_udp_barrier_serve(uint32_t                          peer,
                               const struct hearthi_udp_message *m);

#endif
