/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Trouble at the seam: barriers that are left late.  Between the news of a
 * barrier and their application other threads of the rank go on, and other
 * ranks have left it and may be inside of the next.
 */
#include <stdlib.h>
#include <time.h>

#include "late.h"
#include "random.h"
#include "transport/transport.h"

static struct hearthi_transport_ops        late;
static const struct hearthi_transport_ops *prompt;
static uint64_t                            random_state, most_us;

static void
barrier_late(const struct hearthi_notice *own, size_t n, bool invalidate_all,
             struct hearthi_barrier_notices *news)
{
    struct timespec nap = { 0, 0 };

    (prompt->collective.barrier)(own, n, invalidate_all, news);
    if (draw(&random_state, 2))
        return;
    nap.tv_nsec = (long)draw(&random_state, most_us) * 1000;
    nanosleep(&nap, NULL);
}

void
barriers_leave_late(uint64_t seed)
{
    const char *us = getenv("MPI_TEST_LATE_BARRIERS");

    most_us = us == NULL ? 0 : strtoull(us, NULL, 10);
    if (most_us == 0)
        return;
    random_state = seed;
    prompt = hearthi_transport;
    late = *prompt;
    late.collective.barrier = barrier_late;
    hearthi_transport = &late;
}
