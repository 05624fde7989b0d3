/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hearth on a communicator of a session: each rank sends from the heap, at
 * home on its right neighbour, and receives into it.
 *
 *   session alone     MPI_Init is never called
 *   session beside    MPI_Init is called behind MPI_Session_init
 *   session half      the half of the ranks, without MPI_Init
 *   session early     MPI_Session_finalize is called before hearth_finalize
 *   session version   which MPI this is
 */
#include <stdio.h>
#include <string.h>

#include <hearth/hearth.h>

enum { N = 20000 };

static MPI_Comm
comm_make(MPI_Session session, int half)
{
    MPI_Group all, some;
    MPI_Comm  comm;
    int       size, rank, range[1][3] = { { 0, 0, 1 } };

    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_size(all, &size);
    MPI_Group_rank(all, &rank);
    if (half) {
        range[0][0] = rank / ((size + 1) / 2) * ((size + 1) / 2);
        range[0][1] = range[0][0] + (size + 1) / 2 - 1;
        if (range[0][1] >= size)
            range[0][1] = size - 1;
    } else {
        range[0][1] = size - 1;
    }
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Comm_create_from_group(some, range[0][0] == 0 ? "low" : "high",
                               MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return comm;
}

static int
exchange(MPI_Comm comm)
{
    int     me = hearth_rank(), ranks = hearth_size(), wrong = 0;
    int     right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    double *a = hearth_alloc((size_t)ranks * 2 * N, sizeof *a, hearth_block());
    double *out = a + (size_t)right * 2 * N, *in = out + N;

    for (int i = 0; i < N; i++)
        a[(size_t)me * 2 * N + (size_t)i] = me * N + i;
    hearth_barrier();
    MPI_Sendrecv(out, N, MPI_DOUBLE, right, 0, in, N, MPI_DOUBLE, left, 0,
                 comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        wrong += in[i] != me * N + i;
    hearth_barrier();
    hearth_free(a);
    return wrong;
}

int
main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "alone";
    int         beside = strcmp(how, "beside") == 0, wrong, level, rank;
    MPI_Info    info;
    MPI_Session session;
    MPI_Comm    comm;

    if (strcmp(how, "version") == 0) {
        char text[8192]; /* MPICH's length: Open MPI's constant is smaller */

        MPI_Get_library_version(text, &level);
        if (sscanf(text, "MPICH Version: %d", &level) == 1)
            printf("MPICH %d.\n", level);
        return 0;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    if (beside)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    comm = comm_make(session, strcmp(how, "half") == 0);
    hearth_init(comm);
    wrong = exchange(comm);
    if (strcmp(how, "early") == 0)
        MPI_Session_finalize(&session);
    hearth_finalize();
    hearth_init(comm); /* and once more */
    wrong += exchange(comm);
    rank = hearth_rank();
    hearth_finalize();
    MPI_Comm_free(&comm);
    if (beside)
        MPI_Finalize();
    MPI_Session_finalize(&session);
    printf("exchange: rank %d: %s\n", rank, wrong == 0 ? "right" : "wrong");
    return wrong != 0;
}
