/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rest [BARRIERS]
 *
 * What barriers in which nothing was written leave behind: a barrier and a
 * lock cost after 33,000 of them what they cost at first, in messages, bytes
 * and time.  A line for each, with both and the ratio of the times; the status
 * is 1 if a message or a byte more was sent.
 */
#include <hearth/hearth.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOCKS = 64, BATCHES = 20, BATCH = 50 };

static int   me, ranks;
static char *page; /* at home on rank 0 */

struct cost {
    double messages, bytes, us;
};

static struct cost
now(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return (struct cost){ (double)s.messages, (double)s.message_bytes,
                          1e6 * MPI_Wtime() };
}

static struct cost
since(struct cost before)
{
    struct cost after = now();

    return (struct cost){ after.messages - before.messages,
                          after.bytes - before.bytes, after.us - before.us };
}

static double
least(double a, double b)
{
    return a < b ? a : b;
}

/* What is left behind would add to each: so the least says it all.  More is
 * sent where a helper that sleeps is woken, or something again. */
static struct cost
cost_least(struct cost a, struct cost b)
{
    return (struct cost){ least(a.messages, b.messages),
                          least(a.bytes, b.bytes), least(a.us, b.us) };
}

static const struct cost MOST = { 1e9, 1e9, 1e9 };

/* Of one barrier, in the best batch. */
static struct cost
barriers(void)
{
    struct cost best = MOST;

    for (int i = 0; i < BATCHES; i++) {
        struct cost batch = now();

        for (int k = 0; k < BATCH; k++)
            hearth_barrier();
        best = cost_least(best, since(batch));
    }
    return (struct cost){ best.messages / BATCH, best.bytes / BATCH,
                          best.us / BATCH };
}

/* Of the first time that a lock is taken now, by the last rank: nobody else
 * wants it.  A section writes, so that there is something to tell. */
static struct cost
locks(int value)
{
    struct cost best = MOST;

    for (int i = 0; i < LOCKS; i++) {
        struct cost one = now();

        if (me == ranks - 1) {
            hearth_lock(i);
            page[i] = (char)value;
            hearth_unlock(i);
        }
        one = since(one);
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) { /* or it might stay where it is */
            hearth_lock(i);
            hearth_unlock(i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        best = cost_least(best, one);
    }
    MPI_Bcast(&best, 3, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    return best;
}

/* True if nothing was added. */
static bool
compare(const char *what, int idle, struct cost first, struct cost after)
{
    bool same = after.messages <= first.messages && after.bytes <= first.bytes;

    if (me == 0)
        printf("rest transport=%s ranks=%d barriers=%d what=%s "
               "messages=%.2f,%.2f bytes=%.1f,%.1f us=%.2f,%.2f ratio=%.2f\n",
               hearth_option("transport"), ranks, idle, what, first.messages,
               after.messages, first.bytes, after.bytes, first.us, after.us,
               after.us / first.us);
    return same;
}

int
main(int argc, char **argv)
{
    int         level, idle = argc > 1 ? atoi(argv[1]) : 33000;
    struct cost barrier, lock;
    bool        same;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    page = hearth_alloc(1, 4096, hearth_on(0));
    for (int i = 0; i < 4; i++) /* what is only the first time */
        locks(i);
    hearth_barrier();
    lock = locks(5);
    barriers();
    barrier = barriers();
    for (int i = 0; i < idle; i++)
        hearth_barrier();
    same = compare("lock", idle, lock, locks(6));
    hearth_barrier();
    barriers();
    same &= compare("barrier", idle, barrier, barriers());
    hearth_free(page);
    hearth_finalize();
    if (me == 0)
        printf("done\n");
    MPI_Finalize();
    return same ? 0 : 1;
}
