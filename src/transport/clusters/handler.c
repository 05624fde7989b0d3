/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One thread waits for all: ranks, other gateways, new connections.  What all
 * have sent is taken in one turn, and then what goes out leaves.
 */
#include "config.h"

#include "handler.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "attend.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/thread.h"
#include "bytes.h"
#include "company.h"
#include "far.h"
#include "gate.h"
#include "guests.h"

enum { ROUNDS = 2 };

static struct {
    int       byes;
    bool      ended, sent; /* sent: something, since all was */
    bool      more;        /* is to go out before anything is waited for */
    pthread_t thread;
    bool      runs;
} h;

/* ---- what goes ---- */

/* All that one turn has gathered for a cluster is one message. */
void
hearthi_gate_send(int cluster)
{
    struct hearthi_bytes *b = &hearthi_gate.batch[cluster];
    struct iovec          part = { b->p + b->at, hearthi_bytes_left(b) };

    if (part.iov_len == 0)
        return;
    if (!hearthi_link_send(hearthi_gate.link, cluster, &part, 1))
        hearthi_fatal("gateway", "no memory for a message of %zu bytes",
                      part.iov_len);
    hearthi_count(far_messages, 1);
    b->at = b->end = 0;
    h.sent = true;
}

/* True if the link has more to send than when this was called last: what was
 * much has left in between. */
static bool
batches_send(void)
{
    bool any;

    for (int i = 0; i < hearthi_gate.conf->n; i++)
        hearthi_gate_send(i);
    any = h.sent;
    h.sent = false;
    return any;
}

/* ---- the thread ---- */

void
hearthi_gate_bye(uint32_t place)
{
    h.byes++;
    hearthi_guests_bye(place);
}

/* Who ends the job with a line has said so before. */
void
hearthi_gate_lost(uint32_t place, int why)
{
    int rank = hearthi_gate.first + (int)place;

    if (h.ended)
        return;
    if (why == ETIMEDOUT || why == EHOSTUNREACH || why == ENETUNREACH)
        hearthi_fatal("gateway",
                      "rank %d has been silent for long: its host or the "
                      "network is down (%s)",
                      rank, strerror(why));
    hearthi_fatal("gateway",
                  "rank %d is gone: it was killed or left without "
                  "hearth_finalize; the launcher or the system's log may know "
                  "why",
                  rank);
}

void
hearthi_gate_ending(const char *line)
{
    if (!h.ended)
        hearthi_link_end(hearthi_gate.link, line);
    h.ended = true;
}

/* Something waits to leave, and others are about to ask. */
static bool
is_worth_a_moment(void)
{
    for (int i = 0; i < hearthi_gate.conf->n; i++)
        if (hearthi_bytes_left(&hearthi_gate.batch[i]) > 0)
            return hearthi_company_expected();
    return false;
}

/* What others ask for without a pause keeps no rank here waiting. */
static void
turn(void)
{
    int rounds = ROUNDS;

    hearthi_guests_take(h.more ? 0 : hearthi_link_due(hearthi_gate.link));
    while (is_worth_a_moment()) {
        sched_yield();
        hearthi_guests_take(0);
    }
    do {
        hearthi_far_turn();
        hearthi_guests_send();
        batches_send();
        if (!hearthi_link_turn(hearthi_gate.link, 0) && !h.ended)
            hearthi_end_wait(); /* failed() has spoken */
        hearthi_far_turn();
        hearthi_guests_send();
        h.more = batches_send();
    } while (h.more && --rounds > 0);
}

bool
hearthi_handler_is_self(void)
{
    return h.runs && pthread_equal(pthread_self(), h.thread);
}

static void *
run(void *unused)
{
    (void)unused;
    while (h.byes < hearthi_gate.ranks)
        turn();
    if (!hearthi_link_finish(hearthi_gate.link))
        hearthi_fatal("hearth_finalize", "no memory for a last message");
    return NULL;
}

struct hearthi_door
hearthi_handler_listen(void)
{
    return hearthi_guests_listen();
}

void
hearthi_handler_start(void)
{
    int code;

    h.byes = 0;
    h.ended = h.sent = h.more = false;
    hearthi_guests_open(hearthi_link_descriptor(hearthi_gate.link));
    code = hearthi_thread_start(&h.thread, run);
    if (code != 0)
        hearthi_fatal("hearth_init", "no thread for the gateway: %s",
                      strerror(code));
    h.runs = true;
}

void
hearthi_handler_join(void)
{
    if (!h.runs)
        return;
    pthread_join(h.thread, NULL);
    h.runs = false;
    hearthi_guests_close();
    hearthi_far_close();
    hearthi_attend_close();
    for (int i = 0; i < HEARTHI_CLUSTERS_MAX; i++)
        hearthi_bytes_free(&hearthi_gate.batch[i]);
}
