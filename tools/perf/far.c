/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several clusters: what it takes to reach another one, beside a TCP
 * connection between the same two machines and what the same takes inside a
 * cluster.  The actor is on the first cluster's gateway, and its partner,
 * which answers on that connection, the first rank of the second.
 */
#include "perf.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TRIPS = 200,
    PAGES = 256,
    SCAN = 64 << 20,
    BARRIERS = 100,
    PIECE = 1 << 20,
    ADDRESSES = 16
};

static struct {
    int   fd;      /* between actor and partner */
    int   partner; /* or -1 */
    int   second;  /* another rank of the actor's cluster, of another node */
    char *there, *inside; /* memory at the partner, and at the second */
} far = { .fd = -1 };

/* ---- the connection ---- */

/* Where the partner listens: all of its machine's addresses. */
struct door {
    int                n;
    struct sockaddr_in at[ADDRESSES];
};

static int
door_make(struct door *d)
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t          size = sizeof a;
    int                fd = socket(AF_INET, SOCK_STREAM, 0);
    struct ifaddrs    *all;

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) != 0 ||
        getifaddrs(&all) != 0)
        abort();
    for (struct ifaddrs *i = all; i != NULL && d->n < ADDRESSES;
         i = i->ifa_next) {
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET)
            continue;
        memcpy(&d->at[d->n], i->ifa_addr, sizeof *d->at);
        d->at[d->n++].sin_port = a.sin_port;
    }
    freeifaddrs(all);
    return fd;
}

static int
door_call(const struct door *d)
{
    const struct timeval patience = { .tv_sec = 1 };

    for (int i = 0; i < d->n; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(fd, (const struct sockaddr *)&d->at[i], sizeof *d->at) ==
            0)
            return fd;
        close(fd);
    }
    return -1;
}

static void
connection_make(const struct perf *p)
{
    struct door *d = hearth_alloc(1, sizeof *d, hearth_on(far.partner));
    int          listener = -1, one = 1;

    if (p->rank == far.partner)
        listener = door_make(d);
    hearth_barrier();
    if (perf_acting(p))
        far.fd = door_call(d);
    else if (p->rank == far.partner)
        far.fd = accept(listener, NULL, NULL);
    if (far.fd < 0 && (perf_acting(p) || p->rank == far.partner)) {
        fprintf(stderr, "hearth-perf: no TCP connection between clusters\n");
        abort();
    }
    if (listener >= 0)
        close(listener);
    if (far.fd >= 0)
        setsockopt(far.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    hearth_barrier();
    hearth_free(d);
}

static void
all_recv(void *to, size_t bytes)
{
    if (recv(far.fd, to, bytes, MSG_WAITALL) != (ssize_t)bytes)
        abort();
}

static void
all_send(const void *from, size_t bytes)
{
    const char *at = from;

    while (bytes > 0) {
        ssize_t n = send(far.fd, at, bytes, MSG_NOSIGNAL);

        if (n <= 0)
            abort();
        at += n;
        bytes -= (size_t)n;
    }
}

/* A round trip of 8 bytes, for the actor. */
static double
trip_time(const struct perf *p)
{
    int64_t word = 0;
    double  start = perf_now();

    for (int i = 0; i < TRIPS && perf_acting(p); i++) {
        all_send(&word, sizeof word);
        all_recv(&word, sizeof word);
    }
    for (int i = 0; i < TRIPS && p->rank == far.partner; i++) {
        all_recv(&word, sizeof word);
        all_send(&word, sizeof word);
    }
    return (perf_now() - start) / TRIPS;
}

/* So many bytes from the partner. */
static double
stream_time(const struct perf *p, char *buffer)
{
    double  start;
    int64_t word = 0;

    if (p->rank == far.partner) {
        all_recv(&word, sizeof word);
        for (size_t at = 0; at < SCAN; at += PIECE)
            all_send(far.there + at, PIECE);
    }
    if (!perf_acting(p))
        return 0;
    start = perf_now();
    all_send(&word, sizeof word);
    for (size_t at = 0; at < SCAN; at += PIECE)
        all_recv(buffer, PIECE);
    return perf_now() - start;
}

static void
far_open(const struct perf *p)
{
    if (far.there != NULL)
        return;
    far.partner = far.second = -1;
    for (int r = p->size - 1; r > 0; r--) {
        if (hearth_cluster_of(r) == 1)
            far.partner = r;
        if (hearth_cluster_of(r) == 0 &&
            hearth_node_of(r) != hearth_node_of(PERF_ACTOR))
            far.second = r;
    }
    connection_make(p);
    far.there = hearth_alloc(SCAN, 1, hearth_on(far.partner));
    far.inside = hearth_alloc((PAGES + 1) * p->page, 1,
                              hearth_on(far.second < 0 ? 0 : far.second));
}

/* ---- figures ---- */

static double
reads_time(int cluster, const char *from, size_t page)
{
    double  start = perf_now();
    int64_t word;

    for (size_t i = 0; i < TRIPS; i++)
        hearth_read(cluster, hearth_offset(from + i % PAGES * page), &word,
                    sizeof word);
    return (perf_now() - start) / TRIPS;
}

static void
round_read(struct perf *p, double *sample)
{
    double trip;

    far_open(p);
    hearth_barrier();
    trip = trip_time(p);
    if (perf_acting(p)) {
        sample[0] = reads_time(1, far.there, p->page);
        sample[2] = trip;
        sample[3] = reads_time(0, far.inside, p->page);
        sample[1] = trip + 2 * sample[3];
    }
    hearth_barrier();
}

/* Pages that their home has just written and nobody else has touched: what was
 * read again and again would be foreseen (HEARTH_PREDICT). */
static char *
pages_make(const struct perf *p, int home)
{
    char *pages = hearth_alloc(PAGES * p->page, 1, hearth_on(home));

    for (size_t i = 0; i < PAGES && p->rank == home; i++)
        memcpy(pages + i * p->page, &p->salt, sizeof p->salt);
    hearth_barrier();
    return pages;
}

/* In an order that is no sequence. */
static double
faults_time(const struct perf *p, const char *from)
{
    size_t *order = perf_shuffled(PAGES);
    double  start = perf_now();

    for (size_t i = 0; i < PAGES; i++)
        if (*(const volatile uint32_t *)(from + order[i] * p->page) != p->salt)
            perf_wrong(p->figure->name, order[i] * p->page);
    start = perf_now() - start;
    free(order);
    return start / PAGES;
}

static void
round_fault(struct perf *p, double *sample)
{
    char  *there, *inside;
    double trip;

    far_open(p);
    there = pages_make(p, far.partner);
    inside = pages_make(p, far.second < 0 ? PERF_ACTOR : far.second);
    trip = trip_time(p);
    if (perf_acting(p)) {
        sample[0] = faults_time(p, there);
        sample[2] = trip;
        sample[3] = faults_time(p, inside);
        sample[1] = trip + 2 * sample[3];
    }
    hearth_barrier();
    hearth_free(inside);
    hearth_free(there);
}

/* The actor reads first, then a rank of another node what the actor's gateway
 * has kept, and pages of the actor's. */
static void
round_second(struct perf *p, double *sample)
{
    double *times;
    char   *there, *inside;

    far_open(p);
    times = hearth_alloc(2, sizeof *times, hearth_on(PERF_ACTOR));
    there = pages_make(p, far.partner);
    inside = pages_make(p, PERF_ACTOR);
    if (perf_acting(p))
        faults_time(p, there);
    hearth_barrier();
    if (p->rank == far.second) {
        times[0] = faults_time(p, there);
        times[1] = faults_time(p, inside);
    }
    hearth_barrier();
    if (perf_acting(p))
        memcpy(sample, times, 2 * sizeof *times);
    hearth_free(inside);
    hearth_free(there);
    hearth_free(times);
}

static void
round_scan(struct perf *p, double *sample)
{
    char  *buffer = perf_memory(PIECE);
    double raw, start;

    far_open(p);
    for (size_t at = 0; at < SCAN && p->rank == far.partner; at += p->page)
        memcpy(far.there + at, &p->salt, sizeof p->salt);
    hearth_barrier();
    raw = stream_time(p, buffer);
    hearth_barrier();
    if (perf_acting(p)) {
        start = perf_now();
        for (size_t at = 0; at < SCAN; at += p->page)
            if (*(const volatile uint32_t *)(far.there + at) != p->salt)
                perf_wrong(p->figure->name, at);
        sample[0] = SCAN / (perf_now() - start);
        sample[1] = SCAN / raw;
    }
    perf_memory_free(buffer, PIECE);
    hearth_barrier();
}

static void
round_barrier(struct perf *p, double *sample)
{
    double trip, start;

    far_open(p);
    hearth_barrier();
    trip = trip_time(p);
    MPI_Barrier(p->raw.comm);
    start = perf_now();
    for (int i = 0; i < BARRIERS; i++)
        MPI_Barrier(p->raw.comm);
    sample[3] = (perf_now() - start) / BARRIERS;
    hearth_barrier();
    start = perf_now();
    for (int i = 0; i < BARRIERS; i++)
        hearth_barrier();
    sample[0] = (perf_now() - start) / BARRIERS;
    sample[2] = trip;
    sample[1] = trip + 2 * sample[3];
}

/* All ranks of all clusters read pages of the next one at once; counted at the
 * actor's gateway. */
static void
round_gather(struct perf *p, double *sample)
{
    hearth_stats before, after;

    far_open(p);
    hearth_barrier();
    hearth_get_stats(&before);
    for (size_t i = 0; i < PAGES; i++)
        hearth_fetch_add(
            (int64_t *)(void *)(far.there + SCAN - 4096) + p->rank, 1);
    hearth_barrier();
    hearth_get_stats(&after);
    sample[0] = (double)(after.far_requests - before.far_requests);
    sample[1] = (double)(after.far_messages - before.far_messages);
}

const struct perf_figure perf_far_figures[] = {
    { .name = "far_read",
      .unit = "us",
      .what = "hearth_read of 8 bytes of another cluster",
      .against = "TCP round trip between gateways and two reads inside a "
                 "cluster",
      .bound = 1.25,
      .need = PERF_CLUSTERS,
      .round = round_read,
      .extra = { "tcp", "inside" } },
    { .name = "far_fault",
      .unit = "us",
      .what = "read fault on a page of another cluster",
      .against = "TCP round trip and two read faults inside a cluster",
      .bound = 1.3,
      .need = PERF_CLUSTERS,
      .round = round_fault,
      .extra = { "tcp", "inside" } },
    { .name = "far_second",
      .unit = "us",
      .what = "read fault on a page that another rank of the cluster had",
      .against = "read fault inside a cluster",
      .bound = 1.5,
      .need = PERF_CLUSTERS_PEER,
      .round = round_second },
    { .name = "far_scan",
      .unit = "MB/s",
      .what = "scan of 64 MiB of another cluster, cold",
      .against = "the same bytes over TCP",
      .bound = 0.9,
      .sense = PERF_AT_LEAST,
      .need = PERF_CLUSTERS,
      .round = round_scan },
    { .name = "far_barrier",
      .unit = "us",
      .what = "barrier of all clusters, nothing dirty",
      .against = "TCP round trip and two MPI_Barriers of a cluster",
      .bound = 1.3,
      .need = PERF_CLUSTERS,
      .round = round_barrier,
      .extra = { "tcp", "inside" } },
    { .name = "far_gather",
      .unit = "requests",
      .what = "atomic steps of all ranks of a cluster on words of another",
      .against = "messages in which they went",
      .bound = 2,
      .sense = PERF_AT_LEAST,
      .need = PERF_CLUSTERS,
      .round = round_gather },
    { .name = NULL },
};
