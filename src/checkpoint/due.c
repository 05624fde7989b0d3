/* SPDX-License-Identifier: BSD-2-Clause
 *
 * When a checkpoint is due: by the clock of rank 0, or since any one rank got
 * a signal.  Ranks say so in a barrier, so all of them know at once.
 */
#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "checkpoint.h"
#include "folder.h"
#include "node/node.h"
#include "world.h"

bool hearthi_checkpoint_at_barriers;

static const struct {
    const char *name;
    int         number;
} signals[] = {
    { "USR2", SIGUSR2 }, { "USR1", SIGUSR1 }, { "HUP", SIGHUP },
    { "TERM", SIGTERM }, { "INT", SIGINT },   { "ALRM", SIGALRM },
    { "URG", SIGURG },   { "XCPU", SIGXCPU }, { "CONT", SIGCONT }
};

static struct {
    uint64_t last; /* when one ended, or the run began */
    bool     ends; /* the job ends behind one that a signal made due */
    uint64_t number;
    char     where[HEARTHI_FILE_MAX];
} d;

static volatile sig_atomic_t came;
static int                   watched; /* its number, or 0 */
static struct sigaction      before;

static void
signal_note(int number)
{
    (void)number;
    came = 1;
}

_Noreturn static void
signal_refuse(void)
{
    if (hearthi_world.rank != 0)
        hearthi_end_wait();
    hearthi_fatal("hearth_init",
                  "HEARTH_CHECKPOINT_SIGNAL=%s is no signal that can be had: "
                  "give off, USR2 or USR2:exit, or USR1, HUP, TERM, INT, "
                  "ALRM, URG, XCPU or CONT",
                  hearthi_opt.checkpoint_signal.text);
}

/* SA_RESTART: the program's calls do not fail by it. */
static void
signal_watch(const char *name, size_t n)
{
    struct sigaction a = { .sa_handler = signal_note, .sa_flags = SA_RESTART };

    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strlen(signals[i].name) == n &&
            strncmp(signals[i].name, name, n) == 0) {
            watched = signals[i].number;
            sigaction(watched, &a, &before);
            return;
        }
    signal_refuse();
}

/* HEARTH_RESTART would take it for number 2 of another folder. */
static void
name_check(void)
{
    const char *text = hearthi_opt.checkpoint.text;
    uint64_t    number;

    if (hearthi_folder_number_at(text, &number) == NULL)
        return;
    if (hearthi_world.rank != 0)
        hearthi_end_wait();
    hearthi_fatal("hearth_init",
                  "HEARTH_CHECKPOINT=%s: HEARTH_RESTART reads what is behind "
                  "the last @ as the number of a checkpoint: give a folder "
                  "whose name does not end so",
                  text);
}

/* A user who gives one of these expects checkpoints. */
static void
folder_check(void)
{
    const char *name = NULL, *text = hearthi_opt.checkpoint_signal.text;

    if (hearthi_opt.checkpoint_at == HEARTHI_AT_BARRIER)
        name = "HEARTH_CHECKPOINT_AT";
    if (strcmp(text, "off") != 0 && text[0] != '\0')
        name = "HEARTH_CHECKPOINT_SIGNAL";
    if (hearthi_opt.checkpoint_every > 0)
        name = "HEARTH_CHECKPOINT_EVERY";
    if (name != NULL && hearthi_opt.checkpoint.text[0] == '\0' &&
        hearthi_world.rank == 0)
        hearthi_warn("hearth_init",
                     "%s is given, but no folder: no checkpoint is made by it "
                     "without HEARTH_CHECKPOINT",
                     name);
}

void
hearthi_checkpoint_due_begin(void)
{
    const char *text = hearthi_opt.checkpoint_signal.text;
    const char *end = strchr(text, ':');
    size_t      n = end == NULL ? strlen(text) : (size_t)(end - text);

    name_check();
    folder_check();
    d.last = hearthi_now();
    d.ends = end != NULL && strcmp(end, ":exit") == 0;
    came = 0;
    hearthi_checkpoint_at_barriers =
        hearthi_opt.checkpoint_at == HEARTHI_AT_BARRIER &&
        hearthi_opt.checkpoint.text[0] != '\0';
    if (strcmp(text, "off") != 0 && text[0] != '\0')
        signal_watch(text, end == NULL || d.ends ? n : 0);
}

/* A program that has another handler meanwhile keeps it. */
void
hearthi_checkpoint_due_end(void)
{
    struct sigaction now;

    if (watched != 0 && sigaction(watched, NULL, &now) == 0 &&
        now.sa_handler == signal_note)
        sigaction(watched, &before, NULL);
    watched = 0;
}

void
hearthi_checkpoint_due_again(bool made, const char *where, uint64_t number)
{
    d.last = hearthi_now();
    if (!made)
        return;
    d.number = number;
    snprintf(d.where, sizeof d.where, "%s", where);
}

/* One that was made for another reason, or could not be, answers no signal. */
void
hearthi_checkpoint_answered(void)
{
    came = 0;
}

unsigned
hearthi_checkpoint_asks(void)
{
    bool time = hearthi_world.rank == 0 && hearthi_opt.checkpoint_every > 0 &&
                hearthi_now() - d.last >= hearthi_opt.checkpoint_every;

    if (hearthi_opt.checkpoint.text[0] == '\0')
        return 0;
    return (time ? HEARTHI_ASKS_DUE : 0u) | (came ? HEARTHI_ASKS_SIGNAL : 0u);
}

bool
hearthi_checkpoint_ends(void)
{
    char line[HEARTHI_FILE_MAX + 96];
    int  n;

    if (!d.ends)
        return false;
    n = snprintf(line, sizeof line,
                 "hearth: saved as number %" PRIu64
                 " of %s, and the job ends, "
                 "as a signal asked\n",
                 d.number, d.where);
    if (hearthi_world.rank == 0)
        hearthi_report_lines(line, (size_t)n);
    return true;
}
