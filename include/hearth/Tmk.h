/**
 * @file Tmk.h
 * @brief The programming interface of TreadMarks, over Hearth.
 *
 * A program written for TreadMarks includes "Tmk.h", calls
 * Tmk_startup(argc, argv) first and Tmk_exit(status) last, and is compiled and
 * started like any other program of Hearth:
 *
 *     mpicc -o prog prog.c $(pkg-config --cflags --libs hearth)
 *     mpirun -n 4 ./prog
 *
 * The calls are those of the papers: Keleher, Cox, Dwarkadas and Zwaenepoel,
 * "TreadMarks: Distributed Shared Memory on Standard Workstations and
 * Operating Systems", USENIX 1994; Amza and others, "TreadMarks: Shared Memory
 * Computing on Networks of Workstations", IEEE Computer 1996.
 *
 * **Processes** are the ranks of MPI_COMM_WORLD: `Tmk_proc_id` is the number
 * of this one, `Tmk_nprocs` how many there are.  The launcher says how many;
 * what the command line says of it is the program's to read.  Every process
 * runs main() and has global variables of its own.
 *
 * **Memory** from Tmk_malloc() is shared, and release consistent: what was
 * written before Tmk_lock_release() is seen after the Tmk_lock_acquire() that
 * follows, what was written before Tmk_barrier() is seen after it.  One
 * process allocates and tells the others by Tmk_distribute():
 *
 *     if (Tmk_proc_id == 0) {
 *         grid = Tmk_malloc(M * N * sizeof(float));
 *         Tmk_distribute(&grid, sizeof grid);
 *     }
 *     Tmk_barrier(0);
 *
 * Programs of TreadMarks know nothing of homes: so pages that one node alone
 * writes get their homes there (HEARTH_MIGRATE is `on` unless the environment
 * says otherwise).
 *
 * **Errors** end the whole job with one line that names the process and the
 * call.
 *
 * Compiled as C++ the same calls are there.  This header needs no other, but
 * <stddef.h>.
 */
#ifndef HEARTH_TMK_H
#define HEARTH_TMK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TMK_API __attribute__((visibility("default")))

/* The papers' skeletons call Tmk_startup() and Tmk_exit() with no argument. */
#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
#if defined TMK_ARGUMENTS
#elif defined __cplusplus
#define TMK_ARGUMENTS int argc = 0, char **argv = 0
#elif __STDC_VERSION__ >= 202311L
#define TMK_ARGUMENTS ...
#else
#define TMK_ARGUMENTS
#endif

#define TMK_NPROCS    1024 /* most processes */
#define TMK_NLOCKS    4000 /* locks are 0 .. TMK_NLOCKS - 1 */
#define TMK_NBARRIERS 1024 /* barriers are 0 .. TMK_NBARRIERS - 1 */

extern TMK_API unsigned Tmk_proc_id; /* this process */
extern TMK_API unsigned Tmk_nprocs;  /* number of processes */
extern TMK_API unsigned Tmk_page_size; /* bytes, from Tmk_startup() on */

/**
 * Start.  Collective: the first call, on every rank of MPI_COMM_WORLD.
 * Initialises MPI, unless the program did.  The arguments, which may be left
 * out, are not looked at.  More than TMK_NPROCS ranks end the job.
 */
TMK_API void Tmk_startup(TMK_ARGUMENTS);

/**
 * Stop, and end this process with this status, 0 if none is given.  Others go
 * on; the process serves them the pages that are at home with it until all
 * have come here, and does not return.  A process that ends with status 0
 * without this call, as by a return from main(), makes it as it ends, and then
 * waits for the others for up to 10 minutes.
 */
TMK_API void Tmk_exit(int status) __attribute__((noreturn));

/** End the whole job with a line formed as by printf(3). */
TMK_API void Tmk_errexit(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/** Print on stderr, formed as by printf(3), up to 1023 bytes.  Local. */
TMK_API void Tmk_err(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/**
 * Allocate shared memory: by one process, at any time, without a message to
 * others.  The address is the same on all of them.  0 bytes, or more than
 * there is, end the job.
 *
 * From 64 KiB on its pages are dealt to all processes, out of as much room as
 * HEARTH_MALLOC gives them together.  What finds none there is at home of the
 * process that allocates it, and a line says so once.
 */
TMK_API void *Tmk_malloc(size_t size);

/** Allocate shared memory that is zero and stays.  Local.  What is allocated
 *  next need not lie behind it. */
TMK_API void *Tmk_sbrk(size_t incr);

/** Free shared memory; by any process.  NULL is allowed.  What Tmk_malloc()
 *  did not return, or that was freed before, ends the job. */
TMK_API void Tmk_free(void *ptr);

/**
 * Give the others the value of a private global variable, such as a pointer to
 * shared memory.  Local: this process sends nothing, and each other one has
 * the value in its own variable when it next passes a barrier, acquires a lock
 * or comes back from a condition that this call was before (under
 * HEARTH_CONSISTENCY=scope a barrier).  Where several processes give a
 * variable, the last one in the order of these synchronisations counts.  What
 * lies on a stack or was allocated by malloc(3) has no address on the other
 * processes and ends the job, as does what is in shared memory.
 */
TMK_API void Tmk_distribute(const void *ptr, size_t size);

/** Wait for all processes; afterwards all see all writes.  Collective: every
 *  process comes to the same barrier. */
TMK_API void Tmk_barrier(unsigned id);

/** Acquire a lock.  Local. */
TMK_API void Tmk_lock_acquire(unsigned id);

/** Release a lock that this process holds.  Local. */
TMK_API void Tmk_lock_release(unsigned id);

/**
 * Wait for a condition of a lock that this process holds: releases it, waits
 * to be woken and acquires it again.  Local.  Others may have had the lock
 * since the signal, so look again at what was waited for.  Each lock has
 * conditions of its own, of any number; in all 1024 may be used.
 */
TMK_API void Tmk_lock_cond_wait(unsigned lock, unsigned cond);

/** Wake the process that has waited longest for a condition of a lock, if
 *  there is one.  Local. */
TMK_API void Tmk_lock_cond_signal(unsigned lock, unsigned cond);

/** Wake all that wait for it. */
TMK_API void Tmk_lock_cond_broadcast(unsigned lock, unsigned cond);

/** What a function that is forked gets: pointers to shared memory, and
 *  values. */
struct Tmk_sched_arg {
    int   sharedLen;
    int   byvalueLen;
    void *shared[15];
    union {
        short  short_by_value;
        int    int_by_value;
        long   long_by_value;
        float  float_by_value;
        double double_by_value;
    } byvalue[15];
};

typedef struct Tmk_sched_arg *Tmk_sched_arg_t;

/**
 * Begin or end a part of the program in which one process, the manager, says
 * what all do.  Collective, with the same manager.  On it: wait until all
 * others have done what was forked, and return 1.  On the others: do what the
 * manager forks, until it calls Tmk_sched_exit(), and then return 0.
 *
 *     if (Tmk_sched_start(0)) {
 *         Tmk_sched_fork(first, &arg);
 *         Tmk_sched_start(0);
 *         Tmk_sched_fork(second, &arg);
 *         Tmk_sched_start(0);
 *         Tmk_sched_exit();
 *     }
 */
TMK_API int Tmk_sched_start(unsigned proc_id);

/** Call a function of the program on all processes, each with a copy of the
 *  argument, which may be NULL; on this one, the manager, before it returns.
 *  The function may use barriers and locks. */
TMK_API void Tmk_sched_fork(void (*func)(Tmk_sched_arg_t arg),
                            Tmk_sched_arg_t arg);

/** Let the others come back from Tmk_sched_start(). */
TMK_API void Tmk_sched_exit(void);

#ifndef __cplusplus
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#define Tmk_exit(...) Tmk_exit(__VA_ARGS__ + 0)

#endif
