/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What to pass to the launcher, and the means to try it: each recipe is run
 * on two ranks with hearth-info's own probe.
 */
#include "config.h"

#include "info.h"

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mpi_launcher.h"
#include "base/mpi_recipe.h"

enum { MAX_WORDS = 64, TRY_SECONDS = 60 };

/* Settings that only let a run start, or keep it from crawling: a user never
 * wants the refusal back, so they are set for the trial too. */
static void
environment_set(int ranks)
{
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    if (ranks > hearthi_machine_cores_alone()) {
        setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
        setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 1);
        setenv("MPIR_CVAR_POLLS_BEFORE_YIELD", "10", 1);
    }
}

static void
environment_print(enum hearthi_mpi_kind kind, int ranks)
{
    const char *here =
        ranks > hearthi_machine_cores_alone() ? " (so it is here)" : "";

    if (kind == HEARTHI_MPI_OPEN && geteuid() == 0)
        printf("  as root (so it is here)\n      OMPI_ALLOW_RUN_AS_ROOT=1 "
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, in the environment\n");
    if (kind == HEARTHI_MPI_OPEN)
        printf("  more ranks than cores%s\n"
               "      --oversubscribe; srun: --overcommit\n"
               "  several test hosts on one machine\n"
               "      --bind-to none, or their first ranks share a core\n",
               here);
    if (kind == HEARTHI_MPI_MPICH)
        printf("  more ranks than cores%s\n"
               "      MPIR_CVAR_POLLS_BEFORE_YIELD=10, in the environment\n",
               here);
}

void
info_recipes_print(int ranks, const struct info_probe *p)
{
    struct hearthi_mpi_library library = info_library();
    struct hearthi_mpi_recipe  r;
    char                       text[1024];

    printf("\nWhat to pass to the launcher (%s), or to set for one that knows "
           "no such words, as srun\n",
           HEARTH_MPIEXEC);
    environment_print(library.kind, ranks);
    for (int i = 1; hearthi_mpi_recipe(library, i, &r); i++) {
        printf("  %s: %s\n", r.when, r.result);
        hearthi_mpi_settings(text, sizeof text, library, r.settings,
                             HEARTHI_MPI_WORDS);
        printf("      %s\n", text);
        hearthi_mpi_settings(text, sizeof text, library, r.settings,
                             HEARTHI_MPI_VARIABLES);
        printf("      %s, in the environment\n", text);
    }
    if (p != NULL)
        printf("  The probe above tried the way this was started: it %s.\n",
               p->works ? "works" : "fails");
    printf("  The others were not tried; hearth-info --try tries each.\n");
}

/* The launcher of a trial. */
static const char *
launcher_name(void)
{
    const char *other = getenv("MPIEXEC");

    return other != NULL && other[0] != '\0' ? other : HEARTH_MPIEXEC;
}

/* Split text at blanks into words, after those that are there. */
static int
words_add(char **word, int n, char *text)
{
    for (char *w = strtok(text, " "); w != NULL && n < MAX_WORDS - 1;
         w = strtok(NULL, " "))
        word[n++] = w;
    return n;
}

/* Words for the launcher are put into text, and stay there; variables into the
 * environment. */
static int
settings_add(char **word, int n, char *text, size_t size,
             const struct hearthi_mpi_recipe *r)
{
    bool words = hearthi_mpi_launcher_takes_words(launcher_name());

    hearthi_mpi_settings(text, size, info_library(), r->settings,
                         words ? HEARTHI_MPI_WORDS : HEARTHI_MPI_VARIABLES);
    if (words)
        return words_add(word, n, text);
    for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " "))
        putenv(w);
    return n;
}

/* In the child: become the launcher. */
static void
launcher_become(const struct hearthi_mpi_recipe *r, const char *self,
                char **more)
{
    static char flag[] = "-n", two[] = "2", text[1024];
    static char probe[] = "--probe", threads[] = "--threads";
    char       *word[MAX_WORDS];
    int         n = words_add(word, 0, strdup(launcher_name()));

    word[n++] = flag;
    word[n++] = two;
    n = settings_add(word, n, text, sizeof text, r);
    while (*more != NULL && n < MAX_WORDS - 5)
        word[n++] = *more++;
    word[n++] = strdup(self);
    word[n++] = probe;
    word[n++] = threads;
    word[n++] = strdup(r->level);
    word[n] = NULL;
    environment_set(2);
    execvp(word[0], word);
    perror(word[0]);
    _exit(127);
}

/* A trial that hangs is a finding too: the child's group ends with it. */
static pid_t trial;

static void
trial_end(int sig)
{
    (void)sig;
    kill(-trial, SIGKILL);
}

/* Run one recipe; its verdict is the line that starts with "probe: ". */
static bool
recipe_try(const struct hearthi_mpi_recipe *r, const char *self, char **more)
{
    char  line[1024], verdict[1024] = "", last[1024] = "";
    int   out[2], status;
    FILE *in;

    if (pipe(out) != 0 || (trial = fork()) < 0)
        return false;
    if (trial == 0) {
        setpgid(0, 0);
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        close(out[1]);
        launcher_become(r, self, more);
    }
    close(out[1]);
    signal(SIGALRM, trial_end);
    alarm(TRY_SECONDS);
    in = fdopen(out[0], "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "probe: ", 7) == 0)
            memcpy(verdict, line + 7, strlen(line + 7) + 1);
        else if (line[strspn(line, " -")] != '\0')
            memcpy(last, line, sizeof last);
    }
    if (in != NULL)
        fclose(in);
    waitpid(trial, &status, 0);
    if (alarm(0) == 0)
        printf("  hangs (ended after %d s)\n", TRY_SECONDS);
    else if (verdict[0] != '\0')
        printf("  %s\n", verdict);
    else
        printf("  does not start: %s\n", last);
    return strncmp(verdict, "works", 5) == 0;
}

int
info_recipes_try(const char *self, char **more)
{
    struct hearthi_mpi_library library = info_library();
    struct hearthi_mpi_recipe  r;
    char                       text[1024];
    int                        good = 0;
    bool words = hearthi_mpi_launcher_takes_words(launcher_name());

    if (launcher_name()[0] == '\0') {
        fprintf(stderr, "hearth-info: no MPI launcher was found when Hearth "
                        "was built: set MPIEXEC\n");
        return EXIT_FAILURE;
    }
    printf("Two ranks under %s%s\n", launcher_name(),
           *more == NULL ? " on this machine" : "");
    for (int i = 0; hearthi_mpi_recipe(library, i, &r); i++) {
        hearthi_mpi_settings(text, sizeof text, library, r.settings,
                             words ? HEARTHI_MPI_WORDS
                                   : HEARTHI_MPI_VARIABLES);
        printf("\n%s: %s (thread level %s)\n", r.when, text, r.level);
        fflush(stdout);
        good += recipe_try(&r, self, more);
    }
    return good > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
