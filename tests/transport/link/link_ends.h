/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ends of a link in one process, over loopback: a test turns them in turn.
 */
#ifndef HEARTH_LINK_ENDS_H
#define HEARTH_LINK_ENDS_H

#include "harness.h"
#include "link/link.h"

enum { ENDS_MAX = 3 };

struct end {
    struct hearthi_conf         conf;
    struct hearthi_link_options options;
    struct hearthi_link        *link;
    int                         me, ups, warnings, failures, failed_cluster;
    char                        failed[600], warned[600], told[600];
    uint64_t                    failed_at; /* by the kernel's clock */
    void (*message)(struct end *e, int cluster, const void *body, size_t len);
    uint64_t got[ENDS_MAX];
    void    *more; /* of a test */
};

/* Keys for all tests of a program, in files: main() makes and removes them. */
extern char ends_key[], ends_other_key[];
void        ends_keys_make(void);
void        ends_keys_remove(void);

/* Of n clusters alpha, beta and gamma.  Times are short; ports are chosen by
 * the system. */
void end_prepare(struct end *e, int n, int me);

/* With the ports of those that are open; end_open() must succeed. */
void end_knows(struct end *e, const struct end *other);
void end_open(struct end *e);
void end_close(struct end *e);
int  end_port(const struct end *e);

/* n ends with all of that. */
void ends_open(struct end *e, int n);
void ends_close(struct end *e, int n);

/* Turn all that are open until done(), for at most so many seconds: true if it
 * was. */
bool ends_turn(struct end *e, int n, bool (*done)(struct end *e, int n),
               double seconds);

bool all_up(struct end *e, int n);
bool all_came(struct end *e, int n); /* a message from each to each */
bool any_failed(struct end *e, int n);
bool all_failed(struct end *e, int n);

/* The line has this part. */
void said(const char *line, const char *part);

void line_send(struct end *from, int to, const char *text);

/* Two of two: ready to be opened, and open. */
void pair_prepare(struct end *e);
void pair_open(struct end *e);

/* A socket that is connected to the port here. */
int visitor(int port);

#endif
