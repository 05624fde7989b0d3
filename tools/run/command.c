/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The command line, and what the environment says.
 */
#include "config.h"

#include <getopt.h>
#include <hearth/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static const char help_text[] =
    "Usage: hearth-run [OPTION]... -- LAUNCHER [ARGUMENT]...\n"
    "\n"
    "Starts a job, such as mpirun -n 4 PROGRAM, which goes on from the last\n"
    "checkpoint in HEARTH_CHECKPOINT if there is one.  With\n"
    "HEARTH_ON_FAILURE=restart the job is started again when it fails.\n"
    "\n"
    "      --tries N            at most so many starts after the first (3)\n"
    "      --least-ranks M      ranks may become fewer, down to so many, "
    "where a\n"
    "                           job does not come up\n"
    "      --ranks-option TEXT  the launcher's option that has the number of\n"
    "                           ranks behind it (-n)\n"
    "  -h, --help               this\n"
    "  -V, --version            the version\n";

int
wrong(int status, const char *what, const char *why)
{
    fprintf(stderr, "hearth-run: %s: %s\n", what, why);
    return status;
}

static bool
number_read(const char *text, long least, long *to)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *to = strtol(text, &end, 10);
    return *end == '\0' && *to >= least && *to <= MOST_RANKS;
}

enum { TRIES = 256, LEAST, OPTION };

/* -1 to go on. */
static int
option_take(struct run *r, int option)
{
    switch (option) {
    case TRIES:
        if (number_read(optarg, 0, &r->tries))
            return -1;
        return wrong(BAD_USAGE, "--tries", "give a whole number");
    case LEAST:
        if (number_read(optarg, 1, &r->least))
            return -1;
        return wrong(BAD_USAGE, "--least-ranks",
                     "give a whole number of 1 or "
                     "more");
    case OPTION: r->option = optarg; return -1;
    case 'h': fputs(help_text, stdout); return EXIT_SUCCESS;
    case 'V': puts("hearth-run " HEARTH_VERSION); return EXIT_SUCCESS;
    default:
        fputs("hearth-run: see hearth-run --help\n", stderr);
        return BAD_USAGE;
    }
}

static int
options_read(struct run *r, int argc, char **argv)
{
    static const struct option options[] = {
        { "tries", required_argument, NULL, TRIES },
        { "least-ranks", required_argument, NULL, LEAST },
        { "ranks-option", required_argument, NULL, OPTION },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { NULL, 0, NULL, 0 },
    };
    int option, status;

    while ((option = getopt_long(argc, argv, "+hV", options, NULL)) != -1)
        if ((status = option_take(r, option)) >= 0)
            return status;
    r->launcher = argv + optind;
    if (r->launcher[0] == NULL)
        return wrong(BAD_USAGE, "no launcher",
                     "give one, as in hearth-run -- "
                     "mpirun -n 4 PROGRAM");
    if (r->option[0] == '\0')
        return wrong(BAD_USAGE, "--ranks-option",
                     "give an option, such as "
                     "-n");
    if (r->least > 0 && ranks_find(r->launcher, r->option) == 0)
        return wrong(BAD_USAGE, r->option,
                     "no number of ranks follows it among the launcher's "
                     "arguments: name its option by --ranks-option");
    return -1;
}

static const char *
variable(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? text : NULL;
}

static int
restart_set(const char *folder)
{
    const char *given = variable("HEARTH_RESTART");
    char       *restart;

    if (asprintf(&restart, "auto:%s", folder) < 0)
        return wrong(EXIT_FAILURE, folder, "no memory");
    if (given != NULL && strcmp(given, restart) != 0)
        return wrong(BAD_USAGE, "HEARTH_RESTART",
                     "it is auto: and the folder of HEARTH_CHECKPOINT here: "
                     "leave it out");
    setenv("HEARTH_RESTART", restart, 1);
    free(restart);
    return -1;
}

static int
environment_read(struct run *r)
{
    const char *then = variable("HEARTH_ON_FAILURE");

    r->folder = variable("HEARTH_CHECKPOINT");
    r->restarts = then != NULL && strcmp(then, "restart") == 0;
    if (then != NULL && !r->restarts && strcmp(then, "end") != 0)
        return wrong(BAD_USAGE, "HEARTH_ON_FAILURE", "give end or restart");
    if (r->restarts && r->folder == NULL)
        return wrong(BAD_USAGE, "HEARTH_ON_FAILURE=restart",
                     "there is no folder to restart from: give one by "
                     "HEARTH_CHECKPOINT");
    return r->folder == NULL ? -1 : restart_set(r->folder);
}

int
run_read(struct run *r, int argc, char **argv)
{
    int status;

    *r = (struct run){ .tries = 3, .option = "-n" };
    status = options_read(r, argc, argv);
    return status >= 0 ? status : environment_read(r);
}
