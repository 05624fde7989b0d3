/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_WINDOW_ORDER_H
#define HEARTHI_WINDOW_ORDER_H

/* Groups of one job make their windows one after the other.  Collective. */
void hearthi_window_order_begin(void);
void hearthi_window_order_end(void);

#endif
