/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The launcher's process.  Signals that this process gets are blocked all the
 * time and fetched by sigwaitinfo(2), so none is lost between two starts; each
 * is passed on, but for those that the terminal has sent to the launcher, too.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

/* The second ones end the job: it is not started again. */
static const struct {
    int  number;
    bool ends;
} passed[] = {
    { SIGHUP, true },   { SIGINT, true },   { SIGQUIT, true },
    { SIGTERM, true },  { SIGUSR1, false }, { SIGUSR2, false },
    { SIGALRM, false }, { SIGURG, false },  { SIGXCPU, false },
    { SIGCONT, false },
};
enum { PASSED = sizeof passed / sizeof *passed };

static sigset_t watched, before;

/* What is ignored stays so, as SIGHUP under nohup(1). */
void
launcher_prepare(void)
{
    struct sigaction as_ever = { .sa_handler = SIG_DFL }, is;

    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaction(SIGCHLD, &as_ever, NULL);
    for (int i = 0; i < PASSED; i++)
        if (sigaction(passed[i].number, NULL, &is) == 0 &&
            is.sa_handler != SIG_IGN)
            sigaddset(&watched, passed[i].number);
    sigprocmask(SIG_BLOCK, &watched, &before);
}

static bool
is_end(int number)
{
    for (int i = 0; i < PASSED; i++)
        if (passed[i].number == number)
            return passed[i].ends;
    return false;
}

/* If this process is killed the launcher is to end, too. */
_Noreturn static void
launcher_become(char **launcher, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    execvp(launcher[0], launcher);
    _exit(wrong(errno == ENOENT ? 127 : 126, launcher[0], strerror(errno)));
}

static int
status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
launcher_run(char **launcher, int *asked)
{
    pid_t parent = getpid(), pid = fork();
    int   status;

    *asked = 0;
    if (pid < 0)
        return wrong(EXIT_FAILURE, launcher[0], strerror(errno));
    if (pid == 0)
        launcher_become(launcher, parent);
    for (;;) {
        siginfo_t came;

        if (sigwaitinfo(&watched, &came) < 0)
            continue;
        if (came.si_signo == SIGCHLD) {
            if (waitpid(pid, &status, WNOHANG) == pid)
                return status_of(status);
            continue;
        }
        if (is_end(came.si_signo))
            *asked = came.si_signo;
        if (came.si_code != SI_KERNEL)
            kill(pid, came.si_signo);
    }
}

int
launcher_asked(void)
{
    const struct timespec none = { 0 };
    int                   number;

    while ((number = sigtimedwait(&watched, NULL, &none)) > 0)
        if (is_end(number))
            return number;
    return 0;
}
