/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Addresses that nobody was given, and threads that may not.
 */
#include "config.h"

#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "badinput.h"

/* Addresses that nobody was given. */
static void
touch_beyond(void)
{
    char *p = hearth_alloc(3 * page_bytes(), 1, hearth_block());

    hearth_barrier();
    if (me == last)
        p[3 * page_bytes() + 100] = 1;
}

/* Mappings of a page each, with two protections in turn. */
static void
mappings_used_up(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char  *p = hearth_alloc(64 * page_bytes(), 1, hearth_on(0));
    int    prot = PROT_NONE;

    hearth_barrier();
    if (me != last)
        return;
    while (mmap(NULL, page, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
           MAP_FAILED)
        prot ^= PROT_READ;
    for (int i = 0; i < 64; i++)
        p[(size_t)i * page_bytes()] = 1;
}

static void
touch_between(void)
{
    volatile char *p = page_new();

    hearth_alloc(page_bytes(), 1, hearth_block());
    hearth_barrier();
    if (me == last)
        (void)p[page_bytes() + 50];
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

/* Somebody else fills /dev/shm: a small one, where tests may. */
static void
shm_fill(void)
{
    struct statvfs s;
    static char    bytes[1 << 16];
    int            fd;

    if (statvfs("/dev/shm", &s) != 0 || s.f_blocks * s.f_frsize > 256 << 20)
        return;
    fd = open("/dev/shm/hearth-badinput", O_CREAT | O_WRONLY, 0600);
    while (write(fd, bytes, sizeof bytes) > 0)
        ;
    close(fd);
}

enum { GONE = 4 << 20 };

/* Nobody needs any more. */
static void
shm_full(void)
{
    char *p = hearth_alloc(GONE, 1, hearth_on(last));

    if (me == last)
        shm_fill();
    sleep(4);
    hearth_free(p);
}

static void
home_memory_gone(void)
{
    char *p = hearth_alloc(GONE, 1, hearth_on(last));

    hearth_barrier();
    if (me == last) {
        shm_fill();
        memset(p, 1, GONE);
    }
    hearth_barrier();
}

/* The home is on another node: a thread of it stores, or MPI. */
static void
home_memory_gone_elsewhere(void)
{
    char *p = hearth_alloc(GONE, 1, hearth_on(last));

    hearth_barrier();
    if (me == 0) {
        shm_fill();
        memset(p, 1, GONE);
    }
    hearth_barrier();
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
    char     *p = hearth_alloc(page_bytes(), 1, hearth_on(0));
    pthread_t thread;

    hearth_barrier();
    if (me == last) {
        pthread_create(&thread, NULL, touch_from_thread, p);
        pthread_join(thread, NULL);
    }
}

/* As a function that is none. */
static void
jump_into_heap(void)
{
    void *p = page_new();
    void (*function)(void);

    memcpy(&function, &p, sizeof p);
    hearth_barrier();
    if (me == last)
        function();
}

/* A child says what its parent cannot give it, and ends alone. */
static void
child_touches(void)
{
    char *p = hearth_alloc(2 * page_bytes(), 1, hearth_on(0));
    int   status;
    pid_t child;

    p[me] = 1;
    hearth_barrier();
    if (me != last)
        return;
    child = fork();
    if (child == 0)
        _exit(p[page_bytes()]); /* which its parent has not */
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) ||
        WTERMSIG(status) != SIGSEGV)
        exit(1);
}

/* What is here it may read; and it may run something else. */
static void
child_reads(void)
{
    char *p = hearth_alloc(2 * page_bytes(), 1, hearth_on(0));
    int   status;
    pid_t child;

    if (me == 0)
        p[page_bytes() + 1] = 7;
    hearth_barrier();
    if (p[page_bytes() + 1] != 7)
        exit(1);
    child = fork();
    if (child == 0 && p[page_bytes() + 1] == 7)
        execl("/bin/true", "true", (char *)NULL);
    if (child == 0)
        _exit(9);
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(1);
}

enum { ITS = 8, OTHERS = 8192 };

/* The child of a rank that has given up copies meanwhile: it reads before that
 * or not. */
static void
child_reads_late(bool before)
{
    char *its = hearth_alloc(ITS * page_bytes(), 1, hearth_on(0));
    char *others = hearth_alloc(OTHERS * page_bytes(), 1, hearth_on(0));
    int   status, go[2], is_there[2];
    pid_t child;
    char  word = 1;

    if (me == 0) {
        memset(its, 'x', ITS * page_bytes());
        memset(others, 'y', OTHERS * page_bytes());
    }
    hearth_barrier();
    for (size_t i = 0; i < ITS; i++)
        if (((volatile char *)its)[i * page_bytes()] != 'x')
            exit(3);
    if (me != last)
        return;
    if (pipe(go) != 0 || pipe(is_there) != 0 || (child = fork()) < 0)
        exit(3);
    if (child == 0) {
        for (size_t i = 0; before && i < ITS; i++)
            word = ((volatile char *)its)[i * page_bytes() + 5];
        if (write(is_there[1], &word, 1) != 1 || read(go[0], &word, 1) != 1)
            _exit(9);
        for (size_t i = 0; i < ITS; i++)
            if (((volatile char *)its)[i * page_bytes() + 7] != 'x')
                _exit(5);
        _exit(0);
    }
    if (read(is_there[0], &word, 1) != 1)
        exit(3);
    for (size_t i = 0; i < OTHERS; i++)
        if (((volatile char *)others)[i * page_bytes()] != 'y')
            exit(3);
    if (write(go[1], &word, 1) != 1 || waitpid(child, &status, 0) != child)
        exit(3);
    if (before ? status != 0
               : !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        exit(4);
}

static void
child_reads_behind(void)
{
    child_reads_late(false);
}

static void
child_reads_again(void)
{
    child_reads_late(true);
}

static void
child_stores(void)
{
    char *p = page_new();
    int   status;
    pid_t child;

    p[0] = 1;
    child = fork();
    if (child == 0) {
        if (p[0] == 1)
            p[0] = 2;
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) ||
        WTERMSIG(status) != SIGSEGV || p[0] != 1)
        exit(4);
}

/* As a program that becomes a daemon does, of what is not its own. */
static void
closes_descriptors(void)
{
    char *p = hearth_alloc(2 * page_bytes(), 1, hearth_on(0));
    char  path[64], link[64];

    p[me] = 1;
    hearth_barrier();
    for (int fd = 3; me == last && fd < 1024; fd++) {
        ssize_t n;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        n = readlink(path, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        if (strcmp(link, "anon_inode:[userfaultfd]") == 0)
            close(fd);
    }
    usleep(5000); /* it is not asked for at each barrier */
    hearth_barrier();
}

/* BADINPUT_CLOSED: which of descriptors 0, 1 and 2 are closed, a bit each. */
void
descriptors_close(void)
{
    const char *which = getenv("BADINPUT_CLOSED");

    for (int fd = 0; which != NULL && fd < 3; fd++)
        if ((atoi(which) >> fd & 1) != 0)
            close(fd);
}

/* A little of all that opens something; what MPI opens is not looked for. */
static void
opens_none_of_three(void)
{
    const int closed = atoi(getenv("BADINPUT_CLOSED"));
    char     *p =
        hearth_alloc((size_t)(last + 1) * page_bytes(), 1, hearth_cyclic(1));
    char path[64], link[64];

    p[(size_t)me * page_bytes()] = 1;
    hearth_free(hearth_malloc(64));
    hearth_barrier();
    for (int r = 0; r <= last; r++)
        if (p[(size_t)r * page_bytes()] != 1)
            exit(3);
    for (int fd = 0; fd < 3; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if ((closed >> fd & 1) != 0 && readlink(path, link, sizeof link) >= 0)
            exit(4);
    }
}

/* Whatever of Hearth's own is a file of memory is another one now. */
static void
replaces_descriptors(void)
{
    enum { PAGES = 1024 }; /* more than there are frames for */
    char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_on(0));
    char  path[64], link[64];
    int   other = memfd_create("other", MFD_CLOEXEC);

    memset(p, 'x', me == 0 ? PAGES * page_bytes() : 0);
    hearth_barrier();
    if (other < 0 || ftruncate(other, 1 << 30) != 0)
        exit(3);
    for (int fd = 0; me == last && fd < 1024; fd++) {
        ssize_t n;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        n = readlink(path, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        if (strncmp(link, "/memfd:hearth-", 14) == 0)
            dup2(other, fd);
    }
    for (size_t i = 0; i < PAGES; i++)
        if (((volatile char *)p)[i * page_bytes()] != 'x')
            exit(4);
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

/* A reduction of the program's own that reads the heap, where MPI calls it. */
static const int64_t *addend;
static atomic_bool    combined;

static void
combine(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int64_t *from = in;
    int64_t       *to = inout;

    (void)type;
    atomic_store(&combined, true);
    for (int i = 0; i < *count; i++)
        to[i] += from[i] + *addend;
}

/* Rank by rank, while the program is not in MPI: Hearth's thread may be. */
static void
reduce_beside(const int64_t *mine, int64_t *sum, MPI_Op op)
{
    MPI_Request request;

    MPI_Iallreduce(mine, sum, 1, MPI_INT64_T, op, MPI_COMM_WORLD, &request);
    for (int turn = 0; turn < 300 && !atomic_load(&combined); turn++)
        usleep(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
reduce_with(int64_t *word, bool beside)
{
    int64_t mine = 1, sum = 0;
    MPI_Op  op;

    addend = word;
    if (hearth_home(word) == me)
        *word = 7;
    hearth_barrier();
    MPI_Op_create(combine, 1, &op);
    if (beside)
        reduce_beside(&mine, &sum, op);
    else
        MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    if (sum != 8 * last + 1) {
        fprintf(stderr, "badinput: a sum of %lld\n", (long long)sum);
        exit(3);
    }
}

/* At home on one rank, and not here on the others. */
static void
reduction_touches_absent(void)
{
    reduce_with(hearth_alloc(page_bytes(), 1, hearth_on(0)), false);
}

static void
reduction_beside_touches_absent(void)
{
    reduce_with(hearth_alloc(page_bytes(), 1, hearth_on(0)), true);
}

/* The same of pages that the program holds. */
static void
reduction_held(bool beside)
{
    int64_t *word = hearth_alloc(page_bytes(), 1, hearth_on(0));

    if (me == 0)
        *word = 7;
    hearth_barrier();
    hearth_hold(word, sizeof *word, HEARTH_READ);
    reduce_with(word, beside);
    hearth_drop(word, sizeof *word, HEARTH_READ);
}

static void
reduction_touches_held(void)
{
    reduction_held(false);
}

static void
reduction_beside_touches_held(void)
{
    reduction_held(true);
}

/* MPI ends the program, by itself. */
static void
mpi_ends(void)
{
    char word = 1;

    if (me == last)
        MPI_Send(&word, 1, MPI_CHAR, 1000, 0, MPI_COMM_WORLD);
    hearth_barrier();
}

/* The program's own hands on pages of the heap. */
static void
protect_heap(void)
{
    char *p = hearth_alloc(3 * page_bytes(), 1, hearth_on(0));

    hearth_barrier();
    if (me == last)
        mprotect(p, page_bytes(), PROT_READ | PROT_WRITE);
    hearth_barrier();
}

static void
unmap_heap(void)
{
    char *p = hearth_alloc(3 * page_bytes(), 1, hearth_on(0));

    hearth_barrier();
    if (me == last) {
        munmap(p, page_bytes());
        p[0] = 1;
    }
    hearth_barrier();
}

/* Whole pages, and never touched again: nothing faults. */
static void
map_over_heap(void)
{
    char *p = hearth_alloc(3 * page_bytes(), 1, hearth_on(0));

    hearth_barrier();
    if (me == last &&
        mmap(p + page_bytes(), page_bytes(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        exit(1);
    if (me == last)
        p[page_bytes()] = 1;
    hearth_barrier();
}

static void
attach_over_heap(void)
{
    char *p = hearth_alloc(3 * page_bytes(), 1, hearth_on(0));
    int   id = shmget(IPC_PRIVATE, page_bytes(), IPC_CREAT | 0600);

    hearth_barrier();
    if (me == 0 && shmat(id, p, SHM_REMAP) != p)
        exit(1);
    shmctl(id, IPC_RMID, NULL);
    hearth_barrier();
}

/* Where a store faults for ever, and where mprotect(2) is refused. */
static void
attach_to_read(void)
{
    char *p = hearth_alloc(3 * page_bytes(), 1, hearth_on(0));
    int   id = shmget(IPC_PRIVATE, page_bytes(), IPC_CREAT | 0600);

    hearth_barrier();
    if (me == 0 && shmat(id, p, SHM_REMAP | SHM_RDONLY) != p)
        exit(1);
    shmctl(id, IPC_RMID, NULL);
    if (me == 0)
        p[0] = 1;
    hearth_barrier();
}

static void
attach_to_copy(void)
{
    char *p = hearth_alloc(3 * page_bytes(), 1, hearth_on(0));
    int   id = shmget(IPC_PRIVATE, page_bytes(), IPC_CREAT | 0600);

    hearth_barrier();
    if (me == last && shmat(id, p, SHM_REMAP | SHM_RDONLY) != p)
        exit(1);
    shmctl(id, IPC_RMID, NULL);
    if (me == last)
        p[0] = 1;
    hearth_barrier();
}

static void
unmap_quietly(void)
{
    char *p = hearth_alloc(3 * page_bytes(), 1, hearth_on(0));

    hearth_barrier();
    if (me == last)
        munmap(p, page_bytes());
    hearth_barrier();
}

/* Mappings of many kinds, and all of them Hearth's. */
static void
heap_in_pieces(void)
{
    enum { PAGES = 400 };
    char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(1));

    for (int i = me; i < PAGES; i += 3)
        p[(size_t)i * page_bytes()] = 1;
    hearth_barrier();
    for (int i = 0; i < PAGES; i += 2)
        p[(size_t)i * page_bytes() + (size_t)me + 1] = 1;
    hearth_barrier();
    hearth_malloc_on(page_bytes(), last);
    hearth_free(p);
}

const struct badinput badinput_touches[] = {
    BADINPUT(map_over_heap),
    BADINPUT(attach_over_heap),
    BADINPUT(attach_to_read),
    BADINPUT(attach_to_copy),
    BADINPUT(unmap_quietly),
    BADINPUT(heap_in_pieces),
    BADINPUT(protect_heap),
    BADINPUT(unmap_heap),
    BADINPUT(shm_full),
    BADINPUT(home_memory_gone),
    BADINPUT(home_memory_gone_elsewhere),
    BADINPUT(mappings_used_up),
    BADINPUT(touch_beyond),
    BADINPUT(touch_between),
    BADINPUT(touch_freed),
    BADINPUT(touch_null),
    BADINPUT(jump_into_heap),
    BADINPUT(child_touches),
    BADINPUT(child_reads),
    BADINPUT(child_reads_behind),
    BADINPUT(child_reads_again),
    BADINPUT(child_stores),
    BADINPUT(closes_descriptors),
    BADINPUT(replaces_descriptors),
    BADINPUT(opens_none_of_three),
    BADINPUT(thread_faults),
    BADINPUT(thread_locks),
    BADINPUT(reduction_touches_absent),
    BADINPUT(reduction_touches_held),
    BADINPUT(reduction_beside_touches_absent),
    BADINPUT(reduction_beside_touches_held),
    BADINPUT(mpi_ends),
    { 0 },
};
