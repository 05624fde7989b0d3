/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A library that was built without what clusters need.
 */
#include "config.h"

#include "base/option.h"
#include "base/report.h"
#include "clusters.h"
#include "hear.h"
#include "hidden_rank.h"

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
hearthi_transport_wan(const struct hearthi_transport_ops *inner)
{
    return inner;
}

/* Never called: there are no several clusters. */
void
hearthi_hidden_rank_serve(void)
{
}

void
hearthi_hidden_rank_counts(void)
{
}

void
hearthi_hear_open(void)
{
}

void
hearthi_hear_close(void)
{
}

void
hearthi_clusters_forked(void)
{
}

void
hearthi_remote_io_read(const struct hearthi_remote_io *run, int n)
{
    (void)run, (void)n;
}

void
hearthi_remote_io_write(const struct hearthi_remote_io *run, int n)
{
    (void)run, (void)n;
}
