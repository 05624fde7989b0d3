/* SPDX-License-Identifier: BSD-2-Clause
 *
 * All models of order.h, one after the other; prints TAP.
 */
#include "chain_order.h"
#include "delegation_order.h"
#include "event_order.h"
#include "node_cache_order.h"
#include "remote_free_order.h"
#include "sharers_order.h"
#include "shm_channel_order.h"

int
main()
{
    int wrong = 0;

    std::cout << "1..7\n";
    wrong |= model_check<shm_channel>("requests inside a node", 4);
    wrong |= model_check<node_cache>("copies of the node", 4);
    wrong |= model_check<delegation>("locks that stay", 3);
    wrong |= model_check<chain>("the queue of a lock", 4);
    wrong |= model_check<remote_free>("remote frees", 4);
    wrong |= model_check<sharers>("sharers' flags", 4);
    wrong |= model_check<event>("a thread that sleeps", 4);
    return wrong;
}
