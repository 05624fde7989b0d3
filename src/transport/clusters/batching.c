/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "gateway_thread.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/report.h"

/* Nanoseconds in which a rank wakes up and asks. */
enum { WAIT = 100000 };

static struct {
    uint32_t *of; /* the moment in which each was answered, until it asks */
    uint32_t  moment; /* the last one's number */
    uint64_t  begin;  /* of that moment */
    size_t    left;   /* who was answered in it and has not asked */
} c;

void
hearthi_batching_open(size_t n)
{
    c.of = calloc(n, sizeof *c.of);
    if (c.of == NULL)
        hearthi_fatal("hearth_init", "no memory for a gateway");
    c.moment = 0;
    c.begin = 0;
    c.left = 0;
}

void
hearthi_batching_close(void)
{
    free(c.of);
    c.of = NULL;
}

void
hearthi_batching_answered(size_t connection)
{
    uint64_t now = hearthi_now();

    if (now - c.begin > WAIT) {
        c.moment++;
        c.begin = now;
        c.left = 0;
    }
    c.left += c.of[connection] != c.moment;
    c.of[connection] = c.moment;
}

void
hearthi_batching_asked(size_t connection)
{
    if (c.of[connection] != 0 && c.of[connection] == c.moment)
        c.left--;
    c.of[connection] = 0;
}

bool
hearthi_batching_expected(void)
{
    return c.left > 0 && hearthi_now() - c.begin < WAIT;
}
