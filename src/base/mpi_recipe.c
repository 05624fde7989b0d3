/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mpi_recipe.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define UCX_ANY "pml=ucx osc=ucx,sm pml_ucx_tls=any pml_ucx_devices=any"

/* Open MPI looks for a module for each window by itself, and the one for the
 * memory that ranks of a host share is "sm": a list that does not name it
 * leaves MPI_Win_allocate_shared() without any.
 *
 * Of 5.0 osc/ucx lets a second thread into a worker of UCX's that is for one:
 * Debian's UCX ends the job by an assertion.  By default 5.0 takes osc/rdma,
 * between machines on Ethernet, too, with MPI_THREAD_MULTIPLE. */
static const struct {
    enum hearthi_mpi_kind kind;
    bool                  is_ofi;
    int                   from, before; /* major versions; 0: any */
    const char           *when, *settings, *level, *result;
} recipes[] = {
    { HEARTHI_MPI_OPEN, false, 0, 5, "UCX, whatever it finds", UCX_ANY,
      "multiple", "fast fabrics; on one machine, shared memory" },
    { HEARTHI_MPI_OPEN, false, 0, 5, "UCX over TCP",
      UCX_ANY " UCX_TLS=tcp,self", "multiple",
      "several machines on Ethernet" },
    { HEARTHI_MPI_OPEN, false, 5, 0, "UCX, whatever it finds", UCX_ANY,
      "serialized", "fast fabrics; no helper thread, one thread a rank" },
    { HEARTHI_MPI_OPEN, false, 5, 0, "UCX over TCP",
      UCX_ANY " UCX_TLS=tcp,self", "serialized",
      "to measure TCP; no helper thread, one thread a rank" },
    { HEARTHI_MPI_OPEN, false, 0, 5, "point-to-point windows",
      "pml=ob1 osc=pt2pt,sm", "serialized",
      "Ethernet without UCX; no helper thread, one thread a rank" },
    { HEARTHI_MPI_MPICH, false, 0, 0, "UCX over TCP", "UCX_TLS=tcp,self",
      "multiple", "to measure TCP" },
    { HEARTHI_MPI_MPICH, true, 0, 0, "libfabric over TCP", "FI_PROVIDER=tcp",
      "multiple", "to measure TCP" },
    { HEARTHI_MPI_INTEL, true, 0, 0, "libfabric over TCP",
      "I_MPI_FABRICS=ofi FI_PROVIDER=tcp", "multiple", "to measure TCP" },
};

/* Is row k for that library? */
static bool
recipe_fits(size_t k, struct hearthi_mpi_library library)
{
    return recipes[k].kind == library.kind &&
           recipes[k].is_ofi == library.is_ofi &&
           library.major >= recipes[k].from &&
           (recipes[k].before == 0 || library.major < recipes[k].before);
}

bool
hearthi_mpi_recipe(struct hearthi_mpi_library library, int i,
                   struct hearthi_mpi_recipe *recipe)
{
    *recipe = (struct hearthi_mpi_recipe){ "as it is", "", "multiple", "" };
    for (size_t k = 0; i > 0 && k < sizeof recipes / sizeof *recipes; k++) {
        if (recipe_fits(k, library) && --i == 0)
            *recipe = (struct hearthi_mpi_recipe){ recipes[k].when,
                                                   recipes[k].settings,
                                                   recipes[k].level,
                                                   recipes[k].result };
    }
    return i == 0;
}

/* How a setting is written: what stands before its name, between that and its
 * value, and whether that is the library's own parameter. */
static void
setting_add(char *text, size_t size, struct hearthi_mpi_library library,
            const char *setting, int length, enum hearthi_mpi_form form)
{
    bool        is_own = islower((unsigned char)setting[0]);
    int         name = (int)strcspn(setting, "=");
    const char *before = is_own ? "OMPI_MCA_" : "", *equals = "=";
    size_t      used = strlen(text);

    if (form == HEARTHI_MPI_WORDS) {
        bool is_open = library.kind == HEARTHI_MPI_OPEN;

        before = is_own ? "--mca " : is_open ? "-x " : "-genv ";
        equals = is_own || !is_open ? " " : "=";
    }
    snprintf(text + used, size - used, "%s%s%.*s%s%.*s", used > 0 ? " " : "",
             before, name, setting, equals, length - name - 1,
             setting + name + 1);
}

void
hearthi_mpi_settings(char *text, size_t size,
                     struct hearthi_mpi_library library, const char *settings,
                     enum hearthi_mpi_form form)
{
    text[0] = '\0';
    while (*settings != '\0') {
        int length = (int)strcspn(settings, " ");

        setting_add(text, size, library, settings, length, form);
        settings += length;
        settings += strspn(settings, " ");
    }
}
