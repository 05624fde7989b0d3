/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the logs of managed objects lie in the windows of the mpi transport:
 * their sizes differ (log.h), and none has bytes of another.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "coherence/coherence.h"
#include "flags.h"
#include "node/lock_names.h"
#include "transport/mpi/rma_object.h"

/* Objects on both sides of each place where the size may change: so many of
 * each manager. */
enum { NEAR = 3 };

/* Where each kind begins, where its logs become short, and the last end. */
enum { SEAMS = 2 * HEARTHI_SYNC_KINDS + 1 };

static bool
has_log(int sync)
{
    return sync >= 0 && sync < hearthi_syncs &&
           hearthi_sync_kind(sync) != HEARTHI_SYNC_COND;
}

/* Each of those in turn, by its index; behind the last INT_MAX. */
static int
object_near(int i)
{
    int each = 2 * NEAR * ranks, seam = i / each;
    int at = seam == SEAMS - 1
                 ? hearthi_syncs
                 : hearthi_sync_first[seam / 2] + seam % 2 * HEARTHI_LOGS_LONG;

    return seam < SEAMS ? at - each / 2 + i % each : INT_MAX;
}

static struct hearthi_notice
notice_of(int sync, uint32_t i)
{
    return (struct hearthi_notice){ (uint64_t)sync << 8 | i, 1, (uint32_t)me,
                                    hearthi_epochs.acquire };
}

/* As many as its log holds; what `serving` would say of them. */
static struct hearthi_serving
log_fill(int sync)
{
    struct hearthi_notice  n[HEARTHI_LOG];
    struct hearthi_serving s = { .set = false };
    uint32_t               room = hearthi_log_room(sync);

    for (uint32_t i = 0; i < room; i++)
        n[i] = notice_of(sync, i);
    hearthi_log_put(sync, &s, NULL, hearthi_epochs.acquire, n, room);
    return s;
}

static void
log_check(int sync, struct hearthi_serving s)
{
    struct hearthi_grant g = { .n = 0 };
    struct hearthi_log   log;

    hearthi_grant_refresh(&g);
    expect(hearthi_log_get(sync, s, &g, &log));
    expect_eq(g.n, hearthi_log_room(sync));
    for (uint32_t i = 0; i < g.n; i++) {
        struct hearthi_notice n = notice_of(sync, i);

        expect(memcmp(&n, &g.notice[i], sizeof n) == 0);
    }
}

START_TEST(no_log_has_bytes_of_another)
{
    struct hearthi_serving *s =
        calloc((size_t)(2 * NEAR * SEAMS * ranks), sizeof *s);
    bool has_some = hearth_nodes() > 1 && me == 0 &&
                    strcmp(hearth_option("transport"), "mpi") == 0;
    int sync;

    for (int i = 0; has_some && (sync = object_near(i)) < INT_MAX; i++)
        if (has_log(sync))
            s[i] = log_fill(sync);
    for (int i = 0; has_some && (sync = object_near(i)) < INT_MAX; i++)
        if (has_log(sync))
            log_check(sync, s[i]);
    free(s);
    barrier();
    all_expected();
}
END_TEST

TCase *
log_places(void)
{
    TCase *tc = tcase_create("places of logs");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, no_log_has_bytes_of_another);
    return tc;
}
