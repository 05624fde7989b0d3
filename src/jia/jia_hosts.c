/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What calls begin with; clock, statistics, errors and the balancing of load.
 *
 * Balancing: each host has a power, all add up to 1, and gets iterations in
 * proportion.  jia_loadcheck() divides a host's power by the time that it has
 * computed, without its waiting at locks and barriers.
 */
#include "config.h"

#include "jia_hosts.h"

#include <stdarg.h>
#include <stdlib.h>

#include "api/api.h"
#include "api/compat_exit.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "hearth/jia.h"
#include "jia_start.h"
#include "transport/transport.h"

struct hearthi_jia hearthi_jia;

int jia_pid;
int jia_hosts = 1;
int jia_lock_index;

void
hearthi_jia_require(const char *call)
{
    if (!hearthi_jia.up)
        hearthi_fatal(call, "called before jia_init or after jia_exit: call "
                            "it between them");
    hearthi_require_thread(call);
}

void
hearthi_jia_number(const char *call, const char *what, int number, int count)
{
    if (number < 0 || number >= count)
        hearthi_fatal(call, "%s %d does not exist: give 0 to %d", what, number,
                      count - 1);
}

/* ---- clock and load ---- */

static const double LEAST_SECONDS = 1e-6; /* what counts as no time at all */

static uint64_t born; /* time of jia_init */

static struct {
    bool     on;
    double  *power;
    double   seconds; /* computed since the last check */
    uint64_t since;   /* computing since then; 0: waiting */
} load;

void
hearthi_jia_tune_open(void)
{
    born = hearthi_clock_kernel();
    load.on = false;
    load.power = malloc((size_t)jia_hosts * sizeof *load.power);
    if (load.power == NULL)
        hearthi_fatal("jia_init", "no memory");
}

void
hearthi_jia_tune_close(void)
{
    free(load.power);
    load.power = NULL;
    load.on = false;
}

static uint64_t
age(void)
{
    return born == 0 ? 0 : hearthi_clock_kernel() - born;
}

double
jia_clock(void)
{
    return (double)age() * 1e-9;
}

unsigned int
jia_startstat(void)
{
    hearthi_jia_require("jia_startstat");
    hearth_stats_start();
    return (unsigned int)(age() / 1000);
}

unsigned int
jia_stopstat(void)
{
    hearthi_jia_require("jia_stopstat");
    hearth_stats_stop();
    return (unsigned int)(age() / 1000);
}

void
jia_error(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    hearthi_error("jia_error", format, ap);
}

static void
load_begin(void)
{
    for (int i = 0; i < jia_hosts; i++)
        load.power[i] = 1.0 / jia_hosts;
    load.seconds = 0;
    load.since = hearthi_clock_kernel();
}

void
jia_config(int option, int value)
{
    hearthi_jia_require("jia_config");
    hearthi_jia_number("jia_config", "option", option, WVEC + 1);
    if (value != ON && value != OFF)
        hearthi_fatal("jia_config", "value %d is neither ON nor OFF", value);
    if (option != LOADBAL)
        return;
    load.on = value == ON;
    if (load.on)
        load_begin();
}

void
hearthi_jia_wait_begin(void)
{
    hearthi_jia_messages_wait_begin();
    if (!load.on)
        return;
    load.seconds += (double)(hearthi_clock_kernel() - load.since) * 1e-9;
    load.since = 0;
}

void
hearthi_jia_wait_end(void)
{
    hearthi_jia_messages_wait_end();
    if (load.on)
        load.since = hearthi_clock_kernel();
}

void
jia_loadcheck(void)
{
    HEARTHI_UNCANCELLED;
    MPI_Request request;
    double      mine, sum = 0;

    hearthi_jia_require("jia_loadcheck");
    if (!load.on)
        return;
    hearthi_jia_wait_begin();
    mine = load.power[jia_pid] /
           (load.seconds > LEAST_SECONDS ? load.seconds : LEAST_SECONDS);
    HEARTHI_MPI(MPI_Iallgather(&mine, 1, MPI_DOUBLE, load.power, 1, MPI_DOUBLE,
                               hearthi_jia.comm, &request));
    hearthi_requests_wait(&request, 1);
    for (int i = 0; i < jia_hosts; i++)
        sum += load.power[i];
    for (int i = 0; i < jia_hosts; i++)
        load.power[i] /= sum;
    load.seconds = 0;
    hearthi_jia_wait_end();
}

/* Where the part of a host begins, in iterations from the first. */
static long
share_begin(int host, long count)
{
    double before = 0;

    if (host == jia_hosts)
        return count;
    if (!load.on)
        return count / jia_hosts * host;
    for (int i = 0; i < host; i++)
        before += load.power[i];
    return (long)(before * (double)count + 0.5);
}

void
jia_divtask(int *begin, int *end)
{
    long first = *begin, count = (long)*end - first + 1;

    hearthi_jia_require("jia_divtask");
    if (count < 0)
        hearthi_fatal("jia_divtask",
                      "iterations %d to %d: the end is before "
                      "the beginning",
                      *begin, *end);
    *begin = (int)(first + share_begin(jia_pid, count));
    *end = (int)(first + share_begin(jia_pid + 1, count) - 1);
}
