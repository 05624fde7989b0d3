/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks, flags, condition variables and reader-writer locks where they are
 * managed: who has one, who waits for it, and its log.  A driver tells what
 * clients ask and sends the answers, in messages of its own: the server of a
 * rank (udp), or the gateway of a cluster.  Pure data: it allocates nothing,
 * and one thread at a time may call what is here.
 *
 * A client that asks by hearthi_managed_acquire(), .._flag_wait() or
 * .._cond_wait() belongs to the manager until it is answered, by one call of
 * the driver: grant, refuse or woken, at once or in a later call.  All else is
 * answered by the driver when the call returns, so what a release lets in is
 * answered before the release is.
 */
#ifndef HEARTHI_MANAGED_OBJECT_H
#define HEARTHI_MANAGED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "notice/notice.h"
#include "transport/log.h"

struct hearthi_managed_client {
    struct hearthi_managed_client *next; /* that waits for the same object */
    uint64_t at;  /* epoch of what it has read of the log, or its place at a
                     condition variable */
    uint32_t pos; /* and how far it has read in that epoch */
    uint32_t rank;
    bool     try, write; /* of a lock; of a reader-writer lock */
};

struct hearthi_managed_object {
    struct hearthi_managed_objects *all;
    int                             sync; /* its number */
    bool                            busy; /* a lock or writer inside, a flag
                                             not set */
    uint32_t readers;                     /* that are inside */
    uint32_t writers;                     /* that wait */
    uint32_t last;                        /* rank + 1 of who had it last */
    uint32_t run;                         /* holders of one group while other
                                             groups wait */
    uint64_t                       entered, woken; /* a condition variable */
    struct hearthi_managed_client *head, *tail;    /* that wait */
    uint32_t                       keeper; /* rank + 1 of with whom it stays,
                                              or 0 */
    uint64_t stay;                         /* its number */
    struct { /* the driver's, of a lock that stays (udp_delegation.c) */
        uint32_t                       to; /* the keeper's host */
        uint64_t                       due, again;
        struct hearthi_managed_object *next;
    } recall;
    struct hearthi_log    log;
    struct hearthi_notice notice[]; /* as many as hearthi_log_room() says */
};

/* What a client is told that has its lock, or whose flag is set. */
struct hearthi_managed_grant {
    bool     lock;  /* not a flag */
    bool     again; /* no other rank had it since this one */
    bool     ahead; /* of a later epoch than the client's, and: */
    bool     lost;  /* all copies must go */
    uint64_t epoch; /* of the log */
    uint32_t pos;   /* its end */
    struct hearthi_ring_span news[2];
};

struct hearthi_managed_driver {
    void (*grant)(const struct hearthi_managed_object *o,
                  struct hearthi_managed_client       *c,
                  const struct hearthi_managed_grant  *g);
    void (*refuse)(struct hearthi_managed_client *c); /* a try */
    void (*woken)(struct hearthi_managed_client *c);

    /* A client wants a lock that stays with a rank.  NULL: none does. */
    void (*recall)(struct hearthi_managed_object *o);

    /* Ranks of one group have a lock one after the other.  NULL: all ranks
     * are of one group. */
    int (*group)(uint32_t rank);
};

/* Those that one of several managers has. */
struct hearthi_managed_objects {
    const struct hearthi_managed_driver *driver;
    int                                  me, managers;
    bool  reads;  /* logs: ranks of several nodes have copies */
    char *object; /* those that have names lie behind the others */
};

/* Bytes of a manager's objects, of `syncs` in all; and they are zeros at
 * first. */
size_t hearthi_managed_bytes(int managers, int syncs);
void   hearthi_managed_open(struct hearthi_managed_objects *all);

/* One of those that this manager has. */
struct hearthi_managed_object *
hearthi_managed_object(struct hearthi_managed_objects *all, int sync);

/* ---- locks and reader-writer locks ---- */

void hearthi_managed_acquire(struct hearthi_managed_object *o,
                             struct hearthi_managed_client *c);

/* With count notices of that epoch: of more than a log holds the number says
 * enough, and they are not read. */
void hearthi_managed_release(struct hearthi_managed_object *o, uint32_t rank,
                             uint64_t epoch, const struct hearthi_notice *n,
                             uint32_t count);

/* The lock stays with the rank that has it: the number of the stay, or 0 if
 * another client waits.  It ends with a release. */
uint64_t hearthi_managed_keep(struct hearthi_managed_object *o, uint32_t rank);

/* A thread of the keeper's has the lock, in that stay: tries are refused. */
void hearthi_managed_used(struct hearthi_managed_object *o, uint32_t rank,
                          uint64_t stay);

/* Does a client wait that is refused then? */
bool hearthi_managed_is_tried(const struct hearthi_managed_object *o);

/* Is this lock lost with a rank that is gone? */
bool hearthi_managed_is_held(const struct hearthi_managed_object *o,
                             uint32_t                             rank);

/* ---- flags ---- */

void hearthi_managed_flag_wait(struct hearthi_managed_object *o,
                               struct hearthi_managed_client *c);
void hearthi_managed_flag_set(struct hearthi_managed_object *o, uint64_t epoch,
                              const struct hearthi_notice *n, uint32_t count);
void hearthi_managed_flag_reset(struct hearthi_managed_object *o);

/* ---- condition variables ---- */

/* The place of one that will wait. */
uint64_t hearthi_managed_cond_enter(struct hearthi_managed_object *o);
void     hearthi_managed_cond_wait(struct hearthi_managed_object *o,
                                   struct hearthi_managed_client *c);
void     hearthi_managed_cond_wake(struct hearthi_managed_object *o, bool all);

/* ---- its log ---- */

/* Notices before those of a release or a set. */
void hearthi_managed_publish(struct hearthi_managed_object *o, uint64_t epoch,
                             const struct hearthi_notice *n, uint32_t count);

/* Those from a position on, for a client whose grant had no room for them.
 * False if the log has gone round. */
bool hearthi_managed_reread(const struct hearthi_managed_object *o,
                            uint64_t epoch, uint32_t pos,
                            struct hearthi_ring_span news[2]);

/* Copy the first `most` of them, in order; gives how many there were. */
uint32_t hearthi_managed_notices(const struct hearthi_managed_object *o,
                                 const struct hearthi_ring_span       news[2],
                                 struct hearthi_notice *to, uint32_t most);

#endif
