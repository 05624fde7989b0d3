/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One thread waits for all: ranks, other gateways, new connections.  What all
 * have sent is taken in one turn, and then what goes out leaves.
 */
#include "config.h"

#include "gateway_thread.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/report.h"
#include "base/stat.h"
#include "base/thread.h"
#include "gateway_server.h"
#include "hidden_rank.h"
#include "life/liveness_line.h"
#include "message_stream.h"
#include "rank_listener.h"
#include "remote_request.h"

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
hearthi_gateway_send(int cluster)
{
    struct hearthi_message_stream *b = &hearthi_gateway_server.batch[cluster];
    struct iovec part = { b->p + b->at, hearthi_message_stream_left(b) };

    if (part.iov_len == 0)
        return;
    if (!hearthi_link_send(hearthi_gateway_server.link, cluster, &part, 1))
        hearthi_fatal("gateway",
                      "a message of %zu bytes cannot be sent to another "
                      "cluster: %s",
                      part.iov_len,
                      part.iov_len > HEARTHI_CONNECTION_LONGEST
                          ? "256 MiB are the most"
                          : "there is no memory for it");
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

    for (int i = 0; i < hearthi_gateway_server.conf->n; i++)
        hearthi_gateway_send(i);
    any = h.sent;
    h.sent = false;
    return any;
}

/* ---- the thread ---- */

void
hearthi_gateway_bye(uint32_t place)
{
    h.byes++;
    hearthi_gateway_clients_bye(place);
}

/* A rank that ends the job with a line has said so before. */
void
hearthi_gateway_client_lost(uint32_t place, int why)
{
    int rank = hearthi_gateway_server.first + (int)place;

    if (h.ended)
        return;
    if (hearthi_listener_silent(why))
        hearthi_fatal("gateway",
                      "no answer from rank %d for long (%s): the network "
                      "between its host and the gateway's, or one of the two "
                      "hosts, is down",
                      rank, strerror(why));
    hearthi_fatal("gateway",
                  "rank %d is gone: it was killed or left without "
                  "hearth_finalize; the launcher or the system's log may know "
                  "why",
                  rank);
}

/* Ranks here know by that that none of them is to speak. */
static void
ranks_tell(void)
{
    const struct hearthi_record r = { .said = HEARTHI_SAID_ENDING };
    struct hearthi_wan_message  head = { .op = HEARTHI_WAN_TELL,
                                         .len = sizeof r,
                                         .slot = HEARTHI_WAN_HEARS };

    for (int i = 0; i < hearthi_gateway_server.ranks; i++) {
        head.rank = head.to = (uint32_t)(hearthi_gateway_server.first + i);
        hearthi_gateway_hand(&head, &r);
    }
    hearthi_gateway_clients_send();
}

bool
hearthi_gateway_ending(const char *line)
{
    if (h.ended)
        return false;
    h.ended = true;
    ranks_tell();
    hearthi_link_end(hearthi_gateway_server.link, line);
    return true;
}

void
hearthi_gateway_server_ended(void)
{
    enum { SECOND = 1 };

    hearthi_link_linger(hearthi_gateway_server.link, SECOND);
}

/* Another rank has ended the job, whose launcher ends this one.  Until then
 * its clusters' gateways may have to say something, which is thrown away. */
static void
end_turn(void)
{
    const struct timespec nap = { .tv_nsec = 1000000 };

    hearthi_link_linger(hearthi_gateway_server.link, 0);
    nanosleep(&nap, NULL);
}

/* Something waits to leave, and others are about to ask. */
static bool
is_worth_a_moment(void)
{
    for (int i = 0; i < hearthi_gateway_server.conf->n; i++)
        if (hearthi_message_stream_left(&hearthi_gateway_server.batch[i]) > 0)
            return hearthi_batching_expected();
    return false;
}

/* What others ask for without a pause keeps no rank here waiting. */
static void
turn(void)
{
    int rounds = ROUNDS;

    hearthi_gateway_clients_take(
        h.more ? 0 : hearthi_link_due(hearthi_gateway_server.link));
    while (is_worth_a_moment()) {
        sched_yield();
        hearthi_gateway_clients_take(0);
    }
    do {
        hearthi_remote_request_turn();
        hearthi_gateway_clients_send();
        batches_send();
        if (!hearthi_link_turn(hearthi_gateway_server.link, 0) && !h.ended)
            hearthi_end_wait(); /* failed() has spoken */
        hearthi_remote_request_turn();
        hearthi_gateway_clients_send();
        h.more = batches_send();
    } while (h.more && --rounds > 0);
    if (h.ended)
        end_turn();
}

bool
hearthi_gateway_thread_is_self(void)
{
    return h.runs && pthread_equal(pthread_self(), h.thread);
}

static void *
run(void *unused)
{
    (void)unused;
    while (h.byes < hearthi_gateway_server.ranks)
        turn();
    if (!hearthi_link_finish(hearthi_gateway_server.link))
        hearthi_fatal("hearth_finalize", "no memory for a last message");
    return NULL;
}

void
hearthi_gateway_thread_start(void)
{
    h.byes = 0;
    h.ended = h.sent = h.more = false;
    hearthi_gateway_clients_open(
        hearthi_link_descriptor(hearthi_gateway_server.link));
    hearthi_thread_start(&h.thread, run, "hearth_init",
                         "thread for the gateway", NULL);
    h.runs = true;
}

void
hearthi_gateway_thread_join(void)
{
    if (!h.runs)
        return;
    pthread_join(h.thread, NULL);
    h.runs = false;
    hearthi_gateway_clients_close();
    hearthi_remote_request_close();
    hearthi_hidden_rank_close();
    for (int i = 0; i < HEARTHI_CLUSTERS_MAX; i++)
        hearthi_message_stream_free(&hearthi_gateway_server.batch[i]);
}
