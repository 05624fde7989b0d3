/**
 * @file hearth.h
 * @brief One shared address space for the ranks of an MPI program.
 *
 * Hearth is page-granular distributed shared memory.  hearth_alloc() returns
 * the same address on every rank, and plain loads and stores through it work
 * on every rank: a page that is not here is fetched from its home when it is
 * touched.  Inside a node home pages are shared by hardware; between nodes
 * everything rides MPI-3 one-sided communication.
 *
 * **Memory model.**  A program without data races, in the sense of C11 at
 * byte granularity, sees sequentially consistent memory (release
 * consistency, the default).  Locks, reader-writer locks, barriers and flags
 * order accesses; HEARTH_CONSISTENCY=scope gives the weaker scope consistency
 * of JIAJIA and Mocha: after an acquire of lock L the writes made inside
 * earlier critical sections of L are visible, and after a barrier, flag or
 * reader-writer lock all that was before it.
 *
 * **Errors.**  What cannot be done ends the job: the rank that first knows
 * prints one line that names the rank, the call, the value and the remedy,
 * and calls MPI_Abort().  So no function returns an error code, and a
 * program never goes on with wrong data.
 *
 * **Threads.**  Any thread may touch the heap and call these functions when
 * MPI was initialised with MPI_THREAD_MULTIPLE (Hearth asks for it when it
 * initialises MPI itself).  With less, only the thread that called
 * hearth_init() may.
 *
 * **Buffers.**  The calls of MPI, as far as its mpi.h has them, and those that
 * hand memory to the kernel may be given addresses of the heap, for all that
 * they read and write: Hearth stands in front of them and holds
 * (hearth_hold()) what they touch as long as the operation lasts, so it counts
 * for the bound on what can be held at a time.  hearth-beside(7) names the few
 * that are not covered.
 *
 * **Cancellation** (pthread_cancel(3)).  No call of Hearth and no touch of the
 * heap is a cancellation point: a cancel that comes meanwhile is acted on
 * afterwards, so it does not end a wait for a lock, a flag or a barrier.  The
 * thread keeps what it holds, as with a mutex: a thread that may be cancelled
 * pushes a cleanup handler that calls hearth_unlock(), which may also touch
 * the heap.  A thread whose cancelability type is asynchronous may load and
 * store, and call nothing of Hearth.
 *
 * What is "collective" below is called by every rank of the communicator given
 * to hearth_init(), in the same order; in what is "local" no other rank takes
 * part.  Where two ranks make different collective calls the job ends with a
 * line that names both calls, once one of them has waited for HEARTH_WATCH.
 *
 * Options are environment variables, described in hearth-env(7).
 */
#ifndef HEARTH_H
#define HEARTH_H

#if !defined(__cplusplus) && \
    (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "hearth.h needs C99 or later: compile with -std=c99 or -std=gnu99"
#endif

#include <hearth/version.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if MPI_VERSION * 100 + MPI_SUBVERSION < 301
#error "hearth.h needs MPI 3.1 or later: compile with the mpicc of a newer MPI"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HEARTH_API __attribute__((visibility("default")))

enum {
    HEARTH_LOCKS = 4096, /**< locks 0 .. HEARTH_LOCKS - 1 are always there */
    HEARTH_FLAGS = 1024, /**< flags are numbered 0 .. HEARTH_FLAGS - 1 */
    HEARTH_CONDS = 1024, /**< conditions are numbered 0 .. HEARTH_CONDS - 1 */
    HEARTH_RWLOCKS = 1024 /**< reader-writer locks: 0 .. HEARTH_RWLOCKS - 1 */
};

/**
 * Start Hearth on the ranks of a communicator.  Collective over comm.
 *
 * The communicator is duplicated; the program's own traffic on it is not
 * disturbed.  If MPI is not initialised yet, Hearth initialises it (asking
 * for MPI_THREAD_MULTIPLE), comm must be MPI_COMM_WORLD, and
 * hearth_finalize() finalises it again.  A communicator that was made of a
 * group of a session will do, with MPI_Init() or without: then call
 * hearth_finalize() before MPI_Session_finalize(), and ask for the level of
 * threads by the session's info "thread_level".  Hearth can be started again after
 * hearth_finalize().
 */
HEARTH_API void hearth_init(MPI_Comm comm);

/** hearth_init() with a communicator as Fortran has it: an integer (MPI_Fint),
 *  which is the component MPI_VAL of mpi_f08's, and what mpi4py's py2f() gives.
 *  Collective.  MPI must be initialised, or a session open. */
HEARTH_API void hearth_init_f(int comm);

/**
 * Stop Hearth: free the heap and report statistics if asked for.  Collective.
 * Pointers into the heap are invalid afterwards.  A rank that holds a lock, or
 * another thread of which waits in a call, ends the job instead.
 */
HEARTH_API void hearth_finalize(void);

/** True between hearth_init() and hearth_finalize().  Local. */
HEARTH_API bool hearth_initialized(void);

/** This rank, 0 .. hearth_size() - 1, as in the communicator.  Local. */
HEARTH_API int hearth_rank(void);

/** Number of ranks.  Local. */
HEARTH_API int hearth_size(void);

/** Number of the node this rank is on, 0 .. hearth_nodes() - 1.  Local. */
HEARTH_API int hearth_node(void);

/** Number of nodes: groups of ranks that share memory.  Local. */
HEARTH_API int hearth_nodes(void);

/** Number of the node that a rank is on.  Local. */
HEARTH_API int hearth_node_of(int rank);

/** Number of this rank's cluster: an MPI job that is a part of the world
 *  (HEARTH_CLUSTERS in hearth-env(7)); 0 where one job is all.  Local. */
HEARTH_API int hearth_cluster(void);

/** Number of clusters, 1 where one job is all.  Their ranks are numbered
 *  through, in the order of the clusters' file.  Local. */
HEARTH_API int hearth_clusters(void);

/** Number of the cluster that a rank is in.  Local. */
HEARTH_API int hearth_cluster_of(int rank);

/**
 * A communicator of this cluster's ranks, in their order: where one job is all,
 * those that hearth_init() was given.  With HEARTH_GATEWAY=rank MPI_COMM_WORLD
 * has one rank more, which the program does not see and which takes part in
 * nothing: calls of MPI for all ranks use this one instead.  Collective over
 * the cluster; to be freed by MPI_Comm_free() before hearth_finalize().
 */
HEARTH_API void hearth_cluster_comm(MPI_Comm *comm);

/** How the pages of an allocation are spread over home ranks. */
typedef enum hearth_layout_kind {
    HEARTH_BLOCK,  /**< rank r is home of the r-th of equal, contiguous parts */
    HEARTH_CYCLIC, /**< blocks of `pages` pages are dealt to ranks in turn */
    HEARTH_ON,     /**< everything has its home on `rank` */
    HEARTH_FIRST_TOUCH /**< each page on the node that writes it first */
} hearth_layout_kind;

/** A layout; made by hearth_block(), hearth_cyclic(), hearth_on() or
 *  hearth_first_touch(), and restricted by hearth_within(). */
typedef struct hearth_layout {
    hearth_layout_kind kind;
    uint64_t           pages; /**< HEARTH_CYCLIC: pages per block, at least 1 */
    int                rank;  /**< HEARTH_ON: the home rank */
    uint64_t           clusters; /**< whose ranks are homes: bit c is cluster c */
} hearth_layout;

/** The set of all clusters, on which layouts are at first. */
#define HEARTH_ALL_CLUSTERS UINT64_MAX

/** Equal contiguous parts, in rank order, rounded up to pages (the default);
 *  what is less than a page is at home on the first rank. */
static inline hearth_layout
hearth_block(void)
{
    hearth_layout l = { HEARTH_BLOCK, 1, 0, HEARTH_ALL_CLUSTERS };
    return l;
}

/** Blocks of so many pages, dealt to the ranks in turn. */
static inline hearth_layout
hearth_cyclic(uint64_t pages)
{
    hearth_layout l = { HEARTH_CYCLIC, pages, 0, HEARTH_ALL_CLUSTERS };
    return l;
}

/** All pages at home on one rank. */
static inline hearth_layout
hearth_on(int rank)
{
    hearth_layout l = { HEARTH_ON, 1, rank, HEARTH_ALL_CLUSTERS };
    return l;
}

/**
 * Pages that have their home on the node that writes them first.  Until then
 * they are as hearth_block() would place them.  A page moves at the first
 * hearth_barrier() before which ranks of another node have written it: to that
 * node, or to one of them if several nodes have, as long as the node has room:
 * each rank for a little more than its share of the pages.  It moves again
 * only if another node alone writes it before two barriers in a row, then
 * four, and so on (HEARTH_MIGRATE in hearth-env(7); with off it stays).
 * hearth_home() tells where it is.
 */
static inline hearth_layout
hearth_first_touch(void)
{
    hearth_layout l = { HEARTH_FIRST_TOUCH, 1, 0, HEARTH_ALL_CLUSTERS };
    return l;
}

/**
 * A layout on the ranks of some clusters: parts and blocks go to these ranks,
 * in their order, as if there were no others, and the rank of hearth_on() must
 * be one of them.  Bit c of the set, UINT64_C(1) << c, is cluster c.  Within a
 * set and then within another is within both.  A set that is empty or has a
 * cluster that does not exist ends the job in hearth_alloc(), but for
 * HEARTH_ALL_CLUSTERS.
 */
static inline hearth_layout
hearth_within(hearth_layout layout, uint64_t clusters)
{
    layout.clusters &= clusters;
    return layout;
}

/** Equal contiguous parts on the ranks of one cluster: hearth_block() within
 *  it. */
static inline hearth_layout
hearth_on_cluster(int cluster)
{
    bool is_bit = cluster >= 0 && cluster < 64;

    return hearth_within(hearth_block(), is_bit ? UINT64_C(1) << cluster : 0);
}

/**
 * Allocate count elements of size bytes each, zero-filled and page-aligned,
 * at the same address on every rank.  Collective; the arguments must be the
 * same everywhere.
 *
 * The element size also fixes the unit in which writers are told apart: with
 * a size that is a multiple of 8 (or 4), two ranks may write different
 * 8-byte (4-byte) words of a page at the same time, but not different parts
 * of one such word.  Any other size is exact to the byte.
 *
 * A size of 0 or beyond the heap, or arguments that differ, end the job.
 */
HEARTH_API void *hearth_alloc(size_t count, size_t size, hearth_layout layout);

/**
 * Allocate an object: memory that any thread of any rank takes and gives back
 * at any time.  Local, and no more than a few instructions for most objects of
 * up to 16 KiB.  Its home is this rank.  Aligned as by malloc(3), to 16 bytes,
 * and to its size where that is a power of two, or to a page if that is less;
 * what it holds is not defined.
 * 0 bytes are an object, too; never NULL.
 *
 * It is heap memory like any other: the pointer means the same on every rank,
 * and a rank that has learnt of it by a lock, a barrier and so on may load and
 * store.  Different ranks may write different bytes at the same time.  Small
 * objects lie side by side in pages.  For the order of accesses this is a
 * store to all of the object: under scope consistency it belongs into the
 * critical section that hands the pointer on.
 *
 * Each rank's memory for this is set aside at the start: HEARTH_MALLOC in
 * hearth-env(7).  Memory in which nothing is live goes back to it, for any
 * rank, at barriers and when a rank finds none: that rank waits for two
 * seconds until others come to a call that orders or allocates.  Where no more
 * is left, or it was never so large, the job ends.
 */
HEARTH_API void *hearth_malloc(size_t bytes);

/** Allocate an object at home on a rank, which takes no part in it; otherwise
 *  as hearth_malloc().  Local; now and then it sends a message. */
HEARTH_API void *hearth_malloc_on(size_t bytes, int rank);

/** Allocate an object of count elements of size bytes each, which are 0;
 *  otherwise as hearth_malloc().  Local. */
HEARTH_API void *hearth_calloc(size_t count, size_t size);

/**
 * Allocate an object at a multiple of an alignment, a power of two of any
 * size; otherwise as hearth_malloc().  Local.  hearth_realloc() may move it to
 * an address that is aligned as those of hearth_malloc() are.  An alignment of
 * another kind ends the job.
 */
HEARTH_API void *hearth_aligned_alloc(size_t alignment, size_t bytes);

/** The same at home on a rank, which takes no part in it; otherwise as
 *  hearth_malloc_on().  Local. */
HEARTH_API void *hearth_aligned_alloc_on(size_t alignment, size_t bytes,
                                         int rank);

/**
 * Allocate an object as hearth_malloc() does, or return NULL where that would
 * end the job because there is no memory: at once if HEARTH_MALLOC was never
 * so large, else after the other ranks had two seconds to give back what they
 * do not use.  Local.
 */
HEARTH_API void *hearth_try_malloc(size_t bytes);

/**
 * How many bytes an object has: as many as were asked for, or some more, which
 * may be used, too, by all ranks; 0 for NULL.  Local, and on a rank that did
 * not allocate it a message.  A pointer that hearth_malloc() and its like did
 * not return ends the job.
 */
HEARTH_API size_t hearth_malloc_usable_size(const void *p);

/** What a rank has of objects, for hearth_get_malloc_stats().  All is about the
 *  objects that this rank has allocated, at home here or elsewhere. */
typedef struct hearth_malloc_stats {
    uint64_t live;         /**< objects that no rank has freed, as far as this
                                one has heard */
    uint64_t live_bytes;   /**< their bytes, by hearth_malloc_usable_size() */
    uint64_t peak_bytes;   /**< most bytes at a time since hearth_init(), those
                                counted that threads keep for their next
                                calls; where there are objects at home
                                elsewhere, the sum of the peaks of all homes */
    uint64_t carved_bytes; /**< memory that this rank has for its objects, of
                                what HEARTH_MALLOC sets aside for all ranks */
    uint64_t to_send;      /**< objects of other ranks that were freed here and
                                wait to be handed over */
    uint64_t to_take;      /**< objects of this rank that others have handed
                                over and that are not taken back yet */
} hearth_malloc_stats;

/**
 * Copy out what this rank has of objects now, into a struct of so many bytes,
 * sizeof(hearth_malloc_stats).  Local.  Looks at each object, so it costs time.
 * Members are only ever added, at the end: what this library has none of is 0.
 */
HEARTH_API void hearth_get_malloc_stats(hearth_malloc_stats *stats,
                                        size_t               bytes);

/**
 * Free what is free already as far as can be: objects that this thread keeps
 * for its next calls, and those that wait to be handed over to other ranks or
 * to be taken back, go where they may be used again; memory in which nothing
 * is live goes back for any rank, and to the system, at once, where
 * hearth_free() would keep it for a while.  Local; for a pause of the program,
 * not for loops.
 */
HEARTH_API void hearth_collect(void);

/**
 * Give an object another size, on any rank.  Local.  As many of its bytes stay
 * as fit, and so does its home; but its address may be another, and then the
 * old one is freed, by the rules of hearth_free().  An object of more than 16
 * KiB stays where it is if the rank that allocated it calls and the memory
 * behind it is free, or it is to be smaller; one that has to move gets room to
 * grow, so that many small steps cost little.  NULL is allocated, at home
 * here.  A pointer that hearth_malloc() and its like did not return ends the
 * job.
 */
HEARTH_API void *hearth_realloc(void *p, size_t bytes);

/**
 * Free what hearth_malloc(), hearth_malloc_on(), hearth_calloc() or
 * hearth_realloc() returned: local, by any thread of any rank.  It counts as a
 * store to all of the object: what others did with it must have been ordered
 * before.  Objects that are freed by another rank than the one that allocated
 * them are gathered, and go back to it some at a time, all at a barrier, and
 * at the next call that orders anything when the other rank finds no memory,
 * which waits for two seconds then; the memory of those of a MiB and more goes
 * back to the system, as below, if the rank that allocated them is their home,
 * one to two seconds later: what is allocated meanwhile has it again.
 * A pointer that none of them returned, or that was freed before, ends the
 * job; if another rank allocated the object, the job may end only when that
 * rank finds so, at hearth_finalize() at the latest.  NULL is nothing.
 *
 * Free what hearth_alloc() returned: collective.  A pointer that
 * hearth_alloc() did not return, or that was freed before, ends the job.
 * The memory of home pages goes back to the system, but over mpi with more
 * than one node it stays for later allocations, since a network card may have
 * registered it; where several ranks share a node, pages that were never
 * touched get memory by that, too, since all are made zero.  The memory of
 * cached copies stays with the rank for later ones, within HEARTH_CACHE.
 */
HEARTH_API void hearth_free(void *p);

/**
 * Acquire a lock, waiting in a fair queue.  Local.  Afterwards this rank sees
 * what was written before earlier releases of the lock: under release
 * consistency all that the releasing ranks had written or seen, under scope
 * consistency what was written inside the lock's critical sections.  A lock
 * belongs to the thread that took it: locking one that this thread holds
 * already, or a negative number, ends the job.  So does a thread that ends
 * while it holds one.
 *
 * Locks 0 .. HEARTH_LOCKS - 1 are always there.  Beyond these any number up to
 * 2^30 - 1 may be used, and what hearth_lock_of() returns, of at least so many
 * different ones as HEARTH_LOCKS in the environment says; where there is no
 * room for one the job ends.  Each costs memory and some twenty messages when
 * it is first used, by a try, too; every other rank sends a message or two
 * when it uses the lock for the first time.
 *
 * Over udp no more than 239 threads of a rank may wait at once for locks,
 * flags, conditions and barriers together.  Where there are several clusters
 * no more than 255 may, and waits for pages of other clusters count, too.  One
 * more ends the job.  All such limits stand in hearth-env(7).
 */
HEARTH_API void hearth_lock(int lock);

/**
 * The number of the lock that belongs to an address, the same on every rank
 * that asks for it: for hearth_lock() and all that takes a lock.  Local; the
 * first call for an address sends some twenty messages, the first one of each
 * other rank a message or two, and later ones none.  Any address that means
 * the same to all ranks will do, such as one in the heap; different addresses
 * have different locks, and nothing there is read or written.  An address
 * keeps its lock until hearth_finalize(), also if its memory is freed and
 * allocated again.  NULL, or an address for which HEARTH_LOCKS in the
 * environment leaves no room, ends the job.
 */
HEARTH_API int hearth_lock_of(const void *address);

/** Acquire a lock if it is free: true if it was taken.  Local.  Never waits
 *  for another holder; otherwise as hearth_lock().  While another rank's try
 *  is under way it may fail even if the lock is free: a thread that must have
 *  the lock in the end tries again, or calls hearth_lock(). */
HEARTH_API bool hearth_trylock(int lock);

/** Release a lock that this thread holds; another one ends the job.  Local.
 *  What was written is seen by the rank that acquires the lock next, and by
 *  others when they synchronise with this rank in some other way.  A lock that
 *  one rank takes again and again may stay there until another asks for it
 *  (lazy release: Keleher, Cox, Zwaenepoel, ISCA 1992), and what was written
 *  is brought home then (HEARTH_LOCK_STAY). */
HEARTH_API void hearth_unlock(int lock);

/**
 * Wait until every rank is here; afterwards all ranks see everything that was
 * written before.  Collective.  Inside a critical section it ends the job
 * under scope consistency.
 */
HEARTH_API void hearth_barrier(void);

/**
 * Save the run as it is here: the heap's contents, allocations with their
 * layouts and homes, the objects of hearth_malloc(), which flags are set, the
 * numbers of locks that have names, and what each rank gave to
 * hearth_checkpoint_add().  Collective; a barrier, too: what was written before
 * is in it, what is written afterwards is not.
 *
 * `where` is a folder, made if it is not there (its parent must be), which all
 * ranks see; a relative name is meant where rank 0 works.  Everything that is
 * written lies in it, and each checkpoint has a number there, one more than the
 * last.  NULL is HEARTH_CHECKPOINT, and then one is made only if it is
 * due (HEARTH_CHECKPOINT_EVERY) and no message more than a barrier's is sent if
 * not: a program that calls hearth_checkpoint(NULL) at a point of each step
 * where its registered memory says where to go on needs no other change.
 *
 * A checkpoint counts only when all of its files are on the disk (fsync(2),
 * before the one name that makes it valid), so one that was interrupted at any
 * moment is as if it had never begun.  The call waits for that; if it takes
 * longer than two seconds a line says so.
 *
 * Returns true on all ranks if one was made, or false on all if none was: it
 * was not due, or could not be written (no room, quota, a file system that is
 * read-only or gone), of which one line tells.  Then the one before stays, the
 * next tries again, and the run goes on.
 *
 * No thread may be inside a lock or reader-writer lock, wait for one, for a
 * flag or a condition, hold a range (hearth_hold()), or have an operation of
 * MPI under way on heap memory; `where` must be the same on all ranks, and a
 * folder of this program alone.  Otherwise the job ends.  The library cannot
 * see messages between private buffers (the program must have received all that
 * it was sent), open files, and other threads of a rank, which must neither
 * store to the heap nor allocate meanwhile.  Over several clusters there is no
 * checkpoint.
 */
HEARTH_API bool hearth_checkpoint(const char *where);

/** Whether the checkpoint that was begun last is on the disk, as far as this
 *  rank knows.  Local; never waits. */
HEARTH_API bool hearth_checkpoint_done(void);

/** Wait until the checkpoint that was begun last is on the disk.  Collective.
 *  True on all ranks if it is whole, or if none was begun; false, after a line,
 *  if it could not be written.  hearth_finalize() and the next
 *  hearth_checkpoint() wait, too. */
HEARTH_API bool hearth_checkpoint_wait(void);

/**
 * Private memory of this rank that belongs to its checkpoints, under a name of
 * 1 to 63 bytes, without '/'.  Local; at any time between hearth_init() and
 * hearth_finalize(), and from then on until hearth_checkpoint_remove(): it must
 * stay there.  Each rank may have names of its own.
 *
 * In a run that was restarted it fills the memory at once and returns true if
 * the checkpoint has the name, else it leaves it and returns false.  Rank r
 * gets what rank r had, and with more ranks than that run had what rank r
 * modulo their number had; of ranks that are no more hearth_checkpoint_read()
 * tells.
 *
 * Pointers into the heap are right afterwards; others, to variables, functions
 * or private memory, are not.  Heap memory, a name that is taken on this rank,
 * or a size other than the one that was saved ends the job.
 */
HEARTH_API bool hearth_checkpoint_add(void *p, size_t bytes, const char *name);

/** Forget a name that this rank gave.  Local.  One that it did not ends the
 *  job. */
HEARTH_API void hearth_checkpoint_remove(const char *name);

/** In a run that was restarted: what a rank of the run before had under a name.
 *  Local.  A rank number which that run did not have, a name which that rank
 *  had not given, or another size ends the job, as does a run that was not
 *  restarted. */
HEARTH_API void hearth_checkpoint_read(int rank, const char *name, void *to,
                                       size_t bytes);

/** Number of ranks of the run that was saved, if this one was restarted
 *  (HEARTH_RESTART), else 0.  Local. */
HEARTH_API int hearth_restarted(void);

/** Some of the ranks, which meet and allocate without the others: what
 *  hearth_team_of() returns.  Each member has a pointer of its own. */
typedef struct hearth_team hearth_team;

/**
 * Make a team of the ranks of a communicator.  Collective over it; the others
 * take no part.  All of them must be of one cluster (hearth_cluster_comm()).
 * The communicator is duplicated, and may be freed afterwards.  A rank may be
 * in any number of teams.  MPI_COMM_NULL, an intercommunicator, or one with
 * other ranks ends the job.
 */
HEARTH_API hearth_team *hearth_team_of(MPI_Comm comm);

/** hearth_team_of() with a communicator as Fortran has it, as hearth_init_f().
 *  Collective over it. */
HEARTH_API hearth_team *hearth_team_of_f(int comm);

/**
 * Wait until every member of a team is here; afterwards all members see what
 * any of them had written or seen before.  Collective over the team, by one
 * thread of each member at a time.  That is so under both consistencies, as
 * with flags.  It costs a flag that is set and waited for, and an MPI_Ibarrier
 * of the members.  What is no team of this rank's ends the job.
 */
HEARTH_API void hearth_team_barrier(hearth_team *team);

/**
 * Allocate memory for a team, an object of count elements of size bytes each,
 * which are 0: it is at home on one member, the next one in the order of the
 * communicator with each call.  Collective over the team, and a
 * hearth_team_barrier(); every member gets the same pointer.  Otherwise as
 * hearth_calloc(): other ranks may use it when they have learnt of it, and any
 * one rank gives it back by hearth_free().
 */
HEARTH_API void *hearth_team_alloc(hearth_team *team, size_t count,
                                   size_t size);

/** End a team.  Collective over it.  What it has allocated stays.
 *  hearth_finalize() ends those that are left. */
HEARTH_API void hearth_team_free(hearth_team *team);

/**
 * Set a condition flag: a release.  Local.  All that this rank wrote or has
 * seen is visible to a rank whose hearth_flag_wait() returns because of it,
 * under both consistencies.  A number outside 0 .. HEARTH_FLAGS - 1 ends the
 * job.
 */
HEARTH_API void hearth_flag_set(int flag);

/** Wait until a flag is set: an acquire.  Local.  The flag stays set. */
HEARTH_API void hearth_flag_wait(int flag);

/** Put a flag back to "not set".  Local in effect; no release, no acquire. */
HEARTH_API void hearth_flag_reset(int flag);

/**
 * Wait for a condition variable.  Local.  Releases the lock, which this thread
 * holds, waits until it is woken, and acquires the lock again; both as
 * hearth_unlock() and hearth_lock().  A thread that enters the lock after this
 * one has left it finds this one waiting, so no signal is lost; those that
 * wait are woken in the order in which they came.  Others may have had the
 * lock since the signal: so look again at what was waited for, in a loop
 * (Hoare 1974; Lampson and Redell 1980; as pthread_cond_wait()).  A lock that
 * this thread does not hold, or a number outside 0 .. HEARTH_CONDS - 1, ends
 * the job.
 */
HEARTH_API void hearth_cond_wait(int cond, int lock);

/** Wake the thread that has waited longest for the condition.  Local; with the
 *  lock held or without.  Neither acquires nor releases anything: the lock
 *  does.  Nothing happens if no thread waits. */
HEARTH_API void hearth_cond_signal(int cond);

/** Wake all that wait for the condition; otherwise as hearth_cond_signal(). */
HEARTH_API void hearth_cond_broadcast(int cond);

/**
 * Acquire a reader-writer lock to read what it protects, together with other
 * readers; waits while another thread writes.  Local.  Afterwards this rank
 * sees all that the ranks which released the lock before, as readers or as
 * writers, had written or seen by then.  That is so under both consistencies:
 * a reader-writer lock tells what a flag would.  Phase-fair (Brandenburg and
 * Anderson, "Spin-Based Reader-Writer Synchronization for Multiprocessor
 * Real-Time Systems", 2010): a reader waits for one writer at most, and a
 * writer whose turn it is for the readers that came before that, so that
 * neither starves.  The lock belongs to the thread that took it.  Taking one
 * that this thread holds already, either way, or a number outside 0 ..
 * HEARTH_RWLOCKS - 1, ends the job.
 */
HEARTH_API void hearth_rdlock(int rwlock);

/** Acquire a reader-writer lock to write, alone; writers have their turns in
 *  the order in which they came.  Local.  Otherwise as hearth_rdlock(). */
HEARTH_API void hearth_wrlock(int rwlock);

/** Acquire a reader-writer lock to read if no writer holds it or waits for it:
 *  true if it was taken.  Local.  Never waits for a thread that holds it;
 *  otherwise as hearth_rdlock().  While other tries are under way it may fail
 *  even if the lock is free, but of those that begin then one gets it. */
HEARTH_API bool hearth_tryrdlock(int rwlock);

/** Acquire a reader-writer lock to write if no thread holds it or waits for
 *  it: true if it was taken.  Local.  Otherwise as hearth_tryrdlock(). */
HEARTH_API bool hearth_trywrlock(int rwlock);

/** Release a reader-writer lock that this thread holds, either way; another
 *  one ends the job.  Local.  What was written or seen before is seen by the
 *  ranks that acquire the lock afterwards. */
HEARTH_API void hearth_rwunlock(int rwlock);

/**
 * Order by the program's own messages: what this rank wrote to these bytes,
 * or wherever it wrote with NULL and 0, is at its home afterwards, and is seen
 * by a rank that calls hearth_acquire() after it has been told, such as by
 * MPI_Send() and MPI_Recv().  Local; costs what was written there.  As with
 * locks, what other threads of the rank write meanwhile may or may not be seen.
 * Bytes that are in no allocation end the job.
 */
HEARTH_API void hearth_release(const void *p, size_t bytes);

/**
 * The other side of hearth_release(): loads of these bytes, or all loads with
 * NULL and 0, see what was released before this rank was told.  Local; drops
 * the copies of the range, or every copy, which are fetched again when they
 * are touched: name the range where it is known.  Ranks to which this rank
 * releases a lock or flag later drop their copies of these pages too, under
 * release consistency and for flags.
 */
HEARTH_API void hearth_acquire(const void *p, size_t bytes);

/**
 * Add to a heap word at its home, in one atomic step, and return what it was
 * before.  Local; a message there and back.  All atomic calls on a word are
 * atomic to each other, of all ranks and threads.  The word must be aligned to
 * its size and lie in an allocation, or the job ends; between two barriers it is
 * to be used through atomics only, and those of one size.  Sums wrap.  Orders
 * nothing else: neither acquire nor release.
 *
 * The atomics of C11, of C++ (std::atomic, std::atomic_ref) and of compilers do
 * not do this on a word of the heap: ranks of other nodes have copies of its
 * page, what is done to one of them the others do not see, and counts get lost
 * without a word.  In C++ there is hearth::atomic_ref.
 */
HEARTH_API int64_t hearth_fetch_add(int64_t *word, int64_t value);

/** Replace a heap word at its home and return what it was; as
 *  hearth_fetch_add(). */
HEARTH_API int64_t hearth_swap(int64_t *word, int64_t value);

/** Replace a heap word at its home by `desired` if it is `expected`, and return
 *  what it was: `expected` if it was replaced, and only then.  Otherwise as
 *  hearth_fetch_add(). */
HEARTH_API int64_t hearth_compare_swap(int64_t *word, int64_t expected,
                                       int64_t desired);

/** And a value to a heap word at its home, bit by bit, and return what it was.
 *  Takes one message there and back over `udp`; over `mpi` and between
 * clusters two where no other thread changes the word, more where others do.
 * Otherwise as hearth_fetch_add(). */
HEARTH_API int64_t hearth_fetch_and(int64_t *word, int64_t value);

/** The same with a bitwise or. */
HEARTH_API int64_t hearth_fetch_or(int64_t *word, int64_t value);

/** The same with a bitwise exclusive or. */
HEARTH_API int64_t hearth_fetch_xor(int64_t *word, int64_t value);

/** hearth_fetch_add() on a word of 32 bits.  It writes half of a word of 8
 *  bytes: where elements are a multiple of 8 bytes, the other half is for steps
 *  of all ranks, or for stores of the one that steps here (hearth_alloc()). */
HEARTH_API int32_t hearth_fetch_add32(int32_t *word, int32_t value);

/** hearth_swap() on a word of 32 bits. */
HEARTH_API int32_t hearth_swap32(int32_t *word, int32_t value);

/** hearth_compare_swap() on a word of 32 bits. */
HEARTH_API int32_t hearth_compare_swap32(int32_t *word, int32_t expected,
                                         int32_t desired);

/** hearth_fetch_and() on a word of 32 bits. */
HEARTH_API int32_t hearth_fetch_and32(int32_t *word, int32_t value);

/** hearth_fetch_or() on a word of 32 bits. */
HEARTH_API int32_t hearth_fetch_or32(int32_t *word, int32_t value);

/** hearth_fetch_xor() on a word of 32 bits. */
HEARTH_API int32_t hearth_fetch_xor32(int32_t *word, int32_t value);

/** Add to a double at its home and return what it was; the sum is rounded once,
 *  here.  Messages as hearth_fetch_and(), and otherwise as hearth_fetch_add(). */
HEARTH_API double hearth_fetch_add_double(double *word, double value);

/**
 * Add to a heap word at its home, where it is not asked what it was before.
 * Local; most calls send nothing: a rank gathers adds, adds up those to one
 * word, and sends many together, when it has them to some 4000 words and before
 * it synchronises.  So each is done, and seen by every rank's atomic calls, when
 * this rank, by any of its threads, next sets a flag, unlocks, comes to a
 * barrier or calls hearth_release(), hearth_atomic_flush() or
 * hearth_wait_until() after it; before that it may be done or not.  What may
 * wait for other ranks, such as hearth_lock() or hearth_flag_wait(), brings
 * them, too.
 *
 * Atomic to all other atomic calls on the word, as hearth_fetch_add(): a sum of
 * all adds is right whichever ranks and threads make them.  An atomic call of
 * this rank on the same word comes after the adds that it has made before.
 * Adds to different words have no order.  A plain load finds them where it
 * would find those of hearth_fetch_add(): behind a barrier.  What the word must
 * be, and all else, as hearth_fetch_add().
 */
HEARTH_API void hearth_add(int64_t *word, int64_t value);

/** hearth_add() to a word of 32 bits, as hearth_fetch_add32(). */
HEARTH_API void hearth_add32(int32_t *word, int32_t value);

/** hearth_add() to a double.  Sums are rounded in no order that is promised.
 *  It goes home as any add where a thread at the home adds, which is so over
 *  `udp` and mostly over `mpi`; elsewhere each word takes two messages there
 * and back. */
HEARTH_API void hearth_add_double(double *word, double value);

/**
 * Bring home what this rank has added by hearth_add() and its like: it is done,
 * and every rank's atomic calls see it, when this returns.  Local; as long as
 * the slowest home takes, and nothing where there is nothing to bring.  Neither
 * acquire nor release.
 */
HEARTH_API void hearth_atomic_flush(void);

/** How hearth_wait_until() compares a word, on the left, with a value. */
enum {
    HEARTH_EQ, /**< they are equal */
    HEARTH_NE, /**< they are not */
    HEARTH_GT, /**< the word is greater */
    HEARTH_GE, /**< it is greater or equal */
    HEARTH_LT, /**< it is less */
    HEARTH_LE  /**< it is less or equal */
};

/**
 * Wait until a heap word compares so with a value at its home, and return what
 * it was then.  Local.  What others do to it meanwhile are atomic calls, or
 * stores of one rank of its home's node; it may be another value again when
 * this returns, and one that it had for a moment only may be missed.  Brings
 * home what this rank has added (hearth_add()); neither acquire nor release:
 * for memory that goes with the word, hearth_release() before it is changed and
 * hearth_acquire() after this call.
 *
 * A rank waits by looking: in memory if the word has its home on its node,
 * where waiting sends nothing, and by a message there and back if not.  So let
 * a word be at home where it is waited for.  It looks without a pause at first,
 * and then at most a sixteenth of the time that it has waited passes between
 * two looks, at most 2 ms, in which the thread sleeps.  What the word must be
 * as hearth_fetch_add(); another `how` ends the job.
 */
HEARTH_API int64_t hearth_wait_until(const int64_t *word, int how,
                                     int64_t value);

/**
 * Fetch the pages of a range that are not here, in as few messages as
 * possible.  Local; a hint that never changes what a program computes, and
 * does nothing with HEARTH_FETCH_AHEAD=0.
 */
HEARTH_API void hearth_prefetch(const void *p, size_t bytes);

/**
 * The same for n places of so many bytes each, which may lie anywhere and in
 * any order, and overlap: many pages come in one round trip, where a fault, or
 * hearth_prefetch() of each place, would take one for each.  Local; a hint.  No
 * more than half of HEARTH_CACHE is brought.  Places of 0 bytes are nothing,
 * wherever they are; others that are not in the heap end the job.
 */
HEARTH_API void hearth_prefetchv(const void *const *places,
                                 const size_t *bytes, size_t n);

/**
 * The program will store to all of these bytes before it loads from them, and
 * before it synchronises: so what was there is not fetched, nothing is
 * compared, and pages go home whole.  Local; costs nothing for pages that are
 * not touched afterwards, and may be larger than the cache.
 *
 * No other rank may write these bytes meanwhile.  A byte that was not stored
 * to after all has any value then, everywhere.  The promise ends when this
 * rank, by any of its threads, next synchronises with another: what is stored
 * later is right, but fetched.  Pages that lie in the range only in part are
 * opened as ever.  Of more than 16 ranges at a time the oldest is forgotten.
 * Bytes that are in no allocation end the job.
 */
HEARTH_API void hearth_overwrite(void *p, size_t bytes);

/**
 * A hint: these bytes are read by ranks of several nodes, and hardly ever
 * written.  Local; never changes what a program computes.  Each rank that reads
 * them says so, best before the barrier behind which they are filled in:
 *
 * - Their homes are told at once that this rank will have copies, by a few
 *   messages.  Copies that it fetches behind the second barrier from there stay
 *   until they are written again, where first copies would be dropped once or
 *   twice to be fetched again.  Not those with homes in other clusters, nor
 *   those of which this rank has copies already.
 * - No load makes a twin, whatever this rank wrote there before; a store does,
 *   and it goes at the next release or barrier.
 * - Where HEARTH_CACHE is full, copies of these pages are the first to go.
 *
 * The price is the home's: it tells of these pages once as written, and a store
 * of its ranks to one of them costs a fault, in each interval.  Pages at home
 * on this node are as they were.  Of more than 16 ranges at a time the oldest
 * is forgotten; hearth_free() of the allocation ends it, too.  0 bytes are
 * nothing; bytes that are not within one allocation end the job.
 */
HEARTH_API void hearth_read_mostly(void *p, size_t bytes);

/** How a range is held: see hearth_hold(). */
enum {
    HEARTH_READ = 1, /**< it will be read */
    HEARTH_WRITE = 2 /**< it will be read and written */
};

/**
 * Hold a range: make all of it present, readable or with HEARTH_WRITE writable,
 * and keep it so until hearth_drop().  Local; any thread that may use Hearth
 * may call it, and another may drop.
 *
 * Until then the range may be used by what does not fault: the kernel, a
 * device, a library that must not be interrupted.  Nothing of the range is
 * protected, evicted, moved or unmapped, across locks, flags and barriers.  It
 * is heap memory all the same: what other ranks write elsewhere in its pages
 * arrives at this rank's acquires, and what is written into it here at any
 * moment leaves at this rank's releases, whatever wrote it.  As always, no two
 * may write the same bytes without order (hearth_alloc() says what counts as
 * the same).
 *
 * Holds nest and overlap: a page is free again when each of its holds was
 * dropped.  What is here already is held without a message.  A hold for
 * writing has a price at each release: copies are compared, and a page whose
 * home is on this node counts as written if another node has ever fetched it.
 *
 * Copies of pages that have their home on other nodes can be held as long as a
 * sixteenth of HEARTH_CACHE (eight pages at least) is left, in as many pieces
 * as the kernel has mappings for (vm.max_map_count): more ends the job.
 * So does a range that is not within one allocation, or `how` that is not
 * HEARTH_READ, HEARTH_WRITE or both; 0 bytes are nothing, wherever they are.
 * An allocation of which something is held cannot be freed;
 * hearth_finalize() ends what holds there are.
 */
HEARTH_API void hearth_hold(const void *p, size_t bytes, int how);

/**
 * End a hold: the same range and `how` as were given to hearth_hold().  Local.
 * What was written goes on to be released as if it had been stored.  What is
 * not held ends the job.
 */
HEARTH_API void hearth_drop(const void *p, size_t bytes, int how);

/** Offset of an address in the heap, the same on all ranks of all clusters: the
 *  second half of an address (cluster, offset) for hearth_read() and
 *  hearth_write().  Local; what is not in the heap ends the job. */
HEARTH_API uint64_t hearth_offset(const void *p);

/**
 * Read bytes whose home is in a cluster, from there, past this rank's copies
 * and without a fault: the explicit interface of Nanri, Sato and Shimasaki,
 * between clusters and in one's own.  Local, blocks.  It brings what has come
 * home so far: stores to home pages by ranks of their nodes, and those of
 * others before their last release, barrier or hearth_write().  A word of 8
 * aligned bytes that is written meanwhile is not read in halves if it is
 * written by hearth_write(), an atomic step, a store of a rank of its home's
 * node or, over `udp` and with elements of a multiple of 8 bytes, a release.
 * Over `mpi` the first runs of a release are stored by the MPI
 * (HEARTH_PUT_RUNS), which promises no more than bytes: MPIs were seen to store
 * whole words on x86-64, and words in parts on aarch64.  A program that needs an order synchronises.  Bytes that are in no
 * allocation, or at home in another cluster, and a job that is one cluster
 * alone end the job.
 */
HEARTH_API void hearth_read(int cluster, uint64_t offset, void *to,
                            size_t bytes);

/**
 * Write bytes whose home is in a cluster, to there: they are there when it
 * returns, and ranks that synchronise with this one afterwards find them, as if
 * it had stored them.  What this rank stored to these pages before comes home
 * before them, and a copy that it has of them goes.  Local, blocks; errors as
 * hearth_read().
 */
HEARTH_API void hearth_write(int cluster, uint64_t offset, const void *from,
                             size_t bytes);

/** Home rank of an address, or -1 if it is in no allocation.  Local.  What may
 *  move (hearth_first_touch(), HEARTH_MIGRATE) does so in hearth_barrier(): the
 *  answer is the same on all ranks between two of them. */
HEARTH_API int hearth_home(const void *p);

/**
 * Give memory a name, for the reports of HEARTH_STATS=yes and HEARTH_REPORT:
 * that of the array, say.  p is what hearth_alloc(), hearth_malloc() or another
 * call has returned, or points into it.  Local: any rank may do so, and of
 * several names the lowest rank's counts.  The name is copied, up to 63 bytes
 * of it; NULL takes it away.  Without a report this does nothing.  Memory that
 * is not in the heap ends the job.
 */
HEARTH_API void hearth_name(const void *p, const char *name);

/**
 * What this rank did since hearth_init() or hearth_stats_start().  Times are
 * in nanoseconds; those of several threads add up.  A moment of a thread is in
 * one of fault_ns, lock_ns, barrier_ns and explicit_ns at most; with one
 * thread, what is in none of them nor in service_ns is computation.
 */
typedef struct hearth_stats {
    uint64_t read_faults;   /**< faults by loads */
    uint64_t write_faults;  /**< faults by stores */
    uint64_t getpages;      /**< pages fetched from their home */
    uint64_t ahead;         /**< of these pages, those that no thread had
                                 touched yet */
    uint64_t predicted;     /**< pages fetched, or copied within the node, at
                                 the end of an acquire, as they had been used
                                 before it (HEARTH_PREDICT) */
    uint64_t predicted_used; /**< of these, those that were touched then, or
                                 opened at once as they always were */
    uint64_t fetches;       /**< messages that fetched them */
    uint64_t matepages;     /**< pages that another rank of the node had,
                                 copied from there */
    uint64_t twins;         /**< clean copies taken before a first write */
    uint64_t overwritten;   /**< pages opened for writing without their content
                                 (hearth_overwrite()) */
    uint64_t diffs;         /**< pages whose diff was brought home */
    uint64_t diff_runs;     /**< runs of changed bytes in those diffs */
    uint64_t diff_bytes;    /**< bytes in those runs */
    uint64_t diff_waits;    /**< times when diffs were on their way and waited
                                 for */
    uint64_t intervals;     /**< intervals in which pages were written */
    uint64_t notices_out;   /**< runs of pages published as written */
    uint64_t notices_in;    /**< runs of pages learnt of */
    uint64_t everything;    /**< times when a bounded log had overflowed */
    uint64_t invalidations; /**< copies dropped because others wrote */
    uint64_t provisional;   /**< first copies dropped at an acquire */
    uint64_t evictions;     /**< copies given up to make room */
    uint64_t moves;         /**< pages that this rank asked to be at home on
                                 its node, and that moved there */
    uint64_t moves_refused; /**< pages that this rank asked for, and that
                                 stayed */
    uint64_t renewed;       /**< pages at home that count as never fetched
                                 again, since no rank had a copy any more */
    uint64_t locks;         /**< locks acquired */
    uint64_t locks_kept;    /**< of these, locks that had stayed at the rank */
    uint64_t barriers;      /**< barriers passed */
    uint64_t flags;         /**< flags waited for */
    uint64_t conds;         /**< conditions waited for */
    uint64_t rwlocks;       /**< reader-writer locks acquired */
    uint64_t atomics;       /**< atomic operations on heap words */
    uint64_t holds;         /**< ranges held by hearth_hold() */
    uint64_t messages;      /**< messages to other nodes: datagrams sent (udp);
                                 one-sided operations, where no answer comes
                                 back, and what barriers send (mpi) */
    uint64_t message_bytes; /**< bytes in them: with their heads (udp); moved
                                 either way, without MPI's own (mpi) */
    uint64_t local_messages; /**< messages through shared memory (udp) */
    uint64_t resends;       /**< datagrams sent again for want of an answer */
    uint64_t repeats;       /**< datagrams that came again */
    uint64_t overruns;      /**< datagrams lost for want of room in a receive
                                 buffer */
    uint64_t refused;       /**< datagrams dropped as wrong or foreign */
    uint64_t far_requests;  /**< requests that this rank's process, as a
                                 gateway, passed on to other clusters */
    uint64_t far_messages;  /**< messages in which they went, each with all of
                                 a moment */
    uint64_t far_pages;     /**< pages in those requests */
    uint64_t far_kept;      /**< pages that ranks of this cluster asked for,
                                 and that the gateway had kept */
    uint64_t fault_ns;      /**< time in page faults and hearth_prefetch() */
    uint64_t lock_ns;       /**< time in calls for locks, flags and atomics */
    uint64_t barrier_ns;    /**< time in barriers, those of hearth_free() and
                                 hearth_finalize() too */
    uint64_t explicit_ns;   /**< time in hearth_read() and hearth_write() */
    uint64_t service_ns;    /**< time of the library's own threads for others,
                                 while the program computed */
    uint64_t service_wait_ns; /**< the same while the program waited in faults,
                                 calls or barriers */
    uint64_t write_fault_ns; /**< of fault_ns, time in faults by stores */
    uint64_t barrier_wait_ns; /**< of barrier_ns, time in which this rank waited
                                 for others */
    uint64_t diff_ns;       /**< of lock_ns and barrier_ns, time in which what
                                 this rank had written was closed and brought
                                 home */
    uint64_t predict_ns;    /**< of lock_ns and barrier_ns, time in which pages
                                 were fetched that had been used before
                                 (HEARTH_PREDICT) */
} hearth_stats;

/** Copy out the counters of this rank as they are now.  Local. */
HEARTH_API void hearth_get_stats(hearth_stats *stats);

/**
 * The same into a struct of so many bytes.  Local.  Members of hearth_stats are
 * only ever added, at its end: a program that was compiled with an earlier
 * header gets those that it knows, and what this library has none of is 0.
 * hearth_get_stats() in C and C++ is this call, with the size of its header;
 * one that is called by its symbol copies the members that version 0.2 had.
 */
HEARTH_API void hearth_get_stats_sized(hearth_stats *stats, size_t bytes);

/**
 * One member of hearth_stats by its name, such as "getpages": for languages
 * without the struct.  Local.  Ends the job if there is none of that name.
 */
HEARTH_API uint64_t hearth_counter(const char *name);

/** The names of the members of hearth_stats, from 0 on; NULL behind the last
 *  one.  Local. */
HEARTH_API const char *hearth_counter_name(int i);

/**
 * Begin the section of the program that is reported at hearth_finalize() if
 * HEARTH_STATS asks for it: this rank counts from 0 again.  Local; behind a
 * barrier the sections of all ranks begin together.  Without this call the
 * section begins at hearth_init(), and of several the last one is reported.
 */
HEARTH_API void hearth_stats_start(void);

/**
 * End that section: what follows is not in the report, though
 * hearth_get_stats() goes on counting.  Local.  Without this call the section
 * ends at hearth_finalize(); in a section that has ended it does nothing.
 */
HEARTH_API void hearth_stats_stop(void);

/** Which MPI library a program is compiled for, for hearth_compiled(). */
enum {
    HEARTH_COMPILED_OTHER,    /**< one that Hearth does not know */
    HEARTH_COMPILED_OPEN_MPI, /**< Open MPI */
    HEARTH_COMPILED_MPICH,    /**< MPICH, and those with its ABI */
    HEARTH_COMPILED_ABI       /**< any with the ABI of MPI 5.0 (mpicc_abi) */
};

/** The one of this compilation. */
#if defined(OPEN_MPI)
#define HEARTH_COMPILED_MPI HEARTH_COMPILED_OPEN_MPI
#elif defined(MPICH_VERSION) /* and not I_MPI_VERSION: that is in both */
#define HEARTH_COMPILED_MPI HEARTH_COMPILED_MPICH
#elif defined(MPI_ABI_VERSION)
#define HEARTH_COMPILED_MPI HEARTH_COMPILED_ABI
#else
#define HEARTH_COMPILED_MPI HEARTH_COMPILED_OTHER
#endif

/**
 * Compare what a program was compiled with, its MPI library and the bytes of
 * hearth_stats, with what this library was; 0 is not compared.  If the MPI is
 * another, or the header a later one than the library's, the job ends with a
 * line.  Local; may be called at any time, and uses nothing of MPI.  In C and C++ hearth_init() and hearth_get_stats() do it first;
 * bindings that call them by their symbols do it themselves.
 */
HEARTH_API void hearth_compiled(int mpi, size_t stats);

/** The value of an option after defaults, such as "transport".  Local.
 *  NULL if there is no such option.  The text is valid until the next call. */
HEARTH_API const char *hearth_option(const char *name);

/** @cond */
static inline void
hearthi_init_compared(MPI_Comm comm)
{
    hearth_compiled(HEARTH_COMPILED_MPI, sizeof(hearth_stats));
    hearth_init(comm);
}

static inline void
hearthi_get_stats_compared(hearth_stats *stats)
{
    hearth_compiled(HEARTH_COMPILED_MPI, sizeof(hearth_stats));
    hearth_get_stats_sized(stats, sizeof(hearth_stats));
}

#define hearth_init(comm)       hearthi_init_compared(comm)
#define hearth_get_stats(stats) hearthi_get_stats_compared(stats)
/** @endcond */

#ifdef __cplusplus
}
#endif
#endif
