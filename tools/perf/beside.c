/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libhearth costs MPI and system calls, in front of which it stands, and
 * what they cost on memory of the heap.
 *
 * Both sides take turns, many in a round: what is to be seen is a hundredth of
 * what a busy machine does to either.
 */
#define _GNU_SOURCE
#include "perf.h"
#include "udp.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 20, READS = 3, SMALL = 8, MESSAGE = 1 << 20, TAG = 7 };

/* The calls of a program, or those of the MPI library behind libhearth. */
struct calls {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
};

static const struct calls fronted = { MPI_Send, MPI_Recv };

static void
symbol_find(void *library, const char *name, void *function)
{
    void *found = library ? dlsym(library, name) : NULL;

    if (!found) {
        fprintf(stderr, "hearth-perf: %s of a shared MPI library is needed\n",
                name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memcpy(function, &found, sizeof found);
}

/* libhearth has no MPI_Initialized of its own. */
static struct calls
plain_calls(void)
{
    void        *at = dlsym(RTLD_DEFAULT, "MPI_Initialized");
    void        *library = NULL;
    Dl_info      info;
    struct calls plain;

    if (at && dladdr(at, &info))
        library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    symbol_find(library, "MPI_Send", &plain.send);
    symbol_find(library, "MPI_Recv", &plain.recv);
    return plain;
}

static void
bounce(const struct perf *p, const struct calls *c, char *buffer, int bytes)
{
    int other = perf_other(p);

    if (perf_acting(p))
        c->send(buffer, bytes, MPI_BYTE, other, TAG, p->raw.comm);
    c->recv(buffer, bytes, MPI_BYTE, other, TAG, p->raw.comm,
            MPI_STATUS_IGNORE);
    if (perf_is_peer(p))
        c->send(buffer, bytes, MPI_BYTE, other, TAG, p->raw.comm);
}

static double
bounces(const struct perf *p, const struct calls *c, char *buffer, int bytes,
        size_t turns)
{
    double start = perf_now();

    for (size_t i = 0; i < turns; i++)
        bounce(p, c, buffer, bytes);
    return (perf_now() - start) / (double)turns / 2;
}

/* Two sides of messages, in turns, of which the first only warms up. */
static void
bounces_alternate(const struct perf *p, const struct calls *calls,
                  char *const *buffers, int bytes, size_t turns,
                  double *sample)
{
    for (int i = 0; i <= TURNS; i++)
        for (int turn = 0; turn < 2; turn++) {
            int    k = (turn + i) % 2;
            double us = bounces(p, &calls[k], buffers[k], bytes, turns);

            if (i > 0)
                sample[k] += us / TURNS;
        }
}

/* Figure: a message of 8 bytes through libhearth's calls.  Raw: through the
 * MPI library's.  Private buffers. */
static void
small_messages(struct perf *p, double *sample)
{
    const struct calls calls[] = { fronted, plain_calls() };
    char *const        buffers[] = { p->raw.buffer, p->raw.buffer };

    perf_meet(p);
    sample[0] = sample[1] = 0;
    if (perf_taking_part(p))
        bounces_alternate(p, calls, buffers, SMALL, p->turns, sample);
    perf_meet(p);
}

/* Figure: between home pages of both ends.  Raw: malloc'ed memory. */
static void
large_messages(struct perf *p, double *sample)
{
    const struct calls calls[] = { fronted, fronted };
    char *const        all =
        hearth_alloc((size_t)p->size * MESSAGE, 1, hearth_block());
    char *const heap = all + (size_t)p->rank * MESSAGE;
    char *const plain = malloc(MESSAGE);
    char *const buffers[] = { heap, plain };

    if (!plain)
        abort();
    memset(heap, p->rank, MESSAGE);
    memset(plain, p->rank, MESSAGE);
    hearth_barrier();
    perf_meet(p);
    sample[0] = sample[1] = 0;
    if (perf_taking_part(p))
        bounces_alternate(p, calls, buffers, MESSAGE, p->turns / 200, sample);
    perf_meet(p);
    free(plain);
    hearth_free(all);
}

/* The peer sends what the actor receives, when it is told to; each message
 * differs from the one before in every byte. */
static void
message_send(const struct perf *p, int number)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    int                   asked = p->transport == PERF_OVER_MPI;

    while (!asked) { /* asleep, as others serve */
        nanosleep(&nap, NULL);
        MPI_Iprobe(PERF_ACTOR, TAG, p->raw.comm, &asked, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, PERF_ACTOR, TAG, p->raw.comm,
             MPI_STATUS_IGNORE);
    MPI_Send(p->raw.buffer + (size_t)(number % 2) * MESSAGE, MESSAGE, MPI_BYTE,
             PERF_ACTOR, TAG, p->raw.comm);
}

/* Returns when it is there, to be received. */
static double
message_await(const struct perf *p)
{
    MPI_Send(NULL, 0, MPI_BYTE, p->peer, TAG, p->raw.comm);
    MPI_Probe(p->peer, TAG, p->raw.comm, MPI_STATUS_IGNORE);
    return perf_now();
}

static void
message_receive(const struct perf *p, char *to)
{
    MPI_Recv(to, MESSAGE, MPI_BYTE, p->peer, TAG, p->raw.comm,
             MPI_STATUS_IGNORE);
}

/* Into memory of the heap at home elsewhere, and released. */
static double
received_and_released(const struct perf *p, char *heap)
{
    double start = message_await(p);

    message_receive(p, heap);
    hearth_release(heap, MESSAGE);
    return perf_now() - start;
}

/* By hand: into a private buffer, and from there to the peer. */
static double
received_and_put(struct perf *p, size_t at)
{
    double start = message_await(p);

    message_receive(p, p->raw.buffer);
    if (p->transport == PERF_OVER_UDP)
        return perf_now() - start + perf_udp_stream(p, MESSAGE, 0);
    MPI_Put(p->raw.buffer, MESSAGE, MPI_BYTE, p->peer, (MPI_Aint)at, MESSAGE,
            MPI_BYTE, p->raw.create);
    MPI_Win_flush(p->peer, p->raw.create);
    return perf_now() - start;
}

/* All pages twice: as they are, and when there are copies of them. */
static void
remote_messages(struct perf *p, char *heap, int messages, double *sample)
{
    for (int i = 0; i < messages; i++) {
        size_t at = (size_t)i * MESSAGE;

        if (perf_acting(p)) {
            sample[0] += received_and_released(p, heap + at) / messages;
            sample[1] += received_and_put(p, at) / messages;
        }
        for (int k = 0; perf_is_peer(p) && k < 2; k++)
            message_send(p, 0);
    }
    if (perf_acting(p))
        hearth_prefetch(heap, (size_t)messages * MESSAGE);
    for (int i = 0; i < messages; i++) {
        if (perf_acting(p))
            sample[2] += received_and_released(p, heap + (size_t)i * MESSAGE) /
                         messages;
        if (perf_is_peer(p))
            message_send(p, 1);
    }
}

/* Figure: pages that are not here when the message comes; extra: pages of
 * which there is a copy. */
static void
remote_round(struct perf *p, double *sample)
{
    int    messages = (int)(p->stream_bytes / 4 / MESSAGE);
    size_t bytes = (size_t)messages * MESSAGE;
    char  *heap = hearth_alloc(bytes, 1, hearth_on(p->peer));

    if (perf_is_peer(p)) {
        memset(heap, 1, bytes);
        memset(p->raw.buffer, 2, MESSAGE);
        memset(p->raw.buffer + MESSAGE, 5, MESSAGE);
    }
    hearth_barrier();
    sample[0] = sample[1] = sample[2] = 0;
    remote_messages(p, heap, messages, sample);
    perf_rest(p);
    hearth_barrier();
    for (size_t at = 0; perf_is_peer(p) && at < bytes; at += MESSAGE)
        if (memcmp(heap + at, p->raw.buffer + MESSAGE, MESSAGE) != 0)
            perf_wrong("recv_remote", at);
    hearth_free(heap);
}

static double
file_read(int file, char *to, size_t bytes)
{
    double start = perf_now();

    if (pread(file, to, bytes, 0) != (ssize_t)bytes)
        perf_wrong("read_file", 0);
    return perf_now() - start;
}

/* Figure: own home pages.  Raw: private memory; extra: shared memory that is
 * not Hearth's, which the kernel fills more slowly on some machines.  The file
 * is in memory. */
static void
file_round(struct perf *p, double *sample)
{
    size_t bytes = p->stream_bytes / 4;
    char  *heap = hearth_alloc(bytes, 1, hearth_on(PERF_ACTOR));
    char  *buffers[] = { heap, malloc(bytes), perf_memory(bytes) };
    int    file = memfd_create("hearth-perf", 0);

    sample[0] = sample[1] = sample[2] = 0;
    if (file < 0 || !buffers[1])
        abort();
    if (perf_acting(p)) {
        memset(buffers[1], 1, bytes);
        if (write(file, buffers[1], bytes) != (ssize_t)bytes)
            perf_wrong("read_file", 0);
        for (int i = 0; i <= READS; i++)
            for (int turn = 0; turn < 3; turn++) {
                int    k = (turn + i) % 3;
                double us = file_read(file, buffers[k], bytes);

                if (i > 0)
                    sample[k] += us / READS / 1e3;
            }
    }
    perf_rest(p);
    close(file);
    free(buffers[1]);
    perf_memory_free(buffers[2], bytes);
    hearth_free(heap);
}

const struct perf_figure perf_beside_figures[] = {
    { .name = "send_small",
      .unit = "us",
      .what = "MPI_Send and MPI_Recv of 8 bytes outside the heap",
      .against = "the MPI library's own",
      .bound = 1.02,
      .need = PERF_PEER,
      .round = small_messages },
    { .name = "send_heap",
      .unit = "us",
      .what = "messages of 1 MiB between own home pages",
      .against = "malloc'ed memory",
      .bound = 1.03,
      .need = PERF_PEER,
      .round = large_messages },
    { .name = "recv_remote",
      .unit = "us",
      .what =
          "message of 1 MiB into absent pages of the peer's, and a release",
      .against = "into private memory, and MPI_Put",
      .bound = 1.5,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = remote_round,
      .extra = { "copies" } },
    { .name = "recv_remote",
      .unit = "us",
      .what =
          "message of 1 MiB into absent pages of the peer's, and a release",
      .against = "into private memory, and 1 MiB over bare UDP",
      .bound = 1.5,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = remote_round,
      .extra = { "copies" } },
    { .name = "read_file",
      .unit = "ms",
      .what = "pread of 64 MiB from memory into own home pages",
      .against = "into malloc'ed memory",
      .bound = 1.02,
      .need = PERF_ANY,
      .round = file_round,
      .extra = { "shared" } },
    { .name = NULL }
};
