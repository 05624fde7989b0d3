/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* getopt_long() values: row r of the table is ROW + r, beyond any letter. */
enum { SMALL = 256, VERIFY, BY_HAND, HOME, SAVE, HELP, VERSION, ROW };
enum { MAX_ROWS = 32, MAX_COMMON = 7 };

struct parser {
    struct app_run *run;
    char           *problem; /* text for the caller */
    size_t          size;
    bool            given[MAX_ROWS];
    struct option   longs[MAX_ROWS + MAX_COMMON + 1];
    char            letters[2 * MAX_ROWS + 2];
};

static enum app_command wrong(struct parser *p, const char *format, ...)
    APP_PRINTF(2, 3);

static enum app_command
wrong(struct parser *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(p->problem, p->size, format, args);
    va_end(args);
    return APP_WRONG;
}

/* Tell getopt_long() about the table and the common options. */
static void
parser_fill(struct parser *p)
{
    const struct app *app = p->run->app;
    struct option    *o = p->longs;
    char             *s = p->letters;

    assert(app->option_count <= MAX_ROWS);
    *s++ = ':'; /* no messages, and a missing value is ':' */
    for (size_t i = 0; i < app->option_count; i++) {
        *o++ = (struct option){ app->options[i].name, required_argument, NULL,
                                ROW + (int)i };
        if (app->options[i].letter != 0) {
            *s++ = app->options[i].letter;
            *s++ = ':';
        }
    }
    *o++ = (struct option){ "small", no_argument, NULL, SMALL };
    *o++ = (struct option){ "verify", no_argument, NULL, VERIFY };
    if (app->run_mpi != NULL)
        *o++ = (struct option){ "mpi", no_argument, NULL, BY_HAND };
    *o++ = (struct option){ "home", required_argument, NULL, HOME };
    if (app->saves)
        *o++ = (struct option){ "checkpoint", required_argument, NULL, SAVE };
    *o++ = (struct option){ "help", no_argument, NULL, HELP };
    *o++ = (struct option){ "version", no_argument, NULL, VERSION };
}

static enum app_command
number_parse(struct parser *p, const struct app_option *o, const char *value)
{
    char *end;
    long  number;

    errno = 0;
    number = strtol(value, &end, 10);
    if (end == value || *end != '\0')
        return wrong(p, "--%s '%s' is not a whole number", o->name, value);
    if (errno != 0 || number < o->min || number > o->max)
        return wrong(p, "--%s %s is not within %ld and %ld", o->name, value,
                     o->min, o->max);
    *o->number = number;
    return APP_RUN;
}

/* How many ranks there are is not known yet. */
static enum app_command
home_parse(struct parser *p, const char *value)
{
    const struct app_option home =
        APP_NUMBER(0, "home", &p->run->home, 0, 0, 0, INT_MAX, "");

    if (strcmp(value, "first") != 0)
        return number_parse(p, &home, value);
    p->run->home = APP_HOMES_FIRST;
    return APP_RUN;
}

/* Is value one of the words of "S|W|A"? */
static bool
choice_match(const char *choices, const char *value)
{
    size_t length = strlen(value);

    for (const char *word = choices; *word != '\0';) {
        size_t n = strcspn(word, "|");

        if (n == length && strncmp(word, value, n) == 0)
            return true;
        word += n + (word[n] == '|');
    }
    return false;
}

static enum app_command
value_parse(struct parser *p, const struct app_option *o, const char *value)
{
    p->given[o - p->run->app->options] = true;
    if (o->number != NULL)
        return number_parse(p, o, value);
    if (o->choices != NULL && !choice_match(o->choices, value))
        return wrong(p, "--%s '%s' is not one of %s", o->name, value,
                     o->choices);
    *o->text = value;
    return APP_RUN;
}

static const struct app_option *
letter_find(const struct app *app, int letter)
{
    for (size_t i = 0; i < app->option_count; i++)
        if (app->options[i].letter == letter)
            return &app->options[i];
    return NULL;
}

/* What to call the option that getopt_long() did not like. */
static enum app_command
option_refuse(struct parser *p, int c, char **argv)
{
    const char *what = c == ':' ? "needs a value" : "is not an option";

    if (optopt > 0 && optopt < SMALL)
        return wrong(p, "-%c %s", optopt, what);
    if (optopt >= SMALL && c != ':')
        what = "takes no value";
    return wrong(p, "%s %s", argv[optind - 1], what);
}

static enum app_command
option_take(struct parser *p, int c, char **argv)
{
    struct app_run   *run = p->run;
    const struct app *app = run->app;

    switch (c) {
    case SMALL: run->small = true; return APP_RUN;
    case VERIFY: run->verify = true; return APP_RUN;
    case BY_HAND: run->mpi = true; return APP_RUN;
    case HOME: return home_parse(p, optarg);
    case SAVE: run->checkpoint = optarg; return APP_RUN;
    case HELP: return APP_HELP;
    case VERSION: return APP_VERSION;
    case ':':
    case '?': return option_refuse(p, c, argv);
    }
    return value_parse(
        p, c >= ROW ? &app->options[c - ROW] : letter_find(app, c), optarg);
}

/* --small, whatever its place, changes only what was not given. */
static void
rest_fill(const struct parser *p)
{
    const struct app *app = p->run->app;

    for (size_t i = 0; i < app->option_count; i++) {
        const struct app_option *o = &app->options[i];

        if (o->number != NULL && !p->given[i])
            *o->number = p->run->small ? o->small : o->normal;
        if (o->little != NULL && !p->given[i] && p->run->small)
            *o->text = o->little;
    }
}

enum app_command
app_parse(struct app_run *run, int argc, char **argv, char *problem,
          size_t size)
{
    struct parser    p = { .run = run, .problem = problem, .size = size };
    enum app_command command = APP_RUN;
    int              c;

    parser_fill(&p);
    while (command == APP_RUN &&
           (c = getopt_long(argc, argv, p.letters, p.longs, NULL)) != -1)
        command = option_take(&p, c, argv);
    if (command != APP_RUN)
        return command;
    if (optind < argc)
        return wrong(&p, "'%s' is too much", argv[optind]);
    rest_fill(&p);
    return APP_RUN;
}

static void
help_row(FILE *to, const struct app_option *o)
{
    char left[40];
    char letter[4] = { '-', o->letter, ',', '\0' };

    snprintf(left, sizeof left, "%s --%s %s", o->letter != 0 ? letter : "   ",
             o->name, o->number != NULL ? "N" : "TEXT");
    fprintf(to, "  %-22s %s", left, o->help);
    if (o->number != NULL)
        fprintf(to, " (%ld)\n", o->normal);
    else if (*o->text != NULL)
        fprintf(to, " (%s)\n", *o->text);
    else
        fprintf(to, "\n");
}

void
app_help(const struct app *app, FILE *to)
{
    fprintf(to, "Usage: mpirun -n RANKS hearth-%s [OPTION...]\n%s\n\n",
            app->name, app->about);
    for (size_t i = 0; i < app->option_count; i++)
        help_row(to, &app->options[i]);
    fprintf(to, "      --home N|first     all pages at home on rank N, or "
                "where they are\n"
                "                         written first, not where they are "
                "worked on\n"
                "      --small            less than a second of work\n"
                "      --verify           check the result; the exit status "
                "tells\n");
    if (app->run_mpi != NULL)
        fprintf(to, "      --mpi              the same in plain MPI, without "
                    "Hearth\n");
    if (app->saves)
        fprintf(to, "      --checkpoint DIR   save the run there each tenth "
                    "of it; goes on with\n"
                    "                         HEARTH_RESTART=DIR\n");
    fprintf(to, "      --help, --version  this text; the version\n\n"
                "Hearth's own options are environment variables, see "
                "hearth-env(7).\n");
}

void
app_option_fields(const struct app *app, FILE *to)
{
    for (size_t i = 0; i < app->option_count; i++) {
        const struct app_option *o = &app->options[i];

        if (o->number != NULL)
            fprintf(to, " %s=%ld", o->name, *o->number);
        else if (*o->text != NULL)
            fprintf(to, " %s=%s", o->name, *o->text);
    }
}

/* One step of the hash FNV-1a, 32 bits. */
static uint32_t
digest_add(uint32_t digest, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ ((const unsigned char *)data)[i]) * 16777619u;
    return digest;
}

double
app_option_digest(const struct app_run *run)
{
    uint32_t digest = 2166136261u;
    long     flags = run->small + 2 * run->verify;

    digest = digest_add(digest, &flags, sizeof flags);
    digest = digest_add(digest, &run->home, sizeof run->home);
    for (size_t i = 0; i < run->app->option_count; i++) {
        const struct app_option *o = &run->app->options[i];

        if (o->number != NULL)
            digest = digest_add(digest, o->number, sizeof *o->number);
        else if (*o->text != NULL)
            digest = digest_add(digest, *o->text, strlen(*o->text));
    }
    return digest;
}
