/* SPDX-License-Identifier: BSD-2-Clause
 *
 * survivor STEPS [FOLDER] -- a program that can be interrupted anywhere: it
 * saves itself before each step but the first, and prints one line in the end,
 * which is the same however often it was interrupted, and on any number of
 * ranks.
 *
 * From the environment: SURVIVOR_END=STEP ends it by SIGKILL of all ranks
 * behind that step's checkpoint, SURVIVOR_CUT=STEP before it;
 * SURVIVOR_DIE=STEP kills its last rank behind that step's checkpoint, in a
 * start from the beginning;
 * SURVIVOR_SIGNAL=STEP has its last rank get SIGUSR2, and SURVIVOR_NULL=1
 * makes it call hearth_checkpoint(NULL);
 * SURVIVOR_MOVE=STEP renames the folder behind that step's checkpoint;
 * SURVIVOR_AWAY=1 has ranks but the first work in / from the start on, and the
 * first once the library is up;
 * SURVIVOR_ZEROS=MIB gives it so much memory more, which holds zeroes;
 * SURVIVOR_SLOW=RANK has each of that rank's writes to a file take some
 * seconds, for one checkpoint;
 * SURVIVOR_STATUS=STATUS is what it ends with.
 *
 * What is done in a step is done by workers, each of which is another rank's
 * in the next step: so objects are freed by other ranks than those that took
 * them.
 */
#include <dirent.h>
#include <hearth/hearth.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORKERS = 12, CELLS = 6000, KEPT = 24 };

struct object {
    struct object *next;
    uint64_t       key, bytes;
    unsigned char  body[];
};

/* All that is in the heap is found from here. */
struct root {
    uint64_t      *cells[2]; /* in equal parts; dealt page by page */
    uint64_t      *moved;    /* first touch */
    struct object *list[WORKERS];
    uint64_t       length[WORKERS];
    int            lock[WORKERS];
    uint64_t       counter;
};

/* And this is what each rank registers. */
static struct {
    struct root *root;
    uint64_t     step;
    uint64_t     dropped; /* steps whose first part is done */
    uint64_t     sum;
} own;

static int me, ranks;

static uint64_t
mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static bool
is_mine(int worker)
{
    return (worker + (int)own.step) % ranks == me;
}

static uint64_t
number_of(const char *name)
{
    const char *text = getenv(name);

    return text == NULL ? UINT64_MAX : strtoull(text, NULL, 10);
}

/* ---- a slow disk ---- */

enum { SLOW_WRITES = 1, SLOW_SECONDS = 3 };

/* The library's, by which it writes files of checkpoints, and MPI's. */
ssize_t
write(int fd, const void *bytes, size_t n)
{
    static int  slow;
    struct stat is;

    if (hearth_initialized() && number_of("SURVIVOR_SLOW") == (uint64_t)me &&
        slow < SLOW_WRITES && fstat(fd, &is) == 0 && S_ISREG(is.st_mode)) {
        slow++;
        sleep(SLOW_SECONDS);
    }
    return syscall(SYS_write, fd, bytes, n);
}

/* ---- a step ---- */

static void
cells_step(int worker)
{
    const uint64_t *from = own.root->cells[own.step % 2];
    uint64_t       *to = own.root->cells[1 - own.step % 2];
    size_t          each = CELLS / WORKERS, first = (size_t)worker * each;

    for (size_t i = first; i < first + each; i++) {
        if (i % 97 != own.step % 97 && i % 5 != 0)
            continue; /* the rest stays what it was two steps ago */
        to[i] = mix(from[i] + 3 * from[(i + 1) % CELLS] + own.step + i);
    }
    if (own.step % 4 == 0)
        for (size_t i = first; i < first + each; i += 7)
            own.root->moved[i] += mix(own.step + i);
}

static size_t
size_of(uint64_t key)
{
    switch (key % 16) {
    case 0: return 70000 + key % 90000;
    case 1: return 5000 + key % 20000;
    default: return 1 + key % 900;
    }
}

static void
object_add(int worker, uint64_t key)
{
    size_t         bytes = size_of(key);
    struct object *o = hearth_malloc(sizeof *o + bytes);

    o->next = own.root->list[worker];
    o->key = key;
    o->bytes = bytes;
    for (size_t i = 0; i < bytes; i++)
        o->body[i] = (unsigned char)(key >> i % 8 * 8);
    own.root->list[worker] = o;
    own.root->length[worker]++;
}

static void
object_check(const struct object *o)
{
    for (size_t i = 0; i < o->bytes; i++)
        if (o->body[i] != (unsigned char)(o->key >> i % 8 * 8)) {
            fprintf(stderr,
                    "survivor: byte %zu of object %" PRIx64 " is wrong\n", i,
                    o->key);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void
object_drop(int worker)
{
    struct object *o = own.root->list[worker];

    object_check(o);
    own.root->list[worker] = o->next;
    own.root->length[worker]--;
    hearth_free(o);
}

static void
objects_step(int worker)
{
    uint64_t draw = mix(own.step * WORKERS + (uint64_t)worker);

    for (unsigned i = 0; i < draw % 7; i++)
        object_add(worker, mix(draw + i));
    while (own.root->length[worker] > KEPT ||
           (own.root->length[worker] > 0 && (draw >>= 3) % 4 == 0))
        object_drop(worker);
}

/* The number of a lock that has a name is kept in the heap. */
static void
locks_step(int worker)
{
    if (own.step == 0)
        own.root->lock[worker] = hearth_lock_of(&own.root->length[worker]);
    hearth_lock(own.root->lock[0] != 0 && own.step > 0
                    ? own.root->lock[0]
                    : hearth_lock_of(&own.root->length[0]));
    own.root->counter += mix(own.step ^ (uint64_t)worker);
    hearth_unlock(hearth_lock_of(&own.root->length[0]));
}

static bool
flag_is_set(int worker, uint64_t step)
{
    return mix(step / 3 + (uint64_t)worker * 77) % 2 == 0;
}

/* What a rank frees here, which another took in the step before, is on its way
 * when the run is saved. */
static void
drops(void)
{
    for (int w = 0; w < WORKERS; w++)
        if (is_mine(w) && own.root->length[w] > 0 &&
            mix(own.step + (uint64_t)w) % 2 == 0)
            object_drop(w);
    own.dropped = own.step + 1;
}

static void
step(void)
{
    for (int w = 0; w < WORKERS; w++) {
        if (!is_mine(w))
            continue;
        cells_step(w);
        objects_step(w);
        locks_step(w);
        if (flag_is_set(w, own.step))
            hearth_flag_set(100 + w);
        else
            hearth_flag_reset(100 + w);
    }
    own.sum = mix(own.sum + own.step);
    own.step++;
    hearth_barrier();
}

/* ---- the run ---- */

static void
begin(void)
{
    struct root *r = hearth_alloc(1, sizeof *r, hearth_on(0));

    own.root = r;
    if (me == 0) {
        memset(r, 0, sizeof *r);
    }
    hearth_barrier();
    for (int i = 0; i < 3; i++) {
        uint64_t *p = hearth_alloc(CELLS, sizeof *p,
                                   i == 0   ? hearth_block()
                                   : i == 1 ? hearth_cyclic(1)
                                            : hearth_first_touch());

        if (me == 0)
            *(i < 2 ? &r->cells[i] : &r->moved) = p;
    }
    hearth_barrier();
}

static uint64_t
result(void)
{
    uint64_t hash = mix(own.sum + own.step) + own.root->counter;

    for (size_t i = 0; i < CELLS; i++)
        hash = mix(hash + own.root->cells[0][i] + 5 * own.root->cells[1][i] +
                   7 * own.root->moved[i]);
    for (int w = 0; w < WORKERS; w++) {
        for (const struct object *o = own.root->list[w]; o != NULL;
             o = o->next) {
            object_check(o);
            hash = mix(hash + o->key);
        }
        if (own.step > 0 && flag_is_set(w, own.step - 1))
            hearth_flag_wait(100 + w);
    }
    return hash;
}

/* No object is lost, and none is there that the program has freed. */
static void
objects_count(void)
{
    hearth_malloc_stats s;
    uint64_t            live = 0, kept = 0;

    for (int i = 0; i < 2; i++) {
        hearth_collect();
        hearth_barrier();
    }
    hearth_get_malloc_stats(&s, sizeof s);
    MPI_Reduce(&s.live, &live, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int w = 0; w < WORKERS; w++)
        kept += own.root->length[w];
    if (me == 0 && live != kept) {
        fprintf(stderr,
                "survivor: %" PRIu64 " objects, not %" PRIu64
                ": that is wrong\n",
                live, kept);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    hearth_barrier();
}

static void
end_at(const char *name)
{
    if (own.step == number_of(name)) {
        MPI_Barrier(MPI_COMM_WORLD);
        kill(getpid(), SIGKILL);
    }
}

/* One rank is gone, and the others find out. */
static void
die(void)
{
    if (own.step == number_of("SURVIVOR_DIE") && hearth_restarted() == 0 &&
        me == ranks - 1)
        kill(getpid(), SIGKILL);
}

static void
move(const char *folder)
{
    char to[4096];

    if (me != 0 || own.step != number_of("SURVIVOR_MOVE"))
        return;
    snprintf(to, sizeof to, "%s.moved", folder);
    if (rename(folder, to) != 0)
        perror(folder);
}

/* Launchers tell the rank before MPI does. */
static bool
is_first(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    if (rank == NULL)
        rank = getenv("PMI_RANK");
    return rank == NULL || strcmp(rank, "0") == 0;
}

static void
go_away(bool up)
{
    if (getenv("SURVIVOR_AWAY") != NULL && up == is_first() && chdir("/") != 0)
        perror("/");
}

/* All of it has been written, and is zero again. */
static void
zeros_make(void)
{
    uint64_t       bytes = number_of("SURVIVOR_ZEROS");
    unsigned char *p;

    if (bytes == UINT64_MAX)
        return;
    bytes <<= 20;
    p = hearth_alloc(bytes, 1, hearth_block());
    for (int value = 1; value >= 0; value--) {
        memset(p + bytes / (uint64_t)ranks * (uint64_t)me, value,
               bytes / (uint64_t)ranks);
        hearth_barrier();
    }
}

/* Files of ranks whose part this one does not have are not open. */
static void
files_check(void)
{
    char           to[4096], name[32];
    DIR           *d = opendir("/proc/self/fd");
    struct dirent *e;
    unsigned       n = 0;

    while (d != NULL && (e = readdir(d)) != NULL) {
        ssize_t bytes;

        snprintf(name, sizeof name, "%.20s", e->d_name);
        bytes = readlinkat(dirfd(d), name, to, sizeof to - 1);
        to[bytes < 0 ? 0 : bytes] = '\0';
        n += strstr(to, "/rank.") != NULL;
    }
    if (d != NULL)
        closedir(d);
    if (n > 1)
        fprintf(stderr, "survivor: %u files are open: that is wrong\n", n);
}

/* The signal is the program's again. */
static void
handler_check(void)
{
    struct sigaction is;

    if (sigaction(SIGUSR2, NULL, &is) != 0 || is.sa_handler != SIG_DFL)
        fprintf(stderr, "survivor: the library still has SIGUSR2: that is "
                        "wrong\n");
}

int
main(int argc, char **argv)
{
    uint64_t    steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
    const char *folder = argc > 2 ? argv[2] : NULL;

    go_away(false);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    go_away(true);
    files_check();
    if (!hearth_checkpoint_add(&own, sizeof own, "own")) {
        begin();
        zeros_make();
    } else if (me == 0)
        printf("from step %" PRIu64 " of %d ranks\n", own.step,
               hearth_restarted());
    fflush(stdout);
    while (own.step < steps) {
        if (own.dropped == own.step)
            drops();
        if (me == ranks - 1 && own.step == number_of("SURVIVOR_SIGNAL"))
            raise(SIGUSR2);
        end_at("SURVIVOR_CUT");
        if (own.step > 0 &&
            (folder != NULL || getenv("SURVIVOR_NULL") != NULL))
            hearth_checkpoint(getenv("SURVIVOR_NULL") != NULL ? NULL : folder);
        end_at("SURVIVOR_END");
        die();
        move(folder);
        step();
    }
    objects_count();
    if (me == 0)
        printf("result %016" PRIx64 "\n", result());
    hearth_finalize();
    handler_check();
    return getenv("SURVIVOR_STATUS") != NULL
               ? (int)number_of("SURVIVOR_STATUS")
               : 0;
}
