/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The memory that the ranks of a node use to synchronise.
 */
#include "config.h"

#include "node.h"

#include <stdlib.h>

#include "base/report.h"
#include "cluster.h"
#include "shm_area.h"

struct hearthi_node            hearthi_node;
static struct hearthi_shm_area area;

static size_t
line_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static size_t
head_bytes(int ranks)
{
    return line_up(sizeof(struct hearthi_node_area) +
                   (size_t)ranks * sizeof(struct hearthi_deposit));
}

static size_t
locks_bytes(void)
{
    return line_up((size_t)hearthi_turns() * sizeof *hearthi_node.lock);
}

/* What belongs to locks that have names is 0 without being touched, as the
 * memory is new. */
void
hearthi_node_open(void)
{
    struct hearthi_node *node = &hearthi_node;
    int                  ranks = hearthi_cluster.node_size;
    size_t               notices = (size_t)ranks * HEARTHI_NOTICES_OF_ONE +
                     2 * HEARTHI_BARRIER_NOTICES_MAX;
    char *at;

    hearthi_shm_area_open(
        &area,
        head_bytes(ranks) + locks_bytes() + notices * sizeof *node->news,
        head_bytes(ranks) + HEARTHI_SYNCS * sizeof *node->lock);
    node->barriers = 0;
    at = area.base;
    node->area = (struct hearthi_node_area *)(void *)at;
    at += head_bytes(ranks);
    node->lock = (struct hearthi_node_lock *)(void *)at;
    at += locks_bytes();
    node->news = (struct hearthi_notice *)(void *)at;
    at += 2 * HEARTHI_BARRIER_NOTICES_MAX * sizeof *node->news;
    node->deposited = calloc((size_t)ranks, sizeof *node->deposited);
    if (node->deposited == NULL)
        hearthi_fatal("hearth_init", "no memory");
    for (int r = 0; r < ranks; r++)
        node->deposited[r] = (struct hearthi_notice *)(void *)at +
                             (size_t)r * HEARTHI_NOTICES_OF_ONE;
}

void
hearthi_node_close(void)
{
    hearthi_shm_area_close(&area);
    free(hearthi_node.deposited);
}
