/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The first that two gateways say to each other inside of TLS: their names,
 * where the exchange of messages stands, and what they must agree on.  It is
 * text, lines of KEY=VALUE, that any version of Hearth on any machine can
 * read, so that a difference has a line that says what it is.
 */
#ifndef HEARTHI_GATEWAY_HELLO_H
#define HEARTHI_GATEWAY_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "conf.h"

enum { HEARTHI_HELLO_MAX = 64 << 10 }; /* bytes */

struct hearthi_gateway_hello {
    int      cluster, conn;
    char     name[HEARTHI_CLUSTER_NAME];
    uint64_t job; /* random; another one is another job */
    uint64_t got; /* messages that have come */
    /* Of the text: what must be the same, and what is only told. */
    const char *agree, *tell;
};

/* Returns the length, or 0 if it does not fit. */
size_t hearthi_gateway_hello_write(const struct hearthi_gateway_hello *h,
                                   char *out, size_t room);

/* False: no hello.  agree and tell lie in text, which is cut for them. */
bool hearthi_gateway_hello_read(struct hearthi_gateway_hello *h, char *text,
                                size_t len);

/* Do both agree?  If not, wrong has what each has of what differs. */
bool hearthi_gateway_hello_agree(const struct hearthi_gateway_hello *mine,
                                 const struct hearthi_gateway_hello *theirs,
                                 struct hearthi_link_error          *wrong);

#endif
