/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Congestion control: how many bytes one rank may have on their way to and
 * from another, as TCP has it (RFC 5681, and RFC 8085 for datagrams).
 *
 * All large messages are requests with diffs or answers with pages, and each
 * answer is asked for.  So the asking rank alone decides what is on the link
 * in both directions: it counts the bytes of its diffs, and those of the pages
 * it has asked for, until they are answered, and keeps them within a window.
 * What goes one at a time (locks, barriers) needs none: its time-outs double.
 *
 *   - The window begins with ten datagrams (RFC 6928) and grows by what is
 *     answered, so that it doubles in a round trip, up to the size at which
 *     something was lost last; from there on by a datagram in a round trip.
 *     It grows only while half of it is in use (RFC 7661): otherwise nothing
 *     was learnt of the link.
 *   - A loss halves it, once for all that was sent before that.  A loss is
 *     seen where what was sent later is answered first (send_window.c).
 *   - At a time-out nothing is known to be on the link any more: the window is
 *     what one page needs, and grows anew up to half of what it was.
 *   - But the answer may only be late: the other rank had no core, or others
 *     fill a queue.  An answer says which try of the request it is to.  If it
 *     is not to the last one, nothing was lost, and the window is again what
 *     it was (as with Eifel, RFC 3522 and 4015), and the time is learnt
 *     (timer.c).
 *
 * Why this ends a collapse: what is put on the link for nothing is what was
 * sent again though it was not lost.  After a time-out that is a page at most,
 * and the wait has doubled; after the first late answer the time-out is longer
 * than what it took.  So the waste for each rise of the delay to N times the
 * time-out is log2 N such pages, however slow the link.
 */
#include "config.h"

#include "base/assert.h"
#include "base/min.h"
#include "congestion.h"

/* BEGIN datagrams at first.  LEAST bytes after a time-out (RFC 3390's): a page
 * of 4 KiB in Ethernet's datagrams.  MOST bytes ever. */
enum { BEGIN = 10, LEAST = 4380, MOST = 64 << 20 };

static uint64_t
at_least(uint64_t size, uint64_t least)
{
    return size > least ? size : least;
}

void
hearthi_udp_congestion_open(struct hearthi_udp_congestion *w, uint32_t unit)
{
    *w = (struct hearthi_udp_congestion){ .unit = unit };
    w->size = BEGIN * (uint64_t)unit;
    w->slow = MOST;
}

/* Threads may overwrite each other, which loses a step.  Relaxed: the size
 * stands for itself. */
void
hearthi_udp_congestion_grow(struct hearthi_udp_congestion *w, uint64_t came,
                            uint64_t way)
{
    uint64_t size =
        atomic_load_explicit(&w->size, memory_order_relaxed);

    HEARTHI_ASSERT(size > 0 && size <= MOST);
    if (2 * way < size || size >= MOST)
        return;
    size += size < w->slow ? came : w->unit * came / size;
    atomic_store_explicit(&w->size, hearthi_min(size, MOST),
                          memory_order_relaxed);
}

void
hearthi_udp_congestion_lose(struct hearthi_udp_congestion *w, uint64_t sent,
                            uint64_t now)
{
    HEARTHI_ASSERT(sent <= now);
    if (sent < w->cut || w->was != 0)
        return;
    w->cut = now;
    w->size = w->slow = at_least(w->size / 2, 2 * (uint64_t)w->unit);
}

/* What the next time-outs in a row are of was on its way in the same time. */
void
hearthi_udp_congestion_silent(struct hearthi_udp_congestion *w, uint64_t now)
{
    if (w->was == 0) {
        w->was_slow = w->slow;
        w->was = w->size;
        w->slow = at_least(w->size / 2, 2 * (uint64_t)w->unit);
    }
    w->cut = now;
    w->size = at_least(LEAST, w->unit);
}

void
hearthi_udp_congestion_late(struct hearthi_udp_congestion *w)
{
    uint64_t was = atomic_exchange(&w->was, 0);

    if (was == 0)
        return;
    w->size = was;
    w->slow = w->was_slow;
}

void
hearthi_udp_congestion_again(struct hearthi_udp_congestion *w)
{
    if (w->was != 0)
        w->was = 0;
}
