/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "base/mpi_library.h"

#include <stdlib.h>
#include <string.h>

#include "base/mpi_launcher.h"
#include "base/mpi_recipe.h"
#include "harness.h"

/* Beginnings of what they say. */
static const char open_mpi_4[] = "Open MPI v4.1.4, package: Debian OpenMPI",
                  open_mpi_5[] = "Open MPI v5.0.11, package: Open MPI user",
                  mpich_ucx[] = "MPICH Version:\t4.0.2\nMPICH Release date:\t"
                                "Thu Apr  7\nMPICH Device:\tch4:ucx\n",
                  mpich_ofi[] = "MPICH Version:      5.0.2\nMPICH Device:"
                                "       ch4:ofi\n",
                  intel[] = "Intel(R) MPI Library 2021.18.1 for Linux* OS\n",
                  mvapich[] = "MVAPICH Version: 4.0\nMPICH Version: 4.3\n";

static void
is(const char *text, const char *name, int major, int minor)
{
    struct hearthi_mpi_library l = hearthi_mpi_library_parse(text);

    ck_assert_str_eq(l.name, name);
    ck_assert_int_eq(l.major, major);
    ck_assert_int_eq(l.minor, minor);
}

START_TEST(a_library_is_known_by_what_it_says)
{
    is(open_mpi_4, "Open MPI", 4, 1);
    is(open_mpi_5, "Open MPI", 5, 0);
    is(mpich_ucx, "MPICH", 4, 0);
    is(mpich_ofi, "MPICH", 5, 0);
    is(intel, "Intel MPI", 2021, 18);
    is(mvapich, "MVAPICH", 4, 0);
    is("HMPI 1.2", "another MPI", 0, 0);
    is("Open MPI", "Open MPI", 0, 0);
}
END_TEST

static bool
is_older(const char *one, const char *than)
{
    return hearthi_mpi_library_is_older(hearthi_mpi_library_parse(one),
                                        hearthi_mpi_library_parse(than));
}

START_TEST(only_of_the_same_name_one_is_older)
{
    ck_assert(is_older(open_mpi_4, open_mpi_5));
    ck_assert(!is_older(open_mpi_5, open_mpi_4));
    ck_assert(!is_older(open_mpi_4, open_mpi_4));
    ck_assert(is_older("MPICH Version: 4.0", "MPICH Version: 4.2"));
    ck_assert(!is_older(mpich_ucx, open_mpi_5));
    ck_assert(!is_older(mpich_ofi, intel));
    ck_assert(!is_older("Open MPI", open_mpi_5));
}
END_TEST

/* The words, or variables, of that recipe; "" if there is none. */
static const char *
written(const char *library, const char *when, enum hearthi_mpi_form form)
{
    static char                text[1024];
    struct hearthi_mpi_library l = hearthi_mpi_library_parse(library);
    struct hearthi_mpi_recipe  r;

    text[0] = '\0';
    for (int i = 0; hearthi_mpi_recipe(l, i, &r); i++)
        if (strcmp(r.when, when) == 0)
            hearthi_mpi_settings(text, sizeof text, l, r.settings, form);
    return text;
}

START_TEST(settings_are_words_or_variables)
{
    ck_assert_str_eq(written(open_mpi_4, "UCX over TCP", HEARTHI_MPI_WORDS),
                     "--mca pml ucx --mca osc ucx,sm --mca pml_ucx_tls any "
                     "--mca pml_ucx_devices any -x UCX_TLS=tcp,self");
    ck_assert_str_eq(
        written(open_mpi_5, "UCX over TCP", HEARTHI_MPI_VARIABLES),
        "OMPI_MCA_pml=ucx OMPI_MCA_osc=ucx,sm "
        "OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any "
        "UCX_TLS=tcp,self");
    ck_assert_str_eq(written(mpich_ucx, "UCX over TCP", HEARTHI_MPI_WORDS),
                     "-genv UCX_TLS tcp,self");
    ck_assert_str_eq(
        written(intel, "libfabric over TCP", HEARTHI_MPI_VARIABLES),
        "I_MPI_FABRICS=ofi FI_PROVIDER=tcp");
}
END_TEST

static const char *
level_of(const char *library, const char *when)
{
    struct hearthi_mpi_library l = hearthi_mpi_library_parse(library);
    struct hearthi_mpi_recipe  r;

    for (int i = 0; hearthi_mpi_recipe(l, i, &r); i++)
        if (strcmp(r.when, when) == 0)
            return r.level;
    return "";
}

/* osc/pt2pt is gone from Open MPI 5, whose osc/ucx is for one thread, and
 * UCX_TLS is nothing to libfabric. */
START_TEST(each_library_has_its_own_recipes)
{
    const char *plain = "point-to-point windows";

    ck_assert_str_ne(written(open_mpi_4, plain, HEARTHI_MPI_WORDS), "");
    ck_assert_str_eq(written(open_mpi_5, plain, HEARTHI_MPI_WORDS), "");
    ck_assert_str_eq(level_of(open_mpi_4, "UCX over TCP"), "multiple");
    ck_assert_str_eq(level_of(open_mpi_5, "UCX over TCP"), "serialized");
    ck_assert_str_eq(written(mpich_ofi, "UCX over TCP", HEARTHI_MPI_WORDS),
                     "");
    ck_assert_str_eq(written(mvapich, "UCX over TCP", HEARTHI_MPI_WORDS), "");
}
END_TEST

static void
launcher_is(enum hearthi_mpi_kind kind, const char *count, int others)
{
    const struct hearthi_mpi_launcher *l = hearthi_mpi_launcher_find(kind);

    if (count == NULL)
        ck_assert_ptr_null(l);
    else
        ck_assert_str_eq(l->count, count);
    ck_assert_int_eq(hearthi_mpi_launcher_others(l), others);
}

START_TEST(of_several_launchers_this_mpis_own_counts)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                         "SLURM_STEP_NUM_TASKS" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    setenv("SLURM_NTASKS", "4", 1);
    launcher_is(HEARTHI_MPI_OPEN, NULL, 0);
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    launcher_is(HEARTHI_MPI_OPEN, "SLURM_STEP_NUM_TASKS", 4);
    setenv("PMI_SIZE", "1", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    launcher_is(HEARTHI_MPI_OPEN, "OMPI_COMM_WORLD_SIZE", 2);
    launcher_is(HEARTHI_MPI_INTEL, "PMI_SIZE", 0);
    launcher_is(HEARTHI_MPI_OTHER, "OMPI_COMM_WORLD_SIZE", 2);
}
END_TEST

START_TEST(srun_takes_no_words_of_an_mpi)
{
    ck_assert(hearthi_mpi_launcher_takes_words("/opt/x/bin/mpiexec.hydra"));
    ck_assert(hearthi_mpi_launcher_takes_words("mpirun --bind-to none"));
    ck_assert(!hearthi_mpi_launcher_takes_words("/usr/bin/srun --mpi=pmix"));
    ck_assert(!hearthi_mpi_launcher_takes_words("srun /bin/mpirun"));
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("mpi_library");
    TCase *tc = tcase_create("mpi_library");

    tcase_add_test(tc, a_library_is_known_by_what_it_says);
    tcase_add_test(tc, only_of_the_same_name_one_is_older);
    tcase_add_test(tc, settings_are_words_or_variables);
    tcase_add_test(tc, each_library_has_its_own_recipes);
    tcase_add_test(tc, of_several_launchers_this_mpis_own_counts);
    tcase_add_test(tc, srun_takes_no_words_of_an_mpi);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
