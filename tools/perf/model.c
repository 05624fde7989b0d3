/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time of a message goes: the five terms of Directed Point's cost
 * model, each by an experiment of its own, without Hearth.
 *
 *   send     in the sending call
 *   gap      from one message of a stream to the next
 *   network  on the way
 *   async    from arrival until the thread runs that waited for it
 *   receive  in the receiving call, when the message is there
 *
 * Two hosts have no common clock, so the network is what is left: half of the
 * round trip between two ends that spin, less `send` and `receive`.  What a
 * trip takes longer between two ends that block is `async`, twice.  On the
 * loopback and over veth the sending call itself carries the message to the
 * receiver's socket, so that little is left for the network, or less than
 * nothing where the receiver runs before the call returns.
 *
 * The sum of all but the gap is the figure; half of a round trip of its own is
 * the raw counterpart.
 */
#include "perf.h"
#include "udp.h"

#include <math.h>

enum term { SEND, GAP, NETWORK, ASYNC, RECEIVE };

enum {
    STREAM = 10, /* messages for the gap, for each turn of a round trip */
    CHUNKS = 40  /* most, of a round trip */
};

/* Kinds of trips, and what is known of each chunk, by the message: medians of
 * them bear it that a rank is put off its core now and then. */
enum trip { BLOCK, SPIN, SENDING, CHECK, TRIPS };

struct trips {
    double us[TRIPS][CHUNKS];
    int    count;
};

static double
trips_median(struct trips *t, enum trip kind)
{
    return perf_median(t->us[kind], t->count);
}

static void
terms_add(double *sample)
{
    const double *t = sample + 2;

    sample[0] = t[SEND] + t[NETWORK] + t[RECEIVE];
    if (!isnan(t[ASYNC]))
        sample[0] += t[ASYNC];
}

/* ---- bare UDP ----
 *
 * Two ends that spin need a core each. */

static double
half_udp(const struct perf *p, enum perf_udp_wait wait, double *sending)
{
    struct perf_udp_trips t = { .ask = p->figure->bytes,
                                .answer = p->figure->bytes,
                                .turns = PERF_UDP_CHUNK,
                                .wait = wait };
    double                half = perf_udp_ping(p, &t) / 2 / PERF_UDP_CHUNK;

    *sending = t.sending / PERF_UDP_CHUNK;
    return half;
}

static void
trips_udp(const struct perf *p, struct trips *t)
{
    double other;

    for (int i = 0; i < t->count; i++) {
        t->us[BLOCK][i] = half_udp(p, PERF_UDP_BLOCK, &other);
        t->us[SPIN][i] = half_udp(p, PERF_UDP_SPIN, &t->us[SENDING][i]);
        t->us[CHECK][i] = half_udp(p, PERF_UDP_BLOCK, &other);
    }
}

static void
terms_udp(const struct perf *p, struct trips *t, double *sample)
{
    size_t  bytes = p->figure->bytes;
    size_t  count = STREAM * p->turns;
    double *term = sample + 2;
    double  spin;

    trips_udp(p, t);
    spin = trips_median(t, SPIN);
    term[SEND] = trips_median(t, SENDING);
    term[GAP] = perf_udp_stream(p, bytes * count, bytes) / (double)count;
    term[RECEIVE] = perf_udp_receive(p, bytes);
    term[NETWORK] = spin - term[SEND] - term[RECEIVE];
    term[ASYNC] = trips_median(t, BLOCK) - spin;
    sample[1] = trips_median(t, CHECK);
    terms_add(sample);
}

static int
chunks_of(const struct perf *p)
{
    size_t count = p->turns / PERF_UDP_CHUNK;

    return count < CHUNKS ? (int)count : CHUNKS;
}

static void
model_udp(struct perf *p, double *sample)
{
    struct trips t = { .count = chunks_of(p) };

    perf_udp_pin(p, true);
    perf_rest(p);
    if (perf_acting(p))
        terms_udp(p, &t, sample);
    perf_rest(p);
    perf_udp_pin(p, false);
}

/* ---- MPI ---- */

static double
half_mpi(const struct perf *p, double *sending)
{
    double half =
        perf_raw_bounce(p, p->figure->bytes, PERF_UDP_CHUNK, sending);

    if (sending)
        *sending /= PERF_UDP_CHUNK;
    return half / 2 / PERF_UDP_CHUNK;
}

/* Nobody sleeps in MPI_Recv, so nothing is asynchronous. */
static void
model_mpi(struct perf *p, double *sample)
{
    size_t       bytes = p->figure->bytes;
    size_t       count = STREAM * p->turns / PERF_BATCH * PERF_BATCH;
    double      *term = sample + 2;
    struct trips t = { .count = chunks_of(p) };

    for (int i = 0; i < t.count; i++) {
        t.us[SPIN][i] = half_mpi(p, &t.us[SENDING][i]);
        t.us[CHECK][i] = half_mpi(p, NULL);
    }
    term[SEND] = trips_median(&t, SENDING);
    term[GAP] = perf_raw_stream(p, bytes, count) / (double)count;
    term[RECEIVE] = perf_raw_receive(p, bytes);
    term[NETWORK] = trips_median(&t, SPIN) - term[SEND] - term[RECEIVE];
    term[ASYNC] = NAN;
    sample[1] = trips_median(&t, CHECK);
    terms_add(sample);
}

#define MODEL(n)                                                              \
    { .name = "model_" #n,                                                    \
      .unit = "us",                                                           \
      .what = "a message of " #n " bytes: send + network + receive",          \
      .against = "half of MPI_Send and MPI_Recv there and back",              \
      .need = PERF_PEER,                                                      \
      .over = PERF_OVER_MPI,                                                  \
      .bytes = n,                                                             \
      .round = model_mpi,                                                     \
      .extra = { "send", "gap", "network", "async", "receive" },              \
      .words = { "in MPI_Send",                                               \
                 "from one message of a stream to the next (not added)",      \
                 "what is left of half a round trip (below 0: overlap)",      \
                 "there is none: who waits in MPI spins",                     \
                 "in MPI_Recv, the message being there" } },                  \
    {                                                                         \
        .name = "model_" #n, .unit = "us",                                    \
        .what =                                                               \
            "a message of " #n " bytes: send + network + async + receive",    \
        .against = "half of a round trip over bare UDP, ends blocking",       \
        .need = PERF_PEER, .over = PERF_OVER_UDP, .bytes = n,                 \
        .round = model_udp,                                                   \
        .extra = { "send", "gap", "network", "async", "receive" }, .words = { \
            "in sendmsg",                                                     \
            "from one message of a stream to the next (not added)",           \
            "what is left of half a round trip, ends spinning (below 0: "     \
            "overlap)",                                                       \
            "from arrival until the thread runs that slept",                  \
            "in recv, the datagram being there"                               \
        }                                                                     \
    }

/* The smallest message, and a datagram that fills a frame of Ethernet. */
const struct perf_figure perf_model_figures[] = { MODEL(1),
                                                  MODEL(1472),
                                                  { .name = NULL } };
