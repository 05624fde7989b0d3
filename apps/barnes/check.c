/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <string.h>

#include "check.h"

void
check_bodies(struct app_run *run, const struct body *got,
             const struct body *want, size_t bodies)
{
    for (size_t i = 0; i < bodies; i++)
        if (memcmp(&got[i], &want[i], sizeof got[i]) != 0) {
            app_verdict(run, false,
                        "body %zu is at (%.17g, ...), sequentially (%.17g, "
                        "...)",
                        i, got[i].x[0], want[i].x[0]);
            break;
        }
}

void
check_add(struct check *c, const double got[3], const double want[3])
{
    for (int d = 0; d < 3; d++) {
        c->off += (got[d] - want[d]) * (got[d] - want[d]);
        c->all += want[d] * want[d];
    }
}

void
check_forces(struct app_run *run, const struct check *c, double theta)
{
    const double bound = 0.03 * theta * theta * theta + 1e-12;
    const double off = c->all == 0 ? c->off : sqrt(c->off / c->all);

    app_verdict(run, off <= bound,
                "forces are off by %.3e of them, not at most %.3e", off,
                bound);
    app_field(run, "error=%.1e", off);
}
