/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory of the heap is handed to the kernel, whatever the state of its pages:
 * what comes and goes is right to the byte, and so are the bytes beside it.
 */
#include "config.h"

#include "system.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

enum state { OWN, SHARED, ABSENT, CLEAN, WRITTEN, STATES };

/* A part of an allocation is home at each rank.  What is handed over begins
 * and ends within a page, or ends with the allocation. */
enum { BEFORE = 1000, BEHIND = 500 };

struct region {
    char  *p;     /* what is handed over */
    size_t n;     /* so many bytes of it */
    char  *begin; /* of the part */
    size_t bytes; /* of the part */
    int    part;
};

static char  *memory;
static size_t part_bytes;

/* Never 0: it may be text. */
static char
pattern(int of, size_t i)
{
    return (char)(1 + (i * 7 + i / 251 + (size_t)of * 31) % 250);
}

/* Parts have as many bytes as pages, but for the last, which is cut. */
static void
memory_new(size_t n)
{
    part_bytes =
        (n + BEFORE + BEHIND + page_bytes() - 1) / page_bytes() * page_bytes();
    memory = hearth_alloc((size_t)ranks * part_bytes - BEHIND, 1,
                          hearth_cyclic(part_bytes / page_bytes()));
}

static struct region
region_of(int part, size_t n)
{
    struct region r = { .n = n, .part = part };

    r.begin = memory + (size_t)part * part_bytes;
    r.bytes = part_bytes - (part == ranks - 1 ? BEHIND : 0);
    r.p = part == ranks - 1 ? r.begin + r.bytes - n : r.begin + BEFORE;
    return r;
}

static void
part_fill(int part)
{
    struct region r = region_of(part, 0);

    for (size_t i = 0; i < r.bytes; i++)
        r.begin[i] = pattern(part, i);
}

static bool
part_read(int part)
{
    struct region r = region_of(part, 0);
    bool          ok = true;

    for (size_t i = 0; i < r.bytes; i++)
        ok = ok && r.begin[i] == pattern(part, i);
    return ok;
}

/* The part whose pages are to be in this state, which this rank alone uses. */
static int
part_prepare(enum state state, size_t n)
{
    int part = state < ABSENT ? me : (me + 1) % ranks;

    memory_new(n);
    part_fill(me);
    barrier();
    if (state == SHARED)
        expect(part_read((me + 1) % ranks));
    barrier();
    if (state == CLEAN || state == WRITTEN)
        expect(part_read(part));
    if (state == WRITTEN)
        for (size_t i = 0; i < part_bytes; i += page_bytes())
            region_of(part, 0).begin[i] = pattern(part, i);
    return part;
}

/* ---- the other end: private memory ---- */

struct end {
    int    fd;
    char  *bytes;
    size_t n;
    bool   sends;
};

static void *
end_run(void *arg)
{
    struct end *e = arg;

    for (size_t at = 0; at < e->n;) {
        ssize_t k = e->sends ? write(e->fd, e->bytes + at, e->n - at)
                             : read(e->fd, e->bytes + at, e->n - at);

        if (k <= 0)
            break;
        at += (size_t)k;
    }
    return NULL;
}

static bool
by_two_ends(const struct transfer *t, int fds[2], struct region r, char *bytes)
{
    struct end e = { fds[0], bytes, r.n, t->takes };
    pthread_t  thread;
    bool       done;

    pthread_create(&thread, NULL, end_run, &e);
    done = t->work(&fds[1], r.p, r.n);
    pthread_join(thread, NULL);
    close(fds[0]);
    close(fds[1]);
    return done;
}

static bool
by_file(const struct transfer *t, struct region r, char *bytes)
{
    FILE *f = tmpfile();
    int   fd = fileno(f);
    bool  done;

    if (t->takes)
        done = pwrite(fd, bytes, r.n, 0) == (ssize_t)r.n;
    else
        done = true;
    done = done &&
           t->work(t->medium == A_STREAM ? (void *)&f : (void *)&fd, r.p, r.n);
    if (!t->takes)
        done = done && pread(fd, bytes, r.n, 0) == (ssize_t)r.n;
    fclose(f);
    return done;
}

/* What is taken comes from `bytes`, what is given goes there. */
static bool
transfer(const struct transfer *t, struct region r, char *bytes)
{
    int fds[2];

    switch (t->medium) {
    case A_SOCKET:
        return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 &&
               by_two_ends(t, fds, r, bytes);
    case A_PIPE: return pipe(fds) == 0 && by_two_ends(t, fds, r, bytes);
    default: return by_file(t, r, bytes);
    }
}

/* What a part is like when n bytes of it were taken from another's. */
static bool
part_is(int part, size_t n, int from)
{
    struct region r = region_of(part, n);
    bool          ok = true;

    for (size_t i = 0; i < r.bytes; i++) {
        size_t at = (size_t)(r.begin + i - r.p); /* large in front of it */

        ok = ok && r.begin[i] ==
                       (at < n ? pattern(from, at + 13) : pattern(part, i));
    }
    return ok;
}

static void
transfer_try(const struct transfer *t, enum state state, size_t n)
{
    const int     part = part_prepare(state, n);
    struct region r = region_of(part, n);
    char         *bytes = malloc(n);
    int           from = t->takes ? 100 : part;
    bool          ok = true;

    for (size_t i = 0; i < n; i++)
        bytes[i] = t->takes ? pattern(from, i + 13) : '\0';
    errno = 77;
    expect(transfer(t, r, bytes));
    expect_eq(errno, 77);
    if (t->takes) {
        expect(part_is(part, n, from));
        barrier();
        expect(part_is(me, n, from)); /* whoever has taken it */
    } else {
        for (size_t i = 0; i < n; i++)
            ok = ok && bytes[i] == pattern(part, i + (size_t)(r.p - r.begin));
        expect(ok);
        expect(part_read(part));
        barrier();
        expect(part_read(me));
    }
    barrier();
    free(bytes);
    hearth_free(memory);
    all_expected();
}

static void
transfers_try(const size_t *sizes, const char *const *names)
{
    for (const struct transfer *t = transfers; t->name != NULL; t++) {
        bool named = names == NULL;

        for (int i = 0; !named && names[i] != NULL; i++)
            named = strcmp(names[i], t->name) == 0;
        for (int state = OWN; named && state < STATES; state++)
            for (int i = 0; sizes[i] > 0; i++) {
                harness_at(t->name, (int)sizes[i]);
                transfer_try(t, state, sizes[i]);
            }
    }
}

START_TEST(short_buffers_of_the_heap_come_and_go)
{
    transfers_try((const size_t[]){ 64, 1024, 0 }, NULL);
}
END_TEST

START_TEST(buffers_of_many_pages_come_and_go)
{
    transfers_try((const size_t[]){ 65536, 0 }, NULL);
}
END_TEST

START_TEST(long_buffers_come_and_go)
{
    transfers_try(
        (const size_t[]){ 8 << 20, 0 },
        (const char *const[]){ "read", "write", "recv", "fread", NULL });
}
END_TEST

/* A buffer with more room than memory: the call uses what there is. */
START_TEST(a_count_may_go_beyond_the_allocation)
{
    FILE *f = tmpfile();
    char *p = hearth_alloc((size_t)ranks * page_bytes(), 1, hearth_cyclic(1));
    char *last = p + (size_t)ranks * page_bytes() - 100;

    if (me == 0) {
        expect_eq(pwrite(fileno(f), "eleven byte", 11, 0), 11);
        expect_eq(pread(fileno(f), last, 1 << 20, 0), 11);
    }
    barrier();
    expect(memcmp(last, "eleven byte", 11) == 0);
    barrier();
    fclose(f);
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- threads that are cancelled ---- */

struct blocked {
    int   fd;
    char *p;
};

static void *
blocked_run(void *arg)
{
    const struct blocked *b = arg;

    for (;;)
        if (read(b->fd, b->p, 3 * page_bytes()) < 0)
            return NULL;
}

/* What is held cannot be freed. */
START_TEST(a_thread_that_is_cancelled_in_a_call_holds_nothing)
{
    char *p =
        hearth_alloc((size_t)ranks * 4 * page_bytes(), 1, hearth_cyclic(1));
    int            fds[2];
    struct blocked b = { .p = p + 100 };
    pthread_t      thread;
    void          *result = NULL;

    if (threads_allowed() && pipe(fds) == 0) {
        b.fd = fds[0];
        pthread_create(&thread, NULL, blocked_run, &b);
        expect_eq(write(fds[1], "here", 4), 4);
        sleep_ms(20);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        expect(result == PTHREAD_CANCELED);
        close(fds[0]);
        close(fds[1]);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* What is written beside it meanwhile, here and elsewhere, comes together. */
START_TEST(a_call_may_last_over_barriers)
{
    char *p = hearth_alloc((size_t)ranks * page_bytes(), 1, hearth_cyclic(1));
    char *mine = p + (size_t)((me + 1) % ranks) * page_bytes();
    char *home = p + (size_t)me * page_bytes();
    int   fds[2];
    struct end e = { .bytes = mine + 64, .n = 128 };
    pthread_t  thread;
    char       bytes[128];
    bool       threads = threads_allowed();

    memset(bytes, 7, sizeof bytes);
    expect_eq(pipe(fds), 0);
    e.fd = fds[0];
    if (threads)
        pthread_create(&thread, NULL, end_run, &e);
    for (char k = 1; k <= 5; k++) {
        home[0] = k;
        if (k == 1)
            mine[1] = 99; /* later the page is not open by itself */
        barrier();
        expect(mine[0] == k && home[1] == 99);
        if (k == 3 && threads) {
            expect_eq(write(fds[1], bytes, sizeof bytes), sizeof bytes);
            pthread_join(thread, NULL);
        }
        barrier();
    }
    expect(!threads || memcmp(home + 64, bytes, sizeof bytes) == 0);
    barrier();
    close(fds[0]);
    close(fds[1]);
    hearth_free(p);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("system");
    TCase *tc = tcase_create("calls");

    tcase_add_checked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, short_buffers_of_the_heap_come_and_go);
    tcase_add_test(tc, buffers_of_many_pages_come_and_go);
    tcase_add_test(tc, long_buffers_come_and_go);
    tcase_add_test(tc, a_count_may_go_beyond_the_allocation);
    system_tells(tc);
    system_small(tc);
    tcase_add_test(tc, a_thread_that_is_cancelled_in_a_call_holds_nothing);
    tcase_add_test(tc, a_call_may_last_over_barriers);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
