/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mpi_next.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/dlsym_next.h"
#include "base/option.h"
#include "base/report.h"
#include "page/fault.h"
#include "world.h"

#define NAME(name) #name,
static const char *const names[] = { HEARTHI_MPI_CALLS(NAME) };
#undef NAME

enum { CALLS = sizeof names / sizeof *names, NAME_MAX_BYTES = 64 };

_Static_assert(sizeof(struct hearthi_mpi_calls) == CALLS * sizeof(void *),
               "a pointer for each name");

struct hearthi_mpi_calls hearthi_next_mpi, hearthi_next_pmpi, hearthi_direct;

static void
call_set(struct hearthi_mpi_calls *calls, int i, void *function)
{
    memcpy((char *)calls + (size_t)i * sizeof function, &function,
           sizeof function);
}

/* The MPI library itself, for a libhearth that was loaded by dlopen() with
 * names of its own: what comes next is then looked for elsewhere. */
static void *
library(void)
{
    static void *handle;
    Dl_info      info;
    double (*known)(void) = MPI_Wtime; /* nothing of ours is in front of it */
    void *at;

    memcpy(&at, &known, sizeof at);
    if (handle == NULL && dladdr(at, &info) != 0)
        handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return handle;
}

static void *
next_of(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL && library() != NULL)
        found = dlsym(library(), name);
    return found;
}

void
hearthi_front_find(void)
{
    for (int i = 0; i < CALLS; i++) {
        char  name[NAME_MAX_BYTES];
        void *first, *next;

        snprintf(name, sizeof name, "PMPI_%s", names[i]);
        call_set(&hearthi_next_pmpi, i, next_of(name));
        next = next_of(name + 1);
        call_set(&hearthi_next_mpi, i, next);
        first = dlsym(RTLD_DEFAULT, name + 1);
        if (first == NULL || first == hearthi_front_ours[i])
            first = next;
        call_set(&hearthi_direct, i, first);
    }
}

void
hearthi_front_need(const char *call, const void *place)
{
    void *found;

    hearthi_front_find();
    memcpy(&found, place, sizeof found);
    if (found == NULL)
        hearthi_fatal(call,
                      "the MPI library that was loaded has no such call, "
                      "but the one that libhearth was built with has: "
                      "start the program with that one");
}

bool
hearthi_front_is_behind(void)
{
    void *first = dlsym(RTLD_DEFAULT, "PMPI_Send");

    return first != NULL && first != hearthi_front_send;
}

/* Nothing here stands in front of calls that mpi.h did not declare. */
static void
newer_mpi_check(void)
{
#if !HAVE_DECL_MPI_TYPE_GET_CONTENTS_C
    if (dlsym(RTLD_DEFAULT, "MPI_Send_c") != NULL)
        hearthi_warn("hearth_init",
                     "the MPI library has calls with large counts (MPI_Send_c "
                     "and the like), the one that libhearth was built with "
                     "had none: they must not be given addresses of the heap "
                     "that are not held; build libhearth with the newer one");
#endif
}

/* While a library is loaded no thread calls yet, and no fault is being served.
 */
static __attribute__((constructor)) void
loaded(void)
{
    hearthi_front_find();
}

/* Rank 0 says it for all: libhearth that was linked behind others, or loaded
 * late, by an interpreter, stands behind their names. */
void
hearthi_front_check(void)
{
    static const char *const libraries[] = { "the C library",
                                             "the MPI library",
                                             "the MPI and the C library" };
    static const char *const calls[] = {
        "read, write, sigaction and the like", "MPI",
        "MPI, read, write, sigaction and the like"
    };
    bool mpi = hearthi_front_is_behind();
    bool system = hearthi_signal_passed();
    int  which = mpi + (mpi && system);

    if (!hearthi_opt.interpose || hearthi_world.rank != 0)
        return;
    newer_mpi_check();
    if (!mpi && !system)
        return;
    hearthi_warn("hearth_init",
                 "libhearth stands behind %s, so the program's calls of %s do "
                 "not come through it: they must not be given addresses of "
                 "the heap that are not held; link with -lhearth in front of "
                 "%s, or start with LD_PRELOAD=%s (HEARTH_INTERPOSE=no: no "
                 "such warning)",
                 libraries[which], calls[which], !system ? "it" : "-lc",
                 hearthi_library_path());
}
