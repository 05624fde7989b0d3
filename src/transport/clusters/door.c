/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "door.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/report.h"
#include "cluster.h"

/* All ranks may come at once; the system has a bound of its own. */
enum { BACKLOG = 4096 };

int
hearthi_door_listen(struct hearthi_door *door)
{
    struct sockaddr_in any = { .sin_family = AF_INET };
    socklen_t          size = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    any.sin_addr.s_addr =
        htonl(hearthi_one_machine() ? INADDR_LOOPBACK : INADDR_ANY);
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) != 0 ||
        listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&any, &size) != 0)
        hearthi_fatal("hearth_init", "the gateway cannot listen: %s",
                      strerror(errno));
    door->at = hearthi_one_machine() ? hearthi_addresses_loopback()
                                     : hearthi_addresses_of_host(AF_INET);
    hearthi_addresses_port(&door->at, any.sin_port);
    if (getrandom(door->token, sizeof door->token, 0) !=
        (ssize_t)sizeof door->token)
        hearthi_fatal("hearth_init", "no random token: %s", strerror(errno));
    return fd;
}
