/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A diffusion equation by Fourier transforms in three dimensions.
 *
 * Problem: a complex field of nx x ny x nz pseudo-random cells on a periodic
 * box at time 0, and the field at times 1 to 6: its transform, once, and at
 * each time that times what is left of each wave, transformed back.  What is
 * asked for is a sum of 1024 cells at each time.
 *
 * Source: kernel FT of the NAS Parallel Benchmarks (Bailey et al., The NAS
 * Parallel Benchmarks, report RNR-94-007, 1994, and NAS-95-020, 1995), shared
 * as 3DFFT in the papers on TreadMarks and JIAJIA.
 *
 * Sharing: a rank has the field in a slab of planes z and its transform in a
 * slab of planes y.  Between them rows cross by one array, in which each rank
 * writes to what is at home on it and, after a barrier, reads its part of what
 * all others wrote: pieces of contiguous rows, one in each plane of theirs.
 * Another barrier lets them write again.  A transform along y or z takes its
 * rows from wherever they are, so that nothing is moved for its own sake.
 *
 * Limit: the crossing, all cells but those that stay on their rank, in every
 * step: in class A, which takes 0.4 GiB of heap, 64 MiB between two nodes
 * for a billion operations.  On one node, the memory's bandwidth.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "common.h"
#include "heat.h"
#include "npb.h"

static const char *class = "A";

static const struct app_option options[] = {
    NPB_OPTION(&class),
};

/* The checksums are those of NPB's ft (3.4.2), which asks for 1e-12. */
static const struct problem problems[NPB_CLASSES] = {
    [NPB_S] = { 64,
                64,
                64,
                { { 5.546087004964e+02, 4.845363331978e+02 },
                  { 5.546385409189e+02, 4.865304269511e+02 },
                  { 5.546148406171e+02, 4.883910722336e+02 },
                  { 5.545423607415e+02, 4.901273169046e+02 },
                  { 5.544255039624e+02, 4.917475857993e+02 },
                  { 5.542683411902e+02, 4.932597244941e+02 } } },
    [NPB_W] = { 128,
                128,
                32,
                { { 5.673612178944e+02, 5.293246849175e+02 },
                  { 5.631436885271e+02, 5.282149986629e+02 },
                  { 5.594024089970e+02, 5.270996558037e+02 },
                  { 5.560698047020e+02, 5.260027904925e+02 },
                  { 5.530898991250e+02, 5.249400845633e+02 },
                  { 5.504159734538e+02, 5.239212247086e+02 } } },
    [NPB_A] = { 256,
                256,
                128,
                { { 5.046735008193e+02, 5.114047905510e+02 },
                  { 5.059412319734e+02, 5.098809666433e+02 },
                  { 5.069376896287e+02, 5.098144042213e+02 },
                  { 5.077892868474e+02, 5.101336130759e+02 },
                  { 5.085233095391e+02, 5.104914655194e+02 },
                  { 5.091487099959e+02, 5.107917842803e+02 } } },
};

/* Where row (y, z) is in the array by which rows cross: as in the field on
 * the way forward, as in its transform on the way backward. */
static struct cell *
heap_row(const struct heat *h, enum direction direction, size_t y, size_t z)
{
    const struct problem *p = h->problem;
    const size_t row = direction == FORWARD ? z * p->ny + y : y * p->nz + z;

    return (struct cell *)h->memory + row * p->nx;
}

/* Fetch what I need of planes [from, to) of others. */
static void
planes_prefetch(const struct heat *h, enum direction direction, size_t from,
                size_t to)
{
    const struct slab mine = direction == FORWARD ? h->y : h->z;
    const size_t      bytes =
        (mine.to - mine.from) * h->problem->nx * sizeof(struct cell);

    for (size_t i = from; i < to; i++)
        hearth_prefetch(direction == FORWARD
                            ? heap_row(h, direction, mine.from, i)
                            : heap_row(h, direction, i, mine.from),
                        bytes);
}

/* Each rank begins with the next one, so that not all ask the same. */
static void
heap_start(struct heat *h, enum direction direction)
{
    const struct slab theirs = direction == FORWARD ? h->z : h->y;
    const size_t n = direction == FORWARD ? h->problem->nz : h->problem->ny;

    hearth_barrier();
    planes_prefetch(h, direction, theirs.to, n);
    planes_prefetch(h, direction, 0, theirs.from);
}

static void
heap_end(struct heat *h)
{
    (void)h;
    hearth_barrier();
}

/* An array of planes, and this rank's ones, which it touches. */
static struct cell *
heap_array(const struct app_run *run, size_t planes, size_t area,
           struct slab *slab)
{
    struct cell *base =
        app_alloc(run, planes * area, sizeof *base, hearth_block());

    app_home_rows(run, base, planes, area * sizeof *base, &slab->from,
                  &slab->to);
    memset(base + slab->from * area, 0,
           (slab->to - slab->from) * area * sizeof *base);
    return base;
}

static void
ft_run(struct app_run *run)
{
    static const struct crossing heap = {
        .put = heap_row, .get = heap_row, .start = heap_start, .end = heap_end
    };
    const struct problem *p = &problems[npb_class(class)];
    const size_t          area_y = p->nz * p->nx, area_z = p->ny * p->nx;
    struct heat           h = { .run = run, .problem = p, .crossing = &heap };
    struct cell          *field = heap_array(run, p->nz, area_z, &h.z);
    struct cell          *spectrum = heap_array(run, p->ny, area_y, &h.y);

    h.memory = heap_array(run, p->ny, area_y, &h.y);
    h.field = field + h.z.from * area_z;
    h.spectrum = spectrum + h.y.from * area_y;
    h.sums = app_alloc(run, FT_STEPS * p->nz, sizeof *h.sums, hearth_on(0));
    heat_init(&h);
    heat_start(&h);
    heat_run(&h);
    heat_report(&h);
    heat_free(&h);
    hearth_barrier();
    hearth_free(h.sums);
    hearth_free(h.memory);
    hearth_free(spectrum);
    hearth_free(field);
}

/*
 * The plain MPI version: one MPI_Alltoallv.  A rank puts rows where they are
 * to be sent from, in the order of the other side's planes, and the others
 * get them where they came in.
 */
struct buffers {
    struct cell *sent, *received; /* on one rank the same */
    struct slab *of_y, *of_z;     /* whose a plane is */
    int         *send, *send_at;  /* by rank, in doubles */
    int         *receive, *receive_at;
};

static struct slab
slab_part(size_t planes, int rank, int ranks)
{
    return (struct slab){ app_part(planes, rank, ranks),
                          app_part(planes, rank + 1, ranks) };
}

/* The slab of each plane's rank. */
static struct slab *
slabs_make(const struct app_run *run, size_t planes)
{
    struct slab *of = app_private(run, planes, sizeof *of);

    for (int r = 0; r < run->ranks; r++) {
        struct slab slab = slab_part(planes, r, run->ranks);

        for (size_t i = slab.from; i < slab.to; i++)
            of[i] = slab;
    }
    return of;
}

static struct buffers
buffers_make(const struct heat *h, size_t cells)
{
    const struct app_run *run = h->run;
    const size_t          ranks = (size_t)run->ranks;
    struct buffers        b;

    b.sent = app_private(run, cells, sizeof *b.sent);
    b.received = b.sent;
    if (ranks > 1)
        b.received = app_private(run, cells, sizeof *b.received);
    b.of_y = slabs_make(run, h->problem->ny);
    b.of_z = slabs_make(run, h->problem->nz);
    b.send = app_private(run, ranks, sizeof *b.send);
    b.send_at = app_private(run, ranks, sizeof *b.send_at);
    b.receive = app_private(run, ranks, sizeof *b.receive);
    b.receive_at = app_private(run, ranks, sizeof *b.receive_at);
    return b;
}

static void
buffers_free(struct buffers *b)
{
    free(b->receive_at);
    free(b->receive);
    free(b->send_at);
    free(b->send);
    free(b->of_z);
    free(b->of_y);
    if (b->received != b->sent)
        free(b->received);
    free(b->sent);
}

/* Row `to` of all, of what is in plane `from` of a sender's slab. */
static size_t
row_place(struct slab sender, size_t from, size_t to)
{
    return to * (sender.to - sender.from) + (from - sender.from);
}

static struct cell *
buffer_put(const struct heat *h, enum direction direction, size_t y, size_t z)
{
    const struct buffers *b = h->memory;
    const size_t          row =
        direction == FORWARD ? row_place(h->z, z, y) : row_place(h->y, y, z);

    return b->sent + row * h->problem->nx;
}

/* What came of a sender begins at its first plane, times my planes. */
static size_t
row_came(struct slab sender, size_t from, struct slab mine, size_t to)
{
    return sender.from * (mine.to - mine.from) +
           row_place(sender, from, to - mine.from);
}

static struct cell *
buffer_get(const struct heat *h, enum direction direction, size_t y, size_t z)
{
    const struct buffers *b = h->memory;
    const size_t row = direction == FORWARD ? row_came(b->of_z[z], z, h->y, y)
                                            : row_came(b->of_y[y], y, h->z, z);

    return b->received + row * h->problem->nx;
}

/* From my planes of one direction to everybody's of the other. */
static void
counts_fill(const struct heat *h, int *count, int *place, struct slab mine,
            size_t planes)
{
    const size_t doubles = 2 * h->problem->nx * (mine.to - mine.from);

    for (int r = 0; r < h->run->ranks; r++) {
        const struct slab other = slab_part(planes, r, h->run->ranks);

        count[r] = (int)((other.to - other.from) * doubles);
        place[r] = (int)(other.from * doubles);
    }
}

static void
buffers_start(struct heat *h, enum direction direction)
{
    const struct problem *p = h->problem;
    const struct buffers *b = h->memory;
    const bool            forward = direction == FORWARD;

    if (h->run->ranks == 1)
        return;
    counts_fill(h, b->send, b->send_at, forward ? h->z : h->y,
                forward ? p->ny : p->nz);
    counts_fill(h, b->receive, b->receive_at, forward ? h->y : h->z,
                forward ? p->nz : p->ny);
    MPI_Alltoallv(b->sent, b->send, b->send_at, MPI_DOUBLE, b->received,
                  b->receive, b->receive_at, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void
buffers_end(struct heat *h)
{
    (void)h;
}

static void
ft_run_mpi(struct app_run *run)
{
    static const struct crossing packed = { .put = buffer_put,
                                            .get = buffer_get,
                                            .start = buffers_start,
                                            .end = buffers_end };
    const struct problem        *p = &problems[npb_class(class)];
    struct heat    h = { .run = run, .problem = p, .crossing = &packed };
    size_t         field, spectrum; /* cells */
    struct buffers b;

    h.y = slab_part(p->ny, run->rank, run->ranks);
    h.z = slab_part(p->nz, run->rank, run->ranks);
    field = (h.z.to - h.z.from) * p->ny * p->nx;
    spectrum = (h.y.to - h.y.from) * p->nz * p->nx;
    b = buffers_make(&h, field > spectrum ? field : spectrum);
    h.memory = &b;
    h.field = app_private(run, field, sizeof *h.field);
    h.spectrum = app_private(run, spectrum, sizeof *h.spectrum);
    h.sums = app_private(run, FT_STEPS * p->nz, sizeof *h.sums);
    heat_init(&h);
    heat_start(&h);
    heat_run(&h);
    MPI_Allreduce(MPI_IN_PLACE, h.sums, (int)(2 * FT_STEPS * p->nz),
                  MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    heat_report(&h);
    heat_free(&h);
    free(h.sums);
    free(h.spectrum);
    free(h.field);
    buffers_free(&b);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "ft",
        .about = "NAS FT: a diffusion equation by Fourier transforms.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run = ft_run,
        .run_mpi = ft_run_mpi,
    };

    return app_main(&app, argc, argv);
}
