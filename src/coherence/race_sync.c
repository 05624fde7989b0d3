/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "race_sync.h"

#include "base/mutex.h"
#include "base/report.h"
#include "known_notices.h"
#include "node/lock_names.h"
#include "page/page.h"
#include "page/page_map.h"
#include "space/heap.h"
#include "transport/transport.h"

static struct {
    char     *words; /* in the heap; NULL until they are there */
    uint64_t *mine;  /* of each lock that this rank has: its turn */
    uint64_t  barriers;
} s;

/* The last is that of hearth_release() and hearth_acquire(). */
int
hearthi_race_sync_words(void)
{
    return hearthi_syncs + 1;
}

static size_t
mine_bytes(void)
{
    return (size_t)hearthi_race_sync_words() * sizeof *s.mine;
}

void
hearthi_race_sync_open(char *words)
{
    s.mine = hearthi_sparse(mine_bytes());
    s.words = words;
    s.barriers = 0;
}

void
hearthi_race_sync_close(void)
{
    if (s.words != NULL)
        hearthi_sparse_free(s.mine, mine_bytes());
    s.words = NULL;
}

/* What an object's word was before this was added. */
static uint64_t
count(int object, uint64_t add)
{
    const struct hearthi_atomic_op step = { .kind = HEARTHI_ADD,
                                            .value = add };
    char    *word = s.words + (size_t)object * sizeof(uint64_t);
    uint64_t page = hearthi_page_of(word);
    size_t   at;
    int      home;

    hearthi_table_lock();
    home = hearthi_home_of(page);
    at = hearthi_home_at(page) + (uintptr_t)word % hearthi_heap.page;
    hearthi_table_unlock();
    return hearthi_transport->data.atomic(home, at, &step);
}

/* What was stored until now belongs to the interval that ends. */
static void
interval_end(enum hearthi_race_kind kind, int object, uint64_t number)
{
    unsigned place = hearthi_race_place_here();

    hearthi_table_lock();
    hearthi_interval_next(HEARTHI_END_ALL);
    hearthi_races_event(kind, (uint32_t)object, number, place);
    hearthi_table_unlock();
}

void
hearthi_race_took(int lock)
{
    uint64_t before = count(lock, 1);

    s.mine[lock] = before + 1;
    interval_end(HEARTHI_RACE_LOCK, lock, before);
}

void
hearthi_race_gives(int lock)
{
    interval_end(HEARTHI_RACE_UNLOCK, lock, s.mine[lock]);
}

void
hearthi_race_releases(enum hearthi_race_kind kind, int object)
{
    interval_end(kind, object, count(object, 1) + 1);
}

void
hearthi_race_acquired(enum hearthi_race_kind kind, int object)
{
    interval_end(kind, object, count(object, 0));
}

uint64_t
hearthi_race_begins(void)
{
    return count(hearthi_syncs, 0);
}

void
hearthi_race_told(uint64_t number)
{
    interval_end(HEARTHI_RACE_ACQUIRE, hearthi_syncs, number);
}

/* ---- barriers ---- */

/* A number that no object has. */
static uint32_t
barrier_object(void)
{
    return (uint32_t)hearthi_race_sync_words();
}

unsigned
hearthi_race_barrier(void)
{
    return hearthi_races != NULL ? hearthi_race_place_here() : 0;
}

void
hearthi_race_arrive(unsigned place)
{
    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_races == NULL)
        return;
    hearthi_races_event(HEARTHI_RACE_BARRIER_IN, barrier_object(),
                        ++s.barriers, place);
    hearthi_races_cut();
}

void
hearthi_race_depart(unsigned place)
{
    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_races == NULL)
        return;
    hearthi_races_event(HEARTHI_RACE_BARRIER_OUT, barrier_object(), s.barriers,
                        place);
}
