/* SPDX-License-Identifier: BSD-2-Clause
 *
 * badinput CASE -- do one thing that cannot be done.  badinput.tap runs each
 * case and looks at what is said and how the job ends.  A case that comes back
 * goes on to a barrier and hearth_finalize(), and the program ends with 0.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <arpa/inet.h>
#include <dlfcn.h>
#include <hearth/hearth.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int me, last; /* this rank and the last one */

static void *
page_new(void)
{
    return hearth_alloc(PAGE, 1, hearth_block());
}

/* What HEARTH_STATS=json:FOLDER/FILE was given at start is no more. */
static void
stats_folder_goes(void)
{
    char *file = strdup(strchr(getenv("HEARTH_STATS"), ':') + 1);

    *strrchr(file, '/') = '\0';
    if (me == 0 && rmdir(file) != 0)
        perror("badinput: rmdir");
    free(file);
}

static void
size_zero(void)
{
    hearth_alloc(0, 8, hearth_block());
}

static void
size_beyond_heap(void)
{
    hearth_alloc((size_t)1 << 40, 8, hearth_block());
}

static void
size_overflows(void)
{
    hearth_alloc((size_t)1 << 61, 16, hearth_block());
}

/* Fits the heap, but not the memory that is there. */
static void
size_beyond_home(void)
{
    hearth_alloc((size_t)200 << 20, 1, hearth_on(last));
}

static void
heap_used_up(void)
{
    for (int i = 0; i < 1000; i++)
        hearth_alloc((size_t)1 << 20, 1, hearth_block());
}

static void
count_differs(void)
{
    hearth_alloc(100 + (size_t)me, 8, hearth_block());
}

static void
layout_differs(void)
{
    hearth_alloc(100, 8, me == 0 ? hearth_block() : hearth_cyclic(1));
}

static void
home_rank_unknown(void)
{
    hearth_alloc(100, 8, hearth_on(last + 1));
}

static void
cyclic_zero(void)
{
    hearth_alloc(100, 8, hearth_cyclic(0));
}

static void
free_junk(void)
{
    page_new();
    hearth_free((void *)0x5000); /* the same on every rank */
}

static void
free_inside(void)
{
    hearth_free((char *)page_new() + 8);
}

static void
free_twice(void)
{
    void *p = page_new();

    page_new();
    hearth_free(p);
    hearth_free(p);
}

static void
lock_negative(void)
{
    if (me == last)
        hearth_lock(-1);
}

static void
lock_too_large(void)
{
    if (me == last)
        hearth_lock(HEARTH_LOCKS);
}

/* The others are not in MPI, and will not be. */
static void
others_compute(void)
{
    if (me == last)
        hearth_lock(HEARTH_LOCKS);
    sleep(1000);
}

static void
trylock_too_large(void)
{
    if (me == last)
        hearth_trylock(HEARTH_LOCKS + 7);
}

static void
unlock_too_large(void)
{
    if (me == last)
        hearth_unlock(HEARTH_LOCKS);
}

static void
unlock_not_held(void)
{
    if (me == last)
        hearth_unlock(12);
}

static void
unlock_of_another(void)
{
    if (me == 0)
        hearth_lock(12);
    hearth_barrier();
    if (me == last)
        hearth_unlock(12);
}

static void
lock_held_already(void)
{
    if (me == last) {
        hearth_lock(12);
        hearth_lock(12);
    }
}

static void
flag_too_large(void)
{
    if (me == last)
        hearth_flag_set(HEARTH_FLAGS);
}

static void
flag_negative(void)
{
    if (me == last)
        hearth_flag_wait(-5);
}

static void
barrier_in_section(void)
{
    if (me == last)
        hearth_lock(3);
    hearth_barrier();
}

static void
atomic_unaligned(void)
{
    char *p = page_new();

    if (me == last)
        hearth_fetch_add((int64_t *)(void *)(p + 4), 1);
}

static void
atomic_outside(void)
{
    static int64_t word;

    page_new();
    if (me == last)
        hearth_swap(&word, 1);
}

static void
init_twice(void)
{
    hearth_init(MPI_COMM_WORLD);
}

static void
after_finalize(void)
{
    hearth_finalize();
    hearth_lock(1);
}

static void
finalize_twice(void)
{
    hearth_finalize();
    hearth_finalize();
}

static void
mpi_finalize_first(void)
{
    MPI_Finalize();
}

/* Addresses that nobody was given. */
static void
touch_beyond(void)
{
    char *p = hearth_alloc(3 * PAGE, 1, hearth_block());

    hearth_barrier();
    if (me == last)
        p[3 * PAGE + 100] = 1;
}

static void
touch_between(void)
{
    volatile char *p = page_new();

    hearth_alloc(PAGE, 1, hearth_block());
    hearth_barrier();
    if (me == last)
        (void)p[PAGE + 50];
}

static void
touch_freed(void)
{
    volatile char *p = page_new();

    page_new();
    p[me] = 1;
    hearth_free((void *)(size_t)p);
    if (me == last)
        (void)p[0];
}

static void
touch_null(void)
{
    volatile char *volatile p = NULL;

    page_new();
    hearth_barrier();
    if (me == last)
        *p = 1;
}

static void *
touch_from_thread(void *p)
{
    *(volatile char *)p = 1;
    return NULL;
}

/* Of a page that is not here: one at home is nobody's business. */
static void
thread_faults(void)
{
    char     *p = hearth_alloc(PAGE, 1, hearth_on(0));
    pthread_t thread;

    hearth_barrier();
    if (me == last) {
        pthread_create(&thread, NULL, touch_from_thread, p);
        pthread_join(thread, NULL);
    }
}

static void *
lock_from_thread(void *p)
{
    hearth_lock(5);
    hearth_unlock(5);
    return p;
}

static void
thread_locks(void)
{
    pthread_t thread;

    if (me == last) {
        pthread_create(&thread, NULL, lock_from_thread, NULL);
        pthread_join(thread, NULL);
    }
}

/* A rank goes away, the others wait for it, in each of the ways to wait. */
static void
dies_killed_at_barrier(void)
{
    if (me == last)
        kill(getpid(), SIGKILL);
    hearth_barrier();
}

static void
dies_killed_with_lock(void)
{
    if (me == last)
        hearth_lock(9);
    hearth_barrier();
    if (me == last)
        kill(getpid(), SIGKILL);
    hearth_lock(9);
}

/* The last rank stops while another waits for its page. */
static void *
wake(void *process)
{
    const pid_t *pid = process;

    sleep(2);
    kill(*pid, SIGCONT);
    return NULL;
}

static void
stop_last(bool again)
{
    int      *p = hearth_alloc(1, sizeof *p, hearth_on(last));
    pid_t     pid = getpid();
    pthread_t waker;

    MPI_Bcast(&pid, sizeof pid, MPI_BYTE, last, MPI_COMM_WORLD);
    hearth_barrier();
    if (me == 0 && again)
        pthread_create(&waker, NULL, wake, &pid);
    if (me == last)
        kill(pid, SIGSTOP);
    else
        usleep(300000);
    if (*(volatile int *)p != 0)
        exit(1);
    if (me == 0 && again)
        pthread_join(waker, NULL);
    hearth_barrier();
}

static void
stopped(void)
{
    stop_last(false);
}

static void
stopped_awhile(void)
{
    stop_last(true);
}

/* Late is not an error, gone is: nobody asks the last rank for anything. */
static void
stopped_at_barrier(void)
{
    if (me == last)
        kill(getpid(), SIGSTOP);
    hearth_barrier();
}

static void
stopped_with_lock(void)
{
    if (me == last)
        hearth_lock(9);
    hearth_barrier();
    if (me == last)
        kill(getpid(), SIGSTOP);
    hearth_lock(9);
}

static void
stopped_before_flag(void)
{
    if (me == last)
        kill(getpid(), SIGSTOP);
    hearth_flag_wait(3);
}

static void
dies_by_exit(void)
{
    if (me == last)
        exit(0);
    hearth_flag_wait(1);
}

static void
dies_by_exit_quietly(void)
{
    if (me == last)
        _exit(0);
    hearth_barrier();
}

static void
nothing(void)
{
    char *p = page_new();

    p[me] = 1;
    hearth_barrier();
}

static const struct {
    const char *name;
    void (*work)(void);
} cases[] = {
#define CASE(name)  \
    {               \
#name, name \
    }
    CASE(stats_folder_goes),
    CASE(size_zero),
    CASE(size_beyond_heap),
    CASE(size_overflows),
    CASE(size_beyond_home),
    CASE(heap_used_up),
    CASE(count_differs),
    CASE(layout_differs),
    CASE(home_rank_unknown),
    CASE(cyclic_zero),
    CASE(free_junk),
    CASE(free_inside),
    CASE(free_twice),
    CASE(lock_negative),
    CASE(lock_too_large),
    CASE(others_compute),
    CASE(trylock_too_large),
    CASE(unlock_too_large),
    CASE(unlock_not_held),
    CASE(unlock_of_another),
    CASE(lock_held_already),
    CASE(flag_too_large),
    CASE(flag_negative),
    CASE(barrier_in_section),
    CASE(atomic_unaligned),
    CASE(atomic_outside),
    CASE(init_twice),
    CASE(after_finalize),
    CASE(finalize_twice),
    CASE(mpi_finalize_first),
    CASE(touch_beyond),
    CASE(touch_between),
    CASE(touch_freed),
    CASE(touch_null),
    CASE(thread_faults),
    CASE(thread_locks),
    CASE(dies_killed_at_barrier),
    CASE(dies_killed_with_lock),
    CASE(stopped),
    CASE(stopped_awhile),
    CASE(stopped_at_barrier),
    CASE(stopped_with_lock),
    CASE(stopped_before_flag),
    CASE(dies_by_exit),
    CASE(dies_by_exit_quietly),
    CASE(nothing),
#undef CASE
};

static void
work(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(name, cases[i].name) != 0)
            continue;
        cases[i].work();
        return;
    }
    fprintf(stderr, "badinput: no case %s\n", name);
    exit(2);
}

/* An MPI that is not good enough, by the profiling interface. */
static const char *fake = "";

int
MPI_Win_get_attr(MPI_Win win, int key, void *value, int *found)
{
    static int separate = MPI_WIN_SEPARATE;
    int        rc = PMPI_Win_get_attr(win, key, value, found);

    if (key == MPI_WIN_MODEL && strcmp(fake, "fake_separate") == 0)
        *(void **)value = &separate;
    return rc;
}

static int
window_refused(MPI_Comm comm)
{
    MPI_Comm_call_errhandler(comm, MPI_ERR_WIN);
    return MPI_ERR_WIN;
}

int
MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info,
               MPI_Comm comm, MPI_Win *win)
{
    return strcmp(fake, "fake_no_windows") == 0
               ? window_refused(comm)
               : PMPI_Win_create(base, size, unit, info, comm, win);
}

int
MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                 void *base, MPI_Win *win)
{
    return strcmp(fake, "fake_no_windows") == 0
               ? window_refused(comm)
               : PMPI_Win_allocate(size, unit, info, comm, base, win);
}

/* Every rank on a machine of its own, which has no address. */
int
MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                    MPI_Comm *part)
{
    int rank;

    if (strcmp(fake, "fake_no_address") != 0)
        return PMPI_Comm_split_type(comm, type, key, info, part);
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank, key, part);
}

int
getifaddrs(struct ifaddrs **all)
{
    int (*real)(struct ifaddrs **);

    *all = NULL;
    if (strcmp(fake, "fake_no_address") == 0)
        return 0;
    *(void **)&real = dlsym(RTLD_NEXT, "getifaddrs");
    return real(all);
}

/* The last rank's port is somebody else's. */
static void
port_take(void)
{
    const char        *first = getenv("HEARTH_UDP_PORT");
    int                size, fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = { .sin_family = AF_INET };

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    own.sin_port = htons((uint16_t)(atoi(first) + size - 1));
    if (me == 0 && bind(fd, (struct sockaddr *)&own, sizeof own) != 0)
        perror("badinput: bind"); /* somebody's it is */
    MPI_Barrier(MPI_COMM_WORLD);
}

int
main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const char *level = getenv("MPI_TEST_THREADS");
    int         want = MPI_THREAD_MULTIPLE;

    if (strcmp(name, "before_init") == 0)
        hearth_barrier();
    if (level != NULL && strcmp(level, "funneled") == 0)
        want = MPI_THREAD_FUNNELED;
    MPI_Init_thread(&argc, &argv, want, &want);
    if (strcmp(name, "before_init_with_mpi") == 0)
        hearth_alloc(1, 1, hearth_block());
    if (strcmp(name, "port_taken") == 0)
        port_take();
    if (strncmp(name, "fake_", 5) == 0)
        fake = name;
    if (strcmp(name, "null_communicator") == 0)
        hearth_init(MPI_COMM_NULL);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    last = hearth_size() - 1;
    if (*fake == '\0' && strcmp(name, "port_taken") != 0)
        work(name);
    hearth_barrier();
    hearth_finalize();
    MPI_Finalize();
    return 0;
}
