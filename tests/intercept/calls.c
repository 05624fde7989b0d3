/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Every class of MPI call on heap memory, whatever state its pages are in.
 *
 * The product of calls, sizes, states and of what happens meanwhile is too
 * long for one run, so it is rotated: row c of a table has in turn t the
 * trial k = c + t, with state k mod 7 of the buffer that is received into,
 * state k / 7 + k mod 7 of the one that is sent, size k mod 16 of sixteen, of
 * which one is the largest, and meanwhile k mod 5.  7, 16 and 5 have no common
 * divisor: any two of them meet in 112 rows that follow each other, which is
 * nearly every run; and a row meets each state, size and meanwhile within
 * sixteen turns, each pair within 112 and all three within 560.
 *
 * MPI_TEST_NO_WINDOWS leaves out one-sided calls, where MPI has no windows.
 * MPI_TEST_TURN is the first turn, which run-mpi has for each configuration,
 * and MPI_TEST_TURNS how many follow each other (1).  MPI_TEST_LARGEST leaves
 * out what has more bytes, MPI_TEST_ONLY rows of other names, and MPI_TEST_SAY
 * says what is done.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mpi_call.h"
#include "calls.h"

static MPI_Comm comm;
static unsigned first_row; /* of the table, in the whole of them */

static unsigned
number(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : (unsigned)strtoul(text, NULL, 10);
}

static struct trial
trial_of(const struct call *call, unsigned row, unsigned turn)
{
    enum { K = 1024 };
    static const size_t sizes[16] = { 64, K,  64 * K, 8 * K * K,
                                      K,  64, 64 * K, 64,
                                      K,  K,  64,     64 * K,
                                      K,  64, 64 * K, K };
    unsigned            k = first_row + row + turn;

    return (struct trial){
        .call = call,
        .bytes = sizes[k % 16],
        .recv = k % STATES,
        .send = (k / STATES + k) % STATES,
        .meanwhile = call->kind == CALL_BLOCKS ? BLOCKING : k % MEANWHILES,
        .turn = k,
    };
}

static unsigned
rows(const struct call *table)
{
    unsigned n = 0;

    while (table[n].name != NULL)
        n++;
    return n;
}

static bool
windows(void)
{
    return getenv("MPI_TEST_NO_WINDOWS") == NULL;
}

static void
table_run(const struct call *table)
{
    unsigned    turn = number("MPI_TEST_TURN", 0);
    unsigned    turns = number("MPI_TEST_TURNS", 1);
    unsigned    largest = number("MPI_TEST_LARGEST", UINT_MAX);
    const char *only = getenv("MPI_TEST_ONLY");

    for (unsigned t = turn; t < turn + turns; t++)
        for (unsigned row = 0; row < rows(table); row++) {
            struct trial trial = trial_of(&table[row], row, t);

            if (trial.bytes <= largest &&
                (only == NULL || strstr(table[row].name, only) != NULL))
                trial_run(&trial, comm);
        }
    first_row += rows(table);
    all_expected();
}

START_TEST(blocking_calls_take_heap_memory)
{
    table_run(calls_blocking);
}
END_TEST

START_TEST(what_a_call_left_pending_goes_to_and_from_the_heap)
{
    table_run(calls_pending);
}
END_TEST

START_TEST(requests_on_the_heap_are_completed_in_every_way)
{
    table_run(calls_completion);
}
END_TEST

START_TEST(calls_of_mpi_4_take_heap_memory)
{
    table_run(calls_newer);
}
END_TEST

START_TEST(derived_datatypes_find_the_heap)
{
    table_run(calls_types);
}
END_TEST

START_TEST(collectives_take_heap_memory)
{
    table_run(calls_collectives);
}
END_TEST

START_TEST(neighbours_exchange_heap_memory)
{
    calls_neighbours_begin(comm);
    table_run(calls_neighbours);
    calls_neighbours_end();
}
END_TEST

/* MPICH 4.0.2 gives a window's lock when the target calls MPI.  A rank that
 * waits in Hearth does so over mpi, but not over udp. */
static bool
locks_are_given(void)
{
#ifdef MPICH_VERSION
    return strcmp(hearth_option("transport"), "mpi") == 0;
#else
    return true;
#endif
}

START_TEST(heap_memory_is_an_origin_of_one_sided_calls)
{
    if (!windows() || !locks_are_given())
        return;
    calls_rma_begin(comm);
    table_run(calls_rma);
    calls_rma_end();
}
END_TEST

START_TEST(files_are_read_into_the_heap_and_written_from_it)
{
    calls_files_begin(comm);
    table_run(calls_files);
    calls_files_end();
}
END_TEST

static void
start(void)
{
    fixture_start();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
}

static void
stop(void)
{
    MPI_Comm_free(&comm);
    fixture_stop();
}

/* What goes to nobody is not looked at: behind the last row of an array is
 * no memory.  And nobody waits for it, so nothing must stay held. */
START_TEST(what_goes_to_nobody_may_be_no_memory)
{
    enum { ROW = 100 };
    double     *array = hearth_alloc(ROW, sizeof *array, hearth_on(0));
    double     *beyond = array + (1 << 20) / sizeof *array;
    double      result[ROW];
    MPI_Request request[2];
    MPI_Win     win;

    MPI_Sendrecv(array, ROW, MPI_DOUBLE, MPI_PROC_NULL, 0, beyond, ROW,
                 MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Isend(beyond, ROW, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
              &request[0]);
    MPI_Irecv(beyond, ROW, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
              &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Exscan(array, me == 0 ? beyond : result, ROW, MPI_DOUBLE, MPI_SUM,
               comm);
    if (ranks > 1 && windows()) {
        double *base;

        MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(array, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win);
        MPI_Win_unlock(0, win);
        hearth_free(array);
        MPI_Win_free(&win);
    } else {
        hearth_free(array);
    }
    all_expected();
}
END_TEST

/* MPICH lets the root have its own bytes back from a rank that has got them,
 * 64 KiB and more by process_vm_readv(): a page that may only be read refuses
 * them. */
START_TEST(a_root_may_receive_what_it_has_sent)
{
    enum { BYTES = 64 * 1024 };
    const size_t         each = BYTES + page_bytes();
    static unsigned char mine[BYTES];
    unsigned char       *p = hearth_alloc((size_t)ranks * each, 1,
                                          hearth_cyclic(each / page_bytes()));
    unsigned char       *whole = p + (size_t)((me + 1) % ranks) * each;

    memset(p + (size_t)me * each, me + 1, each);
    hearth_barrier();
    for (int root = 0; root < ranks; root++) {
        const unsigned char value = (unsigned char)((root + 1) % ranks + 1);
        unsigned char      *buf = me == root ? whole + 100 : mine;
        MPI_Request         request;

        for (size_t i = 0; me == root && i < each; i += page_bytes())
            expect_eq(whole[i], value); /* clean copies, if it is not alone */
        MPI_Bcast(buf, BYTES, MPI_BYTE, root, comm);
        MPI_Ibcast(buf, BYTES, MPI_BYTE, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < BYTES; i++)
            expect_eq(buf[i], value);
    }
    hearth_barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Counts are read by the call that prepares an operation, and places may be
 * read by each start. */
START_TEST(arrays_of_counts_may_lie_in_the_heap)
{
    int *array =
        hearth_alloc((size_t)ranks * page_bytes(), 1, hearth_cyclic(1));
    int *words =
        array + page_bytes() / sizeof *array * (size_t)((me + 1) % ranks);
    int mine[CALL_RANKS], sum = -1;

    for (int r = 0; r < ranks; r++) {
        array[page_bytes() / sizeof *array * (size_t)me + (size_t)r] = 1;
        mine[r] = me + r;
    }
    hearth_barrier();
    MPI_Reduce_scatter(mine, &sum, words, MPI_INT, MPI_SUM, comm);
    expect_eq(sum, ranks * (ranks - 1) / 2 + ranks * me);
#if HAVE_DECL_MPI_BCAST_INIT
    MPI_Request request;

    hearth_barrier(); /* a copy that came may go: another is asked for */
    words = array + page_bytes() / sizeof *array * (size_t)((me + 2) % ranks);
    sum = -1;
    MPI_Reduce_scatter_init(mine, &sum, words, MPI_INT, MPI_SUM, comm,
                            MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    expect_eq(sum, ranks * (ranks - 1) / 2 + ranks * me);
#endif
    hearth_barrier();
    hearth_free(array);
    all_expected();
}
END_TEST

static const char *copied_in;

static int
attribute_copy(MPI_Comm from, int key, void *extra, void *value, void *copy,
               int *keep)
{
    (void)from, (void)key, (void)extra;
    copied_in = hearthi_mpi_call;
    *(void **)copy = value;
    *keep = 1;
    return MPI_SUCCESS;
}

/* A call that has no buffer moves the bytes of others, too: a fault or a call
 * of the kernel there must know that it is inside. */
START_TEST(calls_without_a_buffer_are_known)
{
    MPI_Comm again;
    int      key;

    MPI_Comm_create_keyval(attribute_copy, MPI_COMM_NULL_DELETE_FN, &key,
                           NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_dup(comm, &again);
    ck_assert_str_eq(copied_in != NULL ? copied_in : "none", "MPI_Comm_dup");
    ck_assert_ptr_null(hearthi_mpi_call);
    MPI_Comm_free(&again);
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
}
END_TEST

START_TEST(lists_names_and_handles_may_lie_in_the_heap)
{
    calls_small_run(comm);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("calls");
    TCase *tc = tcase_create("calls");

    tcase_add_unchecked_fixture(tc, start, stop);
    tcase_add_test(tc, what_goes_to_nobody_may_be_no_memory);
    tcase_add_test(tc, a_root_may_receive_what_it_has_sent);
    tcase_add_test(tc, calls_without_a_buffer_are_known);
    tcase_add_test(tc, blocking_calls_take_heap_memory);
    tcase_add_test(tc, what_a_call_left_pending_goes_to_and_from_the_heap);
    tcase_add_test(tc, requests_on_the_heap_are_completed_in_every_way);
    tcase_add_test(tc, derived_datatypes_find_the_heap);
    tcase_add_test(tc, collectives_take_heap_memory);
    tcase_add_test(tc, neighbours_exchange_heap_memory);
    tcase_add_test(tc, heap_memory_is_an_origin_of_one_sided_calls);
    tcase_add_test(tc, files_are_read_into_the_heap_and_written_from_it);
    tcase_add_test(tc, calls_of_mpi_4_take_heap_memory);
    tcase_add_test(tc, arrays_of_counts_may_lie_in_the_heap);
    tcase_add_test(tc, lists_names_and_handles_may_lie_in_the_heap);
    suite_add_tcase(s, tc);
    suite_add_tcase(s, calls_orphans(start, stop));
    return mpi_main(argc, argv, s);
}
