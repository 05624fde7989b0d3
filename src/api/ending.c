/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An MPI_Finalize that cannot wait for ever.
 *
 * MPI_Finalize of MPICH 4.0 over UCX closes a rank's connections, each of
 * which may need an answer of the rank at its other end, and then waits in the
 * barrier of the process manager, by read(2), where this rank gives no
 * answers: one that closes later than the others waits for ever, and so do
 * they.  Hearth stands in front of read(2): the wait for that barrier drives
 * progress until its answer is there.
 *
 * It is the first answer that MPI_Finalize reads from the process manager.
 * The one after it comes when UCX is gone, so only the first is waited for
 * here.  The thread that waits is the one that is inside MPI_Finalize, so
 * nothing is closed meanwhile.
 */
#include "config.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/direct.h"
#include "front/session.h"
#include "front/system.h"
#include "init.h"

enum { NAP_MS = 1 };

static hearthi_read *kernel_read;
static int           manager = -1; /* the file that leads there */

static int
query(void *unused, MPI_Status *status)
{
    (void)unused;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int
release(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int
cancel(void *unused, int complete)
{
    (void)unused, (void)complete;
    return MPI_SUCCESS;
}

/* A test of a request drives progress.  This one needs no communicator: those
 * are gone. */
static void
answers_give(struct pollfd *p)
{
    MPI_Request request;
    int         done;

    if (MPI_Grequest_start(query, release, cancel, NULL, &request) !=
        MPI_SUCCESS)
        return;
    do
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (poll(p, 1, NAP_MS) == 0);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static ssize_t
manager_read(int fd, void *p, size_t n)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };

    if (fd == manager) {
        hearthi_system_read_by(kernel_read);
        if (poll(&wait, 1, 0) == 0)
            answers_give(&wait);
    }
    return kernel_read(fd, p, n);
}

/* Where there are sessions besides MPI_COMM_WORLD it begins twice. */
void
hearthi_ending_begins(void)
{
    if (manager >= 0 && kernel_read == NULL)
        kernel_read = hearthi_system_read_by(manager_read);
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the oldest one
 * last. */
static int
finalize_begins(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    hearthi_ending_begins();
    return MPI_SUCCESS;
}

static bool
may_hang(void)
{
    char text[HEARTHI_MPI_TEXT];
    int  length, major = 0, minor = 0;

    MPI_Get_library_version(text, &length);
    return sscanf(text, "MPICH Version: %d.%d", &major, &minor) == 2 &&
           major == 4 && minor == 0 && strstr(text, "ch4:ucx") != NULL;
}

void
hearthi_ending_watch(void)
{
    static bool watched;
    const char *fd = getenv("PMI_FD");
    int         key;

    if (watched || fd == NULL || !may_hang())
        return;
    watched = true;
    manager = (int)strtol(fd, NULL, 10);
    if (!hearthi_mpi_has_world())
        return;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_begins, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}
