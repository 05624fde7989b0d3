/* SPDX-License-Identifier: BSD-2-Clause
 *
 * May a rank read the memory of another?  Open MPI up to 4.1 does RMA between
 * ranks of one machine by process_vm_readv() and process_vm_writev().  Where
 * these are denied, as in containers, it tries each operation again for ever
 * and says so each time ("Read -1, expected 4096, errno = 1", gigabytes of
 * them; 4.1.4).  Messages and collectives go another way then, so it does no
 * harm where all ranks are one node.
 *
 * One call of the kind before the first window says it.  With the value
 * `emulated' of the variable below RMA goes by messages and works; with `none'
 * no window can be made.  MPICH 4.0.2 and Open MPI 5.0.11, which has not the
 * variable, do without by themselves.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "mpi_fabric.h"

#ifdef OPEN_MPI

#define VARIABLE "btl_vader_single_copy_mechanism"

enum { CMA = 1, TAG = 31003, TEXT = 1024 };

/* Into `value`, of so many elements at most; false if there is no such.  Takes
 * 0.2 s, since each module is loaded that has any. */
static bool
variable_read(const char *name, void *value, int most)
{
    MPI_T_cvar_handle handle;
    int               index, count, level = MPI_THREAD_MULTIPLE;
    bool              known = false;

    if (MPI_T_init_thread(level, &level) != MPI_SUCCESS)
        return false;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        known = count <= most && MPI_T_cvar_read(handle, value) == MPI_SUCCESS;
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return known;
}

/* The component for RMA that does it, which all but UCX's come down to on one
 * machine, may be ruled out. */
static bool
rma_copies(void)
{
    char wanted[TEXT] = "";
    int  mechanism = 0;

    if (!variable_read(VARIABLE, &mechanism, 1) || mechanism != CMA)
        return false;
    if (!variable_read("osc", wanted, TEXT) || wanted[0] == '\0')
        return true;
    return (strstr(wanted, "rdma") != NULL) == (wanted[0] != '^');
}

struct place {
    long  process;
    void *at;
};

static bool
may_read(struct place p)
{
    char         byte;
    struct iovec here = { &byte, 1 }, there = { p.at, 1 };

    return process_vm_readv((pid_t)p.process, &here, 1, &there, 1, 0) == 1;
}

/* Two of them stand for all. */
void
hearthi_mpi_peek(void)
{
    static char  byte;
    struct place p = { getpid(), &byte };
    int          error;

    if (!hearthi_one_machine() || hearthi_cluster.rank > 1)
        return;
    if (hearthi_cluster.rank == 1) {
        HEARTHI_MPI(
            MPI_Send(&p, sizeof p, MPI_BYTE, 0, TAG, hearthi_cluster.comm));
        return;
    }
    HEARTHI_MPI(MPI_Recv(&p, sizeof p, MPI_BYTE, 1, TAG, hearthi_cluster.comm,
                         MPI_STATUS_IGNORE));
    error = may_read(p) ? 0 : errno;
    if (error != 0 && rma_copies())
        hearthi_fatal("hearth_init",
                      "process_vm_readv is denied here (%s), by which this "
                      "Open MPI reads the memory of ranks, and it would try "
                      "for ever: pass '--mca " VARIABLE " emulated' to "
                      "mpirun, or allow that call (a container: "
                      "--cap-add=SYS_PTRACE)",
                      strerror(error));
}

#else

void
hearthi_mpi_peek(void)
{
}

#endif
