/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A library that was built without what clusters need.
 */
#include "config.h"

#include "apart.h"
#include "attend.h"
#include "base/option.h"
#include "base/report.h"
#include "clusters.h"

struct hearthi_job
hearthi_clusters_read(MPI_Comm comm)
{
    return (struct hearthi_job){ comm, false };
}

void
hearthi_clusters_open(void)
{
    if (hearthi_opt.clusters.text[0] != '\0')
        hearthi_fatal("hearth_init",
                      "HEARTH_CLUSTERS=%s needs a library that was built with "
                      "OpenSSL 3 and inih: install them (libssl-dev, "
                      "libinih-dev) and configure again",
                      hearthi_opt.clusters.text);
}

void
hearthi_clusters_close(void)
{
}

const struct hearthi_transport_ops *
hearthi_transport_over(const struct hearthi_transport_ops *inner)
{
    return inner;
}

/* Never called: there are no several clusters. */
void
hearthi_attend(void)
{
}

void
hearthi_attendant_counts(void)
{
}

void
hearthi_apart_read(const struct hearthi_apart *run, int n)
{
    (void)run, (void)n;
}

void
hearthi_apart_write(const struct hearthi_apart *run, int n)
{
    (void)run, (void)n;
}
