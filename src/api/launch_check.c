/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Is the start right?  The communicator, the launcher, and whether this is the
 * library that the program was compiled for.  Where it is not, no call of MPI
 * is safe any more, not even MPI_Abort(): handles have other types, and calls
 * of one MPI library may reach the other.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dlsym_next.h"
#include "base/mpi_launcher.h"
#include "base/option.h"
#include "base/report.h"
#include "collective.h"
#include "front/direct.h"
#include "front/session.h"
#include "hearth/hearth.h"
#include "init.h"

/* Every rank finds the same.  MPI cannot be asked for its number. */
static void
others_silence(const struct hearthi_mpi_launcher *l)
{
    if (!hearthi_mpi_launcher_is_first(l)) {
        sleep(1);
        _exit(HEARTHI_EXIT);
    }
}

void
hearthi_launcher_check(void)
{
    const struct hearthi_mpi_launcher *l =
        hearthi_mpi_launcher_find(hearthi_mpi_library_loaded().kind);
    int count = hearthi_mpi_launcher_others(l);

    if (hearthi_job_size() != 1 || count == 0)
        return;
    others_silence(l);
    hearthi_fatal("hearth_init",
                  "the launcher started %d processes (%s), but each is alone "
                  "in its MPI job: %s; if each is to run alone, unset %s",
                  count, l->count, hearthi_mpi_launcher_remedy(l), l->count);
}

void
hearthi_intercommunicator_check(MPI_Comm comm)
{
    int two_groups;

    MPI_Comm_test_inter(comm, &two_groups);
    if (two_groups)
        hearthi_fatal("hearth_init",
                      "the communicator is an intercommunicator, of two "
                      "groups: make one of both by MPI_Intercomm_merge");
}

/* ---- of all ranks ---- */

char hearthi_kind[HEARTHI_KIND];

static void
kind_write(void)
{
    const uint16_t one = 1;
    unsigned char  low;

    memcpy(&low, &one, 1);
    if (hearthi_kind[0] == '\0')
        snprintf(hearthi_kind, sizeof hearthi_kind,
                 "Hearth %s, %s-endian, options of %zu bytes", HEARTH_VERSION,
                 low == 1 ? "little" : "big", sizeof hearthi_opt);
}

/* Ranks read each other's words and structs as they lie in memory.  Machines
 * may differ in all else, their pages too; the text is the same on each. */
void
hearthi_kind_check(MPI_Comm comm)
{
    char first[HEARTHI_KIND];

    kind_write();
    memcpy(first, hearthi_kind, sizeof first);
    hearthi_collective_bcast(first, sizeof first, 0, comm);
    if (strcmp(first, hearthi_kind) != 0)
        hearthi_fatal("hearth_init",
                      "this rank has %s, and rank 0 has %s: start all ranks "
                      "on machines of one byte order, with the same libhearth",
                      hearthi_kind, first);
}

/* ---- program and library ---- */

static const char *const names[] = { "another MPI", "Open MPI", "MPICH",
                                     "the ABI of MPI 5.0" };

void
hearth_compiled(int mpi, size_t stats)
{
    bool other = mpi != HEARTH_COMPILED_MPI && mpi > 0 && mpi <= 3 &&
                 HEARTH_COMPILED_MPI > 0;
    enum hearthi_mpi_kind own =
        mpi == HEARTH_COMPILED_MPICH ? HEARTHI_MPI_MPICH : HEARTHI_MPI_OPEN;

    if (!other && stats <= sizeof(hearth_stats))
        return;
    others_silence(hearthi_mpi_launcher_find(own));
    hearthi_abort_hook = NULL;
    if (other)
        hearthi_fatal("hearth_init",
                      "this libhearth (%s) was built with %s, the program "
                      "with %s: link and start it with a libhearth that was "
                      "built with %s, or build it with the mpicc of %s",
                      hearthi_library_path(), names[HEARTH_COMPILED_MPI],
                      names[mpi], names[mpi], names[HEARTH_COMPILED_MPI]);
    hearthi_fatal("hearth_init",
                  "this libhearth (%s) has hearth_stats of %zu bytes, the "
                  "hearth.h that the program was compiled with %zu: the "
                  "header is of a later version: start the program with the "
                  "library of its header, or a later one (LD_LIBRARY_PATH), "
                  "or compile it anew with the header that was installed "
                  "with this library",
                  hearthi_library_path(), sizeof(hearth_stats), stats);
}

/* Of which MPI an integer is that names a communicator; or what this library
 * was built with, where it may be of that one.  MPICH has the kind of an
 * object in four of its bits; Open MPI counts from 0 on. */
static int
integer_of(int comm)
{
    enum { KIND = 26, KINDS = 15, COMM = 1, MANY = 1 << 24 };
    bool is_mpich = ((unsigned)comm >> KIND & KINDS) == COMM;

    if (HEARTH_COMPILED_MPI == HEARTH_COMPILED_OPEN_MPI && is_mpich)
        return HEARTH_COMPILED_MPICH;
    if (HEARTH_COMPILED_MPI == HEARTH_COMPILED_MPICH && comm >= 0 &&
        comm < MANY)
        return HEARTH_COMPILED_OPEN_MPI;
    return HEARTH_COMPILED_MPI;
}

void
hearthi_integer_check(int comm)
{
    hearth_compiled(integer_of(comm), 0);
}

/* The library that has MPI's ABI says its own name. */
static bool
is_abi(void)
{
    int major = -1, minor = -1;
    int (*get)(int *, int *);
    void *found = dlsym(RTLD_DEFAULT, "MPI_Abi_get_version");

    memcpy(&get, &found, sizeof found);
    return get != NULL && get(&major, &minor) == MPI_SUCCESS && major > 0;
}

static int
loaded_mpi(void)
{
    switch (is_abi() ? HEARTHI_MPI_OTHER : hearthi_mpi_library_loaded().kind) {
    case HEARTHI_MPI_OPEN: return HEARTH_COMPILED_OPEN_MPI;
    case HEARTHI_MPI_MPICH:
    case HEARTHI_MPI_INTEL:
    case HEARTHI_MPI_MVAPICH: return HEARTH_COMPILED_MPICH;
    default: return is_abi() ? HEARTH_COMPILED_ABI : HEARTH_COMPILED_OTHER;
    }
}

void
hearthi_loaded_check(const char *call)
{
    int  mpi = loaded_mpi(), major, minor;
    bool is_old;

    MPI_Get_version(&major, &minor);
    is_old = major * 100 + minor < 301;
    if (!is_old &&
        (mpi == 0 || HEARTH_COMPILED_MPI == 0 || mpi == HEARTH_COMPILED_MPI))
        return;
    others_silence(hearthi_mpi_launcher_find(hearthi_mpi_library_loaded().kind));
    hearthi_abort_hook = NULL;
    if (is_old)
        hearthi_fatal(call,
                      "the MPI library of the program is of MPI %d.%d: Hearth "
                      "needs MPI 3.1 or later",
                      major, minor);
    hearthi_fatal(call,
                  "this libhearth (%s) was built with %s, but the MPI library "
                  "of the program is %s: link and start it with a libhearth "
                  "that was built with %s",
                  hearthi_library_path(), names[HEARTH_COMPILED_MPI],
                  names[mpi], names[mpi]);
}

/* A newer library of the same name has the same ABI; an older one may lack
 * what this was built for. */
void
hearthi_version_check(void)
{
    struct hearthi_mpi_library built =
        hearthi_mpi_library_parse(HEARTHI_MPI_BUILT);
    struct hearthi_mpi_library loaded = hearthi_mpi_library_loaded();

    if (hearthi_report_rank == 0 &&
        hearthi_mpi_library_is_older(loaded, built))
        hearthi_warn("hearth_init",
                     "this libhearth (%s) was built with %s %d.%d, and runs "
                     "with %s %d.%d: start the program with the newer one "
                     "(LD_LIBRARY_PATH), or build Hearth with the older",
                     hearthi_library_path(), built.name, built.major,
                     built.minor, loaded.name, loaded.major, loaded.minor);
}
