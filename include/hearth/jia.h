/**
 * @file jia.h
 * @brief The programming interface of JIAJIA, Mocha and JUMP, over Hearth.
 *
 * A program written for JIAJIA 2, Mocha 0.2 or JUMP includes "jia.h", calls
 * jia_init(argc, argv) first and jia_exit() last, and is compiled and started
 * like any other program of Hearth:
 *
 *     mpicc -o prog prog.c $(pkg-config --cflags --libs hearth)
 *     mpirun -n 4 ./prog
 *
 * **Hosts** are the ranks of MPI_COMM_WORLD: `jiapid` is the number of this
 * one, `jiahosts` how many there are.  Both keep their values after
 * jia_exit(), which returns.  There is no .jiahosts file, no remote shell and
 * no redirected output.
 *
 * **Options of the command line**, as in Mocha: `-Q n` (or `-Qn`) uses n of
 * the ranks that were started; the others wait inside jia_init() until the
 * end, finalise MPI and leave with status 0.  `-S` turns the omission of
 * acknowledgements on, where HEARTH_TRANSPORT is udp: without it jia_init()
 * sets HEARTH_UDP_ACK to all.  With it or without, what HEARTH_UDP_ACK says in
 * the environment counts.
 * Both are left in argv, as Mocha leaves them, since argc cannot be changed;
 * what follows `--` is not looked at.
 *
 * **Memory** is scope consistent (HEARTH_CONSISTENCY=scope), unless the
 * environment says release: after jia_lock(n) the writes made inside earlier
 * critical sections of lock n are visible, after jia_barrier() all are.
 * Ranks of one node share its memory: they see each other's writes before a
 * synchronisation, unlike hosts of JIAJIA, each of which has copies of its
 * own.  HEARTH_NODE_SIZE=1 gives them copies.
 * Writers are told apart by words of 4 bytes.  The jia_alloc calls are
 * collective: every host makes the same ones in the same order.  Memory is
 * page-aligned and zero; blocks are rounded up to pages (HEARTH_PAGE_SIZE);
 * allocations do not follow each other without a gap.  jia_free() gives one
 * back.
 *
 * **Errors** end the whole job with one line that names the host and the
 * call.  What JIAJIA did not check, and would have gone wrong, is checked.
 * JUMP's JIA_ERROR(format, ...) and RASSERT(condition, format, ...) end it by
 * jia_error().
 *
 * **Tuning** that belongs to JIAJIA's protocol is accepted and does nothing
 * here: jia_config() with all but LOADBAL, and the hints jia_wtnt(addr, len),
 * jia_wtntw(addr) and jia_wtntd(addr), which are empty macros.
 *
 * **ANL macros**: LOCKDEC LOCKINIT LOCK UNLOCK, QLOCK QUNLOCK, ALOCKDEC
 * ALOCKINIT ALOCK AULOCK (AUNLOCK), BARDEC BARINIT BARRIER, GSDEC GSINIT
 * GETSUB, G_MALLOC G2_MALLOC G_FREE, CREATE WAIT_FOR_END, CLOCK, MAIN_ENV
 * EXTERN_ENV MAIN_INITENV MAIN_END, and PAUSEDEC PAUSEINIT PAUSE_POLL
 * PAUSE_SET PAUSE_RESET PAUSE_ACCEPT.  As in JIAJIA every host runs main(),
 * statements come with their semicolon, MAIN_INITENV and MAIN_END do nothing
 * (the program calls jia_init and jia_exit), nor do G_FREE and the PAUSE
 * macros (use jia_setcv and its like); LOCKINIT deals the 1024 locks out in turn, then others,
 * G_MALLOC(bytes) is jia_alloc1 and G2_MALLOC(bytes, block) is jia_alloc2.
 * BARRIER(x, n) and WAIT_FOR_END(n) wait for all hosts, whatever n is.
 * CREATE(f) does nothing, because each host comes to the call of f() that
 * follows; CREATE(f, n) calls f() on the first n hosts.
 * GETSUB(x, y, most, n) gives y the next of 0 to most, or -1 when all have
 * been given out and all n hosts know it; GSINIT is collective, and n is
 * jiahosts.
 *
 * Compiled as C++ the same calls are there.  This header needs no other, not
 * even mpi.h.
 */
#ifndef HEARTH_JIA_H
#define HEARTH_JIA_H

#ifdef __cplusplus
extern "C" {
#endif

#define JIA_API __attribute__((visibility("default")))

extern JIA_API int jia_pid;        /* this host, 0 .. jia_hosts - 1 */
extern JIA_API int jia_hosts;      /* number of hosts */
extern JIA_API int jia_lock_index; /* of LOCKINIT */

#define jiapid   jia_pid
#define jiahosts jia_hosts
#define hostc    jia_hosts /* as JIAJIA itself has it */

/**
 * Start.  Collective: the first call, on every rank of MPI_COMM_WORLD.
 * Initialises MPI, unless the program did, and reads -Q and -S from the
 * arguments of rank 0, which it leaves as they are; NULL will do.  More ranks
 * asked for with -Q than were started end the job.
 */
JIA_API void jia_init(int argc, char **argv);

/**
 * Stop, and return.  Collective.  Shared memory is gone afterwards, and MPI
 * is finalised if jia_init() initialised it.  A program that ends with status
 * 0 without this call makes it as it ends, and then waits for the other hosts
 * for up to 10 minutes.
 */
JIA_API void jia_exit(void);

/** Allocate bytes, all at home on one host: 0 for the first call, 1 for the
 *  second, and so on in turn.  Collective.  0 bytes end the job, as in all
 *  calls of this family. */
JIA_API unsigned long jia_alloc(long size);

/** Allocate bytes at home on host 0.  Collective. */
JIA_API unsigned long jia_alloc1(long size);

/** Allocate bytes in blocks of so many, dealt to the hosts in turn, from host
 *  0 on.  Collective. */
JIA_API unsigned long jia_alloc2(long size, long block);

/** Allocate bytes at home on one host.  Collective. */
JIA_API unsigned long jia_alloc2p(long size, int host);

/** Allocate bytes in blocks of so many, dealt to the hosts in turn, from
 *  starthost on.  Collective.  The last block is whole, as all are. */
JIA_API unsigned long jia_alloc3(long size, long block, int starthost);

/**
 * Allocate bytes in blocks whose size changes from round to round: blocks[0]
 * bytes on each host from starthost to the last one, blocks[1] on each host
 * from 0, blocks[2] likewise, and after blocks[n - 1] from blocks[0] again.
 * Collective.
 */
JIA_API unsigned long jia_alloc4(long size, const int *blocks, int n,
                                 int starthost);

/** Allocate bytes, blocks[0] of them on host 0, blocks[1] on host 1, and so
 *  on, then again from blocks[0], on the next host.  Collective.  n is from 1
 *  to jiahosts. */
JIA_API unsigned long jia_alloc_array(long size, const int *blocks, int n);

/** Allocate bytes, all at home on a host chosen at random, the same in every
 *  run.  Collective. */
JIA_API unsigned long jia_alloc_random(long size);

/**
 * Free an allocation of this family: what the call returned, as a pointer or
 * as a number; 0 is allowed.  Collective, with the same argument on every
 * host, and not inside a critical section.  What was not allocated, or was
 * freed before, ends the job.  As hearth_free(): all hosts have come when it
 * returns, and another allocation may get the memory, zeroed.
 */
JIA_API void jia_free(void *p);

/**
 * Acquire a lock, 0 to 1023.  Local.  Critical sections may be nested to a
 * depth of 8, each lock once.
 */
JIA_API void jia_lock(int lock);

/** Release the lock that was acquired last.  Local. */
JIA_API void jia_unlock(int lock);

/** Wait for all hosts; afterwards all see all writes.  Collective, and not
 *  inside a critical section. */
JIA_API void jia_barrier(void);

/** Wait for all hosts, and make no write visible.  Collective. */
JIA_API void jia_wait(void);

/** Set a condition variable, 0 to 63.  Local.  A release, as
 *  hearth_flag_set(): what was written before is seen after jia_waitcv(). */
JIA_API void jia_setcv(int cv);

/** Put a condition variable back to "not set".  Local. */
JIA_API void jia_resetcv(int cv);

/** Wait until a condition variable is set.  Local.  With one host no other
 *  could set it, and the call returns at once, as in JIAJIA. */
JIA_API void jia_waitcv(int cv);

/**
 * Turn a part of JIAJIA ON or OFF: HMIG (migration of homes), ADWD (adaptive
 * write detection), BROADCAST, LOADBAL (balancing of load) or WVEC (write
 * vectors).  Only LOADBAL does something here, and then all hosts must make
 * the call, before jia_divtask(); another number ends the job.
 */
JIA_API void jia_config(int option, int value);

/** Seconds since jia_init().  Local.  As in JIAJIA 3; the float of JIAJIA 2
 *  and Mocha is what a program makes of it. */
JIA_API double jia_clock(void);

/** Count from 0 again what HEARTH_STATS reports at jia_exit(); this is
 *  hearth_stats_start().  Local.  Returns microseconds since jia_init(),
 *  modulo 2^32. */
JIA_API unsigned int jia_startstat(void);

/** What follows is not reported; this is hearth_stats_stop().  Local.
 *  Returns microseconds, as above. */
JIA_API unsigned int jia_stopstat(void);

/** End the whole job with a line formed as by printf(3).  jia_errexit() is
 *  the same. */
JIA_API void jia_error(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/**
 * Take this host's part of the iterations *begin to *end (inclusive).  Local.
 * Parts are equal, with the rest on the last host; with LOADBAL each is in
 * proportion to the host's power, as jia_loadcheck() has measured it.
 */
JIA_API void jia_divtask(int *begin, int *end);

/** With LOADBAL: measure the time that each host has computed since the last
 *  call, without its waiting, and divide its power by it.  Collective.
 *  Otherwise nothing. */
JIA_API void jia_loadcheck(void);

/** Send bytes to a host, with a tag of at least 0.  Local: the bytes are
 *  copied, so two hosts may send to each other before they receive.  As the
 *  other three a message through MPI, on a communicator of its own, and not
 *  an event of coherence. */
JIA_API void jia_send(const void *buf, int len, int to, int tag);

/** Receive a message of a host and a tag; -1 takes any.  Local.  Bytes beyond
 *  len are dropped.  Returns how many were stored. */
JIA_API int jia_recv(void *buf, int len, int from, int tag);

/** Combine count numbers of every host at host root.  Collective.  The
 *  operation is SUM_, MAX_ or MIN_ with INT, FLOAT or DOUBLE, as in SUM_INT;
 *  recv is only written on root. */
JIA_API void jia_reduce(const void *send, void *recv, int count, int op,
                        int root);

/** Copy bytes of host root to all hosts.  Collective. */
JIA_API void jia_bcast(void *buf, int len, int root);

/** A new counter for GSINIT.  Collective.  There are 64; one more ends the
 *  job. */
JIA_API int jia_gs_new(void);

/** The next subscript for GETSUB, or -1. */
JIA_API int jia_gs_next(int counter, int most, int hosts);

#ifdef __cplusplus
}
#endif

#define jia_errexit jia_error

/* Those of JUMP, which come with their semicolon. */
#define JIA_ERROR(...)          \
    {                           \
        jia_error(__VA_ARGS__); \
    }
#define RASSERT(condition, ...)     \
    {                               \
        if (!(condition))           \
            jia_error(__VA_ARGS__); \
    }

/* jia_alloc() returns a number, which programs keep in a pointer or as it
 * is. */
#define jia_free(p) jia_free((void *)(p))

#ifndef ON
#define OFF 0
#define ON  1
#endif

/* For jia_config(). */
#define HMIG      0
#define ADWD      1
#define BROADCAST 2
#define LOADBAL   3
#define WVEC      4

/* For jia_reduce(). */
#define SUM_INT    0
#define MAX_INT    1
#define MIN_INT    2
#define SUM_FLOAT  10
#define MAX_FLOAT  11
#define MIN_FLOAT  12
#define SUM_DOUBLE 20
#define MAX_DOUBLE 21
#define MIN_DOUBLE 22

/* For jia_recv(). */
#define MSG_PROC_ALL (-1)
#define MSG_TAG_ALL  (-1)

#define jia_wtnt(addr, len)
#define jia_wtntw(addr)
#define jia_wtntd(addr)

/* ANL macros, with the semicolons that programs leave out. */
#define Maxlocks 1024

#define JIA_MORE_LOCKS 0x100000 /* from here on LOCKINIT has as many more */

#define LOCKDEC(x) int x;
#define LOCKINIT(x)                                                \
    (x) = (jia_lock_index++, jia_lock_index <= Maxlocks            \
                                 ? jia_lock_index - 1              \
                                 : JIA_MORE_LOCKS + jia_lock_index);
#define LOCK(x)     jia_lock(x);
#define UNLOCK(x)   jia_unlock(x);
#define QLOCK(x)    jia_lock(x);
#define QUNLOCK(x)  jia_unlock(x);

#define ALOCKDEC(x, n) int x[n];
#define ALOCKINIT(x, n)                                           \
    {                                                             \
        int jia_i_;                                               \
                                                                  \
        for (jia_i_ = 0; jia_i_ < (n); jia_i_++)                  \
            LOCKINIT((x)[jia_i_])                                 \
    }
#define ALOCK(x, i)   jia_lock((x)[i]);
#define AULOCK(x, i)  jia_unlock((x)[i]);
#define AUNLOCK(x, i) jia_unlock((x)[i]);

#define BARDEC(x) int x;
#define BARINIT(...)
#define BARRIER(x, n) jia_barrier();

#define EXTERN_ENV
#define MAIN_ENV
#define MAIN_INITENV(...)
#define MAIN_END

/* CREATE(f) or CREATE(f, n): the number of arguments chooses. */
#define JIA_CREATE_ALL_(f) (void)0;
#define JIA_CREATE_SOME_(f, n) \
    {                          \
        if (jia_pid < (n))     \
            f();               \
    }
#define JIA_CREATE_CHOOSE_(f, n, chosen, ...) chosen
#define CREATE(...)                                                     \
    JIA_CREATE_CHOOSE_(__VA_ARGS__, JIA_CREATE_SOME_, JIA_CREATE_ALL_, 0) \
    (__VA_ARGS__)
#define WAIT_FOR_END(n) jia_barrier();

#define PAUSEDEC(x) int x;
#define PAUSEINIT(x)
#define PAUSE_POLL(x)
#define PAUSE_SET(x, y)
#define PAUSE_RESET(x)
#define PAUSE_ACCEPT(x)

#define GSDEC(x)               int x;
#define GSINIT(x)              (x) = jia_gs_new();
#define GETSUB(x, y, most, n) (y) = jia_gs_next((x), (most), (n));

#define G_MALLOC(bytes)         jia_alloc1((bytes));
#define G2_MALLOC(bytes, block) jia_alloc2((bytes), (block));
#define G_FREE(p)

#define CLOCK(x) (x) = jia_clock();

#endif
