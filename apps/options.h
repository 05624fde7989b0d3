/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of an application; used by common.c only. */
#ifndef APPS_OPTIONS_H
#define APPS_OPTIONS_H

#include <stdio.h>

#include "common.h"

enum app_command { APP_RUN, APP_HELP, APP_VERSION, APP_WRONG };

/*
 * Parse into the variables that the option table points to and the flags of
 * run.  No output: with APP_WRONG, problem (of size bytes) says what is wrong
 * and the caller decides who prints it.
 */
enum app_command app_parse(struct app_run *run, int argc, char **argv,
                           char *problem, size_t size);

/* Print what --help prints. */
void app_help(const struct app *app, FILE *to);

/* Print " name=value" for each option of the application. */
void app_option_fields(const struct app *app, FILE *to);

/* A number that differs when two command lines do (exact in a double). */
double app_option_digest(const struct app_run *run);

#endif
