/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "session.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/mpi_call.h"
#include "front/direct.h"

void (*hearthi_sessions_end_hook)(void);

struct hearthi_mpi_library
hearthi_mpi_library_loaded(void)
{
    char text[HEARTHI_MPI_TEXT];
    int  length;

    MPI_Get_library_version(text, &length);
    return hearthi_mpi_library_parse(text);
}

void
hearthi_mpi_library_line(char line[HEARTHI_MPI_TEXT])
{
    int length;

    MPI_Get_library_version(line, &length);
    line[strcspn(line, "\n")] = '\0';
    for (char *tab; (tab = strchr(line, '\t')) != NULL;)
        *tab = ' ';
}

bool
hearthi_mpi_has_world(void)
{
    int up = 0, down = 0;

    MPI_Initialized(&up);
    MPI_Finalized(&down);
    return up && !down;
}

#if HAVE_DECL_MPI_SESSION_INIT

static atomic_int sessions; /* that the program has open */

bool
hearthi_sessions_are_open(void)
{
    return sessions > 0;
}

/* Of all processes that MPI_COMM_WORLD would have. */
static int
world_group_size(void)
{
    MPI_Session session;
    MPI_Group   all;
    int         size = 0;

    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) !=
        MPI_SUCCESS)
        return 0;
    if (MPI_Group_from_session_pset(session, "mpi://WORLD", &all) ==
        MPI_SUCCESS) {
        MPI_Group_size(all, &size);
        MPI_Group_free(&all);
    }
    MPI_Session_finalize(&session);
    return size;
}

int
hearthi_session_init(int (*next)(MPI_Info, MPI_Errhandler, MPI_Session *),
                     MPI_Info info, MPI_Errhandler handler,
                     MPI_Session *session)
{
    const char *outer = hearthi_mpi_call_enter("MPI_Session_init");
    int         code = next(info, handler, session);

    hearthi_mpi_call_leave(outer);
    if (code == MPI_SUCCESS)
        sessions++;
    return code;
}

int
hearthi_session_finalize(int (*next)(MPI_Session *), MPI_Session *session)
{
    const char *outer;
    int         code;

    if (--sessions == 0 && hearthi_sessions_end_hook != NULL &&
        !hearthi_mpi_has_world())
        hearthi_sessions_end_hook();
    outer = hearthi_mpi_call_enter("MPI_Session_finalize");
    code = next(session);
    hearthi_mpi_call_leave(outer);
    return code;
}

#else

bool
hearthi_sessions_are_open(void)
{
    return false;
}

static int
world_group_size(void)
{
    return 0;
}

#endif

int
hearthi_job_size(void)
{
    static int size;

    if (hearthi_mpi_has_world())
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    else if (size == 0)
        size = world_group_size();
    return size;
}
