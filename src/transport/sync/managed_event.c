/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What clients ask of a managed object, and which of those that wait is next.
 * First come, first served, but for what follows.
 *
 * A lock is given to the rank that has waited longest in the group that had it
 * last, COHORT times in a row at most while another group waits; then to the
 * one that has waited longest in the others (cohort locks, Dice and others,
 * 2012).  A group is a cluster: so a lock crosses the link once for several of
 * its holders, and no rank waits for ever.  A rank that waits in another group
 * is older than all that come later there, so before its turn there are as
 * many turns as there were ranks that waited when it came, each of COHORT
 * holders at most.  Notices do not depend on that order: a rank that gets the
 * lock reads its log from where it was.
 *
 * A lock that stays with a rank (node/lock_delegation.h) is busy.  A
 * client that asks for it then stands in the queue, one that tries, too, and
 * the driver recalls the lock.  The rank gives it soon, which serves the
 * queue; or a thread is inside, and then tries are refused.
 *
 * Reader-writer locks are phase-fair: a thread that comes to read enters
 * unless a writer is inside or waits.  When a writer leaves, all readers that
 * wait enter; when the last reader leaves, or none waited, the first writer
 * does.
 *
 * A condition variable is two counts: a thread that enters learns its place,
 * inside the lock; when it has left the lock it waits until the second count
 * has passed that place, which it may have by then.
 */
#include "config.h"

#include "base/assert.h"
#include "managed_object.h"

enum { COHORT = 16 };

/* ---- those that wait ---- */

HEARTHI_FOR_ASSERT static bool
is_queued(const struct hearthi_managed_object *o,
          const struct hearthi_managed_client *client)
{
    for (const struct hearthi_managed_client *c = o->head; c != NULL;
         c = c->next)
        if (c == client)
            return true;
    return false;
}

static void
queue_put(struct hearthi_managed_object *o, struct hearthi_managed_client *c)
{
    HEARTHI_ASSERT(!is_queued(o, c));
    HEARTHI_ASSERT((o->head == NULL) == (o->tail == NULL));
    c->next = NULL;
    if (o->tail != NULL)
        o->tail->next = c;
    else
        o->head = c;
    o->tail = c;
}

/* The one behind `before`, or the first. */
static struct hearthi_managed_client *
queue_take(struct hearthi_managed_object *o,
           struct hearthi_managed_client *before)
{
    struct hearthi_managed_client **at =
        before != NULL ? &before->next : &o->head;
    struct hearthi_managed_client *c = *at;

    HEARTHI_ASSERT(c->next != NULL || o->tail == c);
    *at = c->next;
    if (o->tail == c)
        o->tail = before;
    return c;
}

/* All of whom `due` holds go, in order; the others stay in theirs. */
static void
queue_serve(struct hearthi_managed_object *o,
            bool (*due)(const struct hearthi_managed_object *o,
                        const struct hearthi_managed_client *c),
            void (*go)(struct hearthi_managed_object *o,
                       struct hearthi_managed_client *c))
{
    struct hearthi_managed_client *before = NULL;

    for (struct hearthi_managed_client *c = o->head; c != NULL;
         c = before != NULL ? before->next : o->head)
        if (due(o, c))
            go(o, queue_take(o, before));
        else
            before = c;
}

/* ---- answers ---- */

static void
log_read(const struct hearthi_managed_object *o,
         const struct hearthi_managed_client *c,
         struct hearthi_managed_grant        *g)
{
    enum hearthi_log_news news;

    g->epoch = o->log.epoch;
    g->pos = c->pos;
    news = hearthi_log_read(&o->log, hearthi_log_room(o->sync), c->at, &g->pos,
                            g->news);
    g->ahead = news == HEARTHI_LOG_AHEAD;
    g->lost = g->ahead || news == HEARTHI_LOG_LOST;
}

static void
grant(struct hearthi_managed_object *o, struct hearthi_managed_client *c,
      bool lock)
{
    struct hearthi_managed_grant g = { .lock = lock };

    HEARTHI_ASSERT(o->keeper == 0);
    HEARTHI_ASSERT(lock == (o->busy || o->readers > 0));
    if (lock) {
        g.again = o->last == c->rank + 1;
        o->last = c->rank + 1;
    }
    if (o->all->reads)
        log_read(o, c, &g);
    o->all->driver->grant(o, c, &g);
}

static void
refuse(struct hearthi_managed_object *o, struct hearthi_managed_client *c)
{
    o->all->driver->refuse(c);
}

/* ---- locks ---- */

/* Behind which one stands the first that waits in that group, or (`same` not
 * set) in another; false if there is none. */
static bool
first_of(const struct hearthi_managed_object *o, int group, bool same,
         struct hearthi_managed_client **before)
{
    *before = NULL;
    for (struct hearthi_managed_client *c = o->head; c != NULL;
         *before = c, c = c->next)
        if ((o->all->driver->group(c->rank) == group) == same)
            return true;
    return false;
}

/* Which client is next; one waits. */
static struct hearthi_managed_client *
lock_next(struct hearthi_managed_object *o)
{
    struct hearthi_managed_client *mine = NULL, *other = NULL;
    bool                           have = true, others = false;

    if (o->all->driver->group != NULL) {
        int group = o->all->driver->group(o->last - 1);

        have = first_of(o, group, true, &mine);
        others = first_of(o, group, false, &other);
    }
    if (have && (!others || o->run < COHORT)) {
        o->run = others ? o->run + 1 : 0;
        return queue_take(o, mine);
    }
    o->run = 0;
    return queue_take(o, other);
}

/* A try leaves the queue alone, unless it may be that no thread is inside. */
static void
lock_wait(struct hearthi_managed_object *o, struct hearthi_managed_client *c)
{
    if (c->try && (o->keeper == 0 || o->head != NULL))
        refuse(o, c);
    else
        queue_put(o, c);
    if (o->keeper != 0) /* who asks may have wiped out what was said */
        o->all->driver->recall(o);
}

static void
lock_enter(struct hearthi_managed_object *o, struct hearthi_managed_client *c)
{
    if (o->busy) {
        lock_wait(o, c);
    } else {
        HEARTHI_ASSERT(o->head == NULL && o->keeper == 0);
        o->busy = true;
        grant(o, c, true);
    }
}

static void
lock_leave(struct hearthi_managed_object *o)
{
    if (o->head != NULL) {
        grant(o, lock_next(o), true);
    } else {
        o->run = 0;
        o->busy = false;
    }
}

/* ---- locks that stay ---- */

static bool
tries(const struct hearthi_managed_object *o,
      const struct hearthi_managed_client *c)
{
    (void)o;
    return c->try;
}

void
hearthi_managed_used(struct hearthi_managed_object *o, uint32_t rank,
                     uint64_t stay)
{
    if (o->keeper == rank + 1 && o->stay == stay)
        queue_serve(o, tries, refuse);
}

/* ---- reader-writer locks ---- */

static bool
rw_may(const struct hearthi_managed_object *o, bool write)
{
    return !o->busy && (write ? o->readers == 0 : o->writers == 0);
}

static void
rw_inside(struct hearthi_managed_object *o, struct hearthi_managed_client *c)
{
    HEARTHI_ASSERT(!o->busy && (!c->write || o->readers == 0));
    if (c->write)
        o->busy = true;
    else
        o->readers++;
    grant(o, c, true);
}

static void
rw_enter(struct hearthi_managed_object *o, struct hearthi_managed_client *c)
{
    if (rw_may(o, c->write)) {
        rw_inside(o, c);
    } else if (c->try) {
        refuse(o, c);
    } else {
        o->writers += c->write;
        queue_put(o, c);
    }
}

static bool
reads(const struct hearthi_managed_object *o,
      const struct hearthi_managed_client *c)
{
    (void)o;
    return !c->write;
}

static bool
writes_first(const struct hearthi_managed_object *o,
             const struct hearthi_managed_client *c)
{
    return c->write && !o->busy;
}

static void
writer_inside(struct hearthi_managed_object *o,
              struct hearthi_managed_client *c)
{
    HEARTHI_ASSERT(o->writers > 0);
    o->writers--;
    rw_inside(o, c);
}

static void
rw_leave(struct hearthi_managed_object *o)
{
    HEARTHI_ASSERT(!o->busy || o->readers == 0);
    if (o->busy) {
        o->busy = false;
        queue_serve(o, reads, rw_inside);
    } else if (o->readers > 0) {
        o->readers--;
    }
    if (o->readers == 0)
        queue_serve(o, writes_first, writer_inside);
}

/* ---- both ---- */

void
hearthi_managed_acquire(struct hearthi_managed_object *o,
                        struct hearthi_managed_client *c)
{
    if (hearthi_is_rw(o->sync))
        rw_enter(o, c);
    else
        lock_enter(o, c);
}

void
hearthi_managed_release(struct hearthi_managed_object *o, uint32_t rank,
                        uint64_t epoch, const struct hearthi_notice *n,
                        uint32_t count)
{
    HEARTHI_ASSERT(hearthi_is_rw(o->sync) || (o->busy && o->last == rank + 1));
    (void)rank;
    o->keeper = 0;
    hearthi_managed_publish(o, epoch, n, count);
    if (hearthi_is_rw(o->sync))
        rw_leave(o);
    else
        lock_leave(o);
}

/* ---- flags ---- */

void
hearthi_managed_flag_wait(struct hearthi_managed_object *o,
                          struct hearthi_managed_client *c)
{
    if (o->busy)
        queue_put(o, c);
    else
        grant(o, c, false);
}

void
hearthi_managed_flag_set(struct hearthi_managed_object *o, uint64_t epoch,
                         const struct hearthi_notice *n, uint32_t count)
{
    hearthi_managed_publish(o, epoch, n, count);
    o->busy = false;
    while (o->head != NULL)
        grant(o, queue_take(o, NULL), false);
}

void
hearthi_managed_flag_reset(struct hearthi_managed_object *o)
{
    o->busy = true;
}

/* ---- condition variables ---- */

static bool
is_woken(const struct hearthi_managed_object *o,
         const struct hearthi_managed_client *c)
{
    return c->at < o->woken;
}

static void
wake(struct hearthi_managed_object *o, struct hearthi_managed_client *c)
{
    o->all->driver->woken(c);
}

uint64_t
hearthi_managed_cond_enter(struct hearthi_managed_object *o)
{
    return o->entered++;
}

void
hearthi_managed_cond_wait(struct hearthi_managed_object *o,
                          struct hearthi_managed_client *c)
{
    HEARTHI_ASSERT(o->woken <= o->entered);
    if (is_woken(o, c))
        wake(o, c);
    else
        queue_put(o, c);
}

void
hearthi_managed_cond_wake(struct hearthi_managed_object *o, bool all)
{
    if (all)
        o->woken = o->entered;
    else if (o->woken < o->entered)
        o->woken++;
    queue_serve(o, is_woken, wake);
}
