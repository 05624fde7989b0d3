/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory without collectives: who may have it, what it costs, and that no byte
 * is lost of what was stored there after it was freed and taken again.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "malloc.h"
#include "malloc/arena_map.h"
#include "malloc/purge.h"
#include "page/page.h"
#include "transport/transport.h"
#include "world.h"

static uint64_t state;

static size_t
draw(size_t below)
{
    return (size_t)(hearthi_random(&state) % below);
}

/* Mostly small, now and then beyond all classes. */
static size_t
size_draw(void)
{
    switch (draw(16)) {
    case 0: return 1 + draw(300000);
    case 1:
    case 2: return 1 + draw(20000);
    default: return 1 + draw(400);
    }
}

static unsigned char
value(size_t i, unsigned key)
{
    return (unsigned char)(i * 7 + i / 256 + key);
}

static bool
holds(const unsigned char *p, size_t bytes, unsigned key)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != value(i, key))
            return false;
    return true;
}

static void
fill(unsigned char *p, size_t bytes, unsigned key)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = value(i, key);
}

/* ---- by one rank ---- */

struct piece {
    unsigned char *p;
    size_t         bytes;
    unsigned       key;
    int            home;
};

static void
piece_new(struct piece *o, unsigned key)
{
    o->bytes = size_draw();
    o->key = key;
    o->home = me;
    if (draw(3) == 0)
        o->home = (int)draw((size_t)ranks);
    o->p = o->home == me ? hearth_malloc(o->bytes)
                         : hearth_malloc_on(o->bytes, o->home);
    expect((uintptr_t)o->p % 16 == 0);
    expect_eq(hearth_home(o->p), o->home);
    fill(o->p, o->bytes, key);
}

static void
piece_resize(struct piece *o)
{
    size_t bytes = size_draw(), both = bytes < o->bytes ? bytes : o->bytes;

    o->p = hearth_realloc(o->p, bytes);
    o->bytes = bytes;
    expect(holds(o->p, both, o->key));
    expect_eq(hearth_home(o->p), o->home);
    fill(o->p, bytes, o->key);
}

START_TEST(objects_of_all_sizes_keep_what_is_written)
{
    enum { LIVE = 200, STEPS = 3000 };
    struct piece piece[LIVE] = { 0 };

    state = (uint64_t)me + 5;
    for (unsigned step = 0; step < (unsigned)rounds_of(STEPS); step++) {
        struct piece *o = &piece[draw(LIVE)];

        if (o->p == NULL) {
            piece_new(o, step);
            continue;
        }
        expect(holds(o->p, o->bytes, o->key));
        if (draw(4) == 0) {
            piece_resize(o);
            continue;
        }
        hearth_free(o->p);
        o->p = NULL;
    }
    for (int i = 0; i < LIVE; i++)
        hearth_free(piece[i].p); /* NULL is nothing */
    all_expected();
}
END_TEST

START_TEST(calloc_gives_zeros_whatever_was_there)
{
    static const size_t size[] = { 1, 48, 1000, 5000, 16384, 16385, 100000 };
    enum { SIZES = sizeof size / sizeof *size, EACH = 20 };
    static const unsigned char zero[100000];
    unsigned char             *p[EACH];

    for (int round = 0; round < 3; round++) {
        for (int s = 0; s < SIZES; s++) {
            for (int i = 0; i < EACH; i++) {
                p[i] = hearth_calloc(size[s], 1);
                expect(memcmp(p[i], zero, size[s]) == 0);
                memset(p[i], 1, size[s]);
            }
            for (int i = 0; i < EACH; i++)
                hearth_free(p[i]);
        }
    }
    expect(hearth_calloc(0, 8) != NULL);
    all_expected();
}
END_TEST

START_TEST(realloc_begins_an_object_and_keeps_one_of_no_bytes)
{
    unsigned char *p = hearth_realloc(NULL, 1000);

    expect(hearth_home(p) == me);
    fill(p, 1000, 3);
    p = hearth_realloc(p, 0);
    expect(p != NULL && holds(p, 1, 3));
    hearth_free(p);
    all_expected();
}
END_TEST

/* What is known of objects is private memory: no page is fetched, opened or
 * compared, though all are at home elsewhere. */
START_TEST(no_page_is_touched)
{
    enum { OBJECTS = 20000 };
    static void *p[OBJECTS];
    hearth_stats a, b;

    hearth_get_stats(&a);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < OBJECTS; i++)
            p[i] = hearth_malloc_on(16 + (size_t)i % 1000, (me + 1) % ranks);
        for (int i = 0; i < OBJECTS; i++)
            hearth_free(p[i]);
    }
    hearth_get_stats(&b);
    expect_eq(b.read_faults, a.read_faults);
    expect_eq(b.write_faults, a.write_faults);
    expect_eq(b.twins, a.twins);
    if (release_consistency()) /* else copies go, which may be predicted */
        expect_eq(b.getpages, a.getpages);
    barrier();
    all_expected();
}
END_TEST

/* From addresses, so that what was in use before does not count. */
START_TEST(many_small_objects_take_little_more_than_their_bytes)
{
    enum { OBJECTS = 50000, BYTES = 48 };
    static char *p[OBJECTS];
    size_t       blocks = 0;
    char        *base = hearthi_heap.base;
    static char  seen[1 << 16];

    for (int i = 0; i < OBJECTS; i++) {
        size_t at = (size_t)((p[i] = hearth_malloc(BYTES)) - base) %
                        hearthi_arena_map.each >>
                    HEARTHI_BLOCK_SHIFT;

        blocks += !seen[at];
        seen[at] = 1;
    }
    expect(blocks * HEARTHI_ARENA_BLOCK < OBJECTS * BYTES * 11ul / 10);
    for (int i = 0; i < OBJECTS; i++)
        hearth_free(p[i]);
    all_expected();
}
END_TEST

bool
has_memory(const void *p)
{
    unsigned char there = 0;

    mincore((void *)(uintptr_t)p, (size_t)sysconf(_SC_PAGESIZE), &there);
    return there & 1;
}

void
memory_goes_soon(bool soon)
{
    hearthi_purge_ns = soon ? 1000000 : 1000000000;
}

void
memory_await(const void *p)
{
    for (int i = 0; i < 20000 && has_memory(p); i++)
        usleep(500);
    expect(!has_memory(p));
}

long
differ(const unsigned char *p, size_t bytes, unsigned char value)
{
    long n = 0;

    for (size_t i = 0; i < bytes; i++)
        n += p[i] != value;
    return n;
}

void
written_copies_take(unsigned char *p, size_t bytes, int writer)
{
    if (me == writer)
        memset(p, 1, bytes);
    barrier();
    for (int i = 0; i < 4; i++) {
        expect_eq(differ(p, bytes, 1), 0);
        barrier();
    }
}

/* A network card would not see the memory that took its place. */
START_TEST(memory_of_large_objects_goes_back)
{
    enum { MANY = 4 << 20 };
    unsigned char *p;

    memory_goes_soon(true);
    p = hearth_malloc(MANY);
    memset(p, 1, MANY);
    expect(has_memory(p) && has_memory(p + MANY - page_bytes()));
    hearth_free(p);
    if (!hearthi_transport->registers()) {
        memory_await(p);
        memory_await(p + MANY - page_bytes());
    }
    hearth_free(hearth_malloc(MANY)); /* written, for those with copies of it */
    memory_goes_soon(false);
    barrier();
    if (hearthi_world.nodes == 1)
        expect_eq(hearthi_written.n, 0);
    all_expected();
}
END_TEST

/* But not at once: a busy machine may need a few attempts to see that. */
START_TEST(memory_of_a_large_object_is_there_for_the_next_one)
{
    enum { MANY = 4 << 20, ATTEMPTS = 20 };
    bool kept = false;

    for (int i = 0; i < ATTEMPTS && !kept; i++) {
        unsigned char *p = hearth_malloc(MANY), *q;

        memset(p, 1, MANY);
        hearth_free(p);
        q = hearth_malloc(MANY);
        kept = q == p && has_memory(q) && has_memory(q + MANY - page_bytes());
        hearth_free(q);
    }
    expect(kept);
    barrier();
    all_expected();
}
END_TEST

/* ---- by several ---- */

struct node {
    struct node *next;
    long         value;
};

/* Each rank adds nodes at home on all ranks, under a lock; all see the list,
 * and the last one frees it. */
START_TEST(a_list_grows_under_a_lock_and_is_freed_by_another_rank)
{
    const int     nodes = rounds_of(300);
    struct node **head = hearth_alloc(1, sizeof *head, hearth_on(0));
    long          sum = 0, n = 0;

    barrier();
    for (int i = 0; i < nodes; i++) {
        hearth_lock(1);
        struct node *x = hearth_malloc_on(sizeof *x, (me + i) % ranks);

        *x = (struct node){ *head, me * nodes + i };
        *head = x;
        hearth_unlock(1);
    }
    barrier();
    for (struct node *x = *head; x != NULL; x = x->next, n++)
        sum += x->value;
    expect_eq(n, ranks * nodes);
    expect_eq(sum, n * (n - 1) / 2);
    barrier();
    for (struct node *x = *head, *next; me == ranks - 1 && x != NULL;
         x = next) {
        next = x->next;
        hearth_free(x);
    }
    hearth_free(head);
    all_expected();
}
END_TEST

/* Far more than there is room for: it must come back.  Each rank allocates for
 * the next one, which checks and frees. */
START_TEST(what_other_ranks_free_is_used_again)
{
    enum { ROUNDS = 120, OBJECTS = 100 };
    struct piece *box =
        hearth_alloc((size_t)ranks * OBJECTS, sizeof *box, hearth_block());
    struct piece *from = box + (size_t)((me + 1) % ranks) * OBJECTS;

    for (unsigned round = 0; round < (unsigned)rounds_of(ROUNDS); round++) {
        for (int i = 0; i < OBJECTS; i++) {
            struct piece *o = &box[(size_t)me * OBJECTS + (size_t)i];

            o->bytes = round % 8 == 0 && i == 0 ? 100000 : 1 + draw(2000);
            o->key = round + (unsigned)i;
            o->p = hearth_malloc_on(o->bytes, i % 3 ? me : (me + 1) % ranks);
            fill(o->p, o->bytes, o->key);
        }
        barrier();
        for (int i = 0; i < OBJECTS; i++) {
            expect(holds(from[i].p, from[i].bytes, from[i].key));
            hearth_free(from[i].p);
        }
        barrier();
    }
    hearth_free(box);
    all_expected();
}
END_TEST

/* Most of the memory at a time, which one rank allocates and another frees
 * while the first does nothing of that kind. */
START_TEST(what_another_rank_frees_at_once_is_used_again)
{
    enum { OBJECTS = 12000, BYTES = 256, ROUNDS = 3 };
    void **p = hearth_alloc(OBJECTS, sizeof *p, hearth_on(0));

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < OBJECTS && me == 0; i++)
            p[i] = hearth_malloc(BYTES);
        barrier();
        for (int i = 0; i < OBJECTS && me == ranks - 1; i++)
            hearth_free(p[i]);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Fewer blocks than there are classes: what one class has left is for the
 * next. */
START_TEST(objects_of_all_sizes_in_turn_take_what_the_last_have_left)
{
    for (size_t bytes = 16; bytes <= 1 << 14; bytes += 16)
        hearth_free(hearth_malloc(bytes));
    all_expected();
}
END_TEST

static void
start_with_least(void)
{
    fixture_start_with("MALLOC", "1m");
}

static void
start_with_little(void)
{
    fixture_start_with("MALLOC", "6m");
}

static void
start_with_large_pages(void)
{
    fixture_start_with("PAGE_SIZE", "256k");
}

/* Hearth starts again, and what threads had cached went with the heap. */
/* Of as many ranks as there may be. */
START_TEST(an_owner_tag_names_the_last_owner)
{
    char                    *p = hearth_malloc(100000);
    struct hearthi_owner_tag was = hearthi_owner_tag_get(p), l = was;

    l.owner = HEARTHI_OWNERS - 1;
    l.quanta = 1;
    hearthi_owner_tag_put(p, l);
    l = hearthi_owner_tag_get(p);
    expect_eq(l.owner, HEARTHI_OWNERS - 1);
    expect_eq(l.quanta, 1);
    expect_eq(l.class, was.class);
    hearthi_owner_tag_put(p, was);
    hearth_free(p);
    all_expected();
}
END_TEST

/* What an object of 8 TiB and one byte more has, in the least quanta there
 * are, and so on up to the most quanta that there may be: the object itself
 * would take a gibibyte for what its owner knows of it. */
START_TEST(an_owner_tag_has_the_length_of_any_object)
{
    char                    *p = hearth_malloc(100000);
    struct hearthi_owner_tag was = hearthi_owner_tag_get(p), l = was;

    for (unsigned shift = 29; shift <= HEARTHI_QUANTA_BITS; shift++)
        for (int less = shift == HEARTHI_QUANTA_BITS; less < 2; less++) {
            l.quanta = (UINT64_C(1) << shift) + 1 - 2 * (uint64_t)less;
            l.owner = me;
            hearthi_owner_tag_put(p, l);
            expect(hearthi_owner_tag_get(p).quanta == l.quanta);
            expect_eq(hearthi_owner_tag_get(p).owner, me);
            expect(!hearthi_owner_tag_get(p).small);
        }
    hearthi_owner_tag_put(p, was);
    hearth_free(p);
    all_expected();
}
END_TEST

/* For several ranks of a node /dev/shm has no room. */
static void
start_with_very_much(void)
{
    const char *set = getenv("HEARTH_NODE_SIZE");
    char        before[16] = "";

    snprintf(before, sizeof before, "%s", set == NULL ? "" : set);
    setenv("HEARTH_NODE_SIZE", "1", 1);
    fixture_start_with("MALLOC", "300g");
    if (set == NULL)
        unsetenv("HEARTH_NODE_SIZE");
    else
        setenv("HEARTH_NODE_SIZE", before, 1);
}

/* Of which two pages are touched.  All of it goes back by and by: in a time
 * that grows with its length, not with the square of that, which would be an
 * hour. */
START_TEST(an_object_of_a_quarter_of_a_tebibyte_is_taken_and_goes_back)
{
    const size_t   bytes = ((size_t)1 << 38) + 1;
    unsigned char *p;

    start_with_very_much();
    if (me == 0) {
        memory_goes_soon(true);
        p = hearth_malloc(bytes);
        expect(hearth_malloc_usable_size(p) >= bytes);
        p[0] = p[bytes - 1] = 1;
        expect(has_memory(p) && has_memory(p + bytes - 1));
        hearth_free(p);
        if (!hearthi_transport->registers())
            memory_await(p + bytes - 1);
        hearth_free(hearth_malloc(bytes));
        memory_goes_soon(false);
    }
    barrier();
    fixture_stop();
    all_expected();
}
END_TEST

START_TEST(a_new_start_begins_with_nothing)
{
    for (int round = 0; round < 2; round++) {
        void *p = hearth_malloc(64);

        hearth_free(hearth_malloc(64));
        hearth_free(p);
        fixture_stop();
        fixture_start();
        hearth_free(hearth_malloc(64));
    }
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("malloc");
    TCase *one = tcase_create("one rank's");
    TCase *little = tcase_create("little memory");
    TCase *most = tcase_create("little memory, most of it at once");
    TCase *found = tcase_create("little memory, all of it");
    TCase *least = tcase_create("least memory");
    TCase *large = tcase_create("large pages");
    TCase *largest = tcase_create("large objects");

    tcase_add_unchecked_fixture(one, fixture_start, fixture_stop);
    tcase_add_test(one, objects_of_all_sizes_keep_what_is_written);
    tcase_add_test(one, memory_of_large_objects_goes_back);
    tcase_add_test(one, memory_of_a_large_object_is_there_for_the_next_one);
    tcase_add_test(one, calloc_gives_zeros_whatever_was_there);
    tcase_add_test(one, realloc_begins_an_object_and_keeps_one_of_no_bytes);
    tcase_add_test(one, no_page_is_touched);
    tcase_add_test(one, many_small_objects_take_little_more_than_their_bytes);
    tcase_add_test(one,
                   a_list_grows_under_a_lock_and_is_freed_by_another_rank);
    tcase_add_test(one, an_owner_tag_names_the_last_owner);
    tcase_add_test(one, an_owner_tag_has_the_length_of_any_object);
    tcase_add_test(one, a_new_start_begins_with_nothing);
    malloc_reused(one);
    malloc_threads(one);
    suite_add_tcase(s, one);
    tcase_add_unchecked_fixture(little, start_with_little, fixture_stop);
    tcase_add_test(little, what_other_ranks_free_is_used_again);
    suite_add_tcase(s, little);
    tcase_add_unchecked_fixture(most, start_with_little, fixture_stop);
    tcase_add_test(most, what_another_rank_frees_at_once_is_used_again);
    suite_add_tcase(s, most);
    tcase_add_unchecked_fixture(found, start_with_little, fixture_stop);
    malloc_found(found);
    malloc_resized(found);
    malloc_calls(found);
    suite_add_tcase(s, found);
    tcase_add_unchecked_fixture(least, start_with_least, fixture_stop);
    tcase_add_test(least,
                   objects_of_all_sizes_in_turn_take_what_the_last_have_left);
    malloc_need(least);
    suite_add_tcase(s, least);
    tcase_add_test(
        largest, an_object_of_a_quarter_of_a_tebibyte_is_taken_and_goes_back);
    suite_add_tcase(s, largest);
    tcase_add_unchecked_fixture(large, start_with_large_pages, fixture_stop);
    tcase_add_test(large, objects_of_all_sizes_keep_what_is_written);
    suite_add_tcase(s, large);
    return mpi_main(argc, argv, s);
}
