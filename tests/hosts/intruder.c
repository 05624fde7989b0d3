/* SPDX-License-Identifier: BSD-2-Clause
 *
 * intruder PORT PORTS -- send to UDP ports of this machine, from PORT on, what
 * does not belong there, until ended: noise, datagrams that were overheard
 * there before, in this job or in an earlier one, and such datagrams changed in
 * one field.  Says how many it has overheard when it has some.  Needs
 * CAP_NET_RAW.
 */
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEPT = 400, LONGEST = 9000 };

struct overheard {
    int     len, port;
    uint8_t data[LONGEST];
};

static struct overheard kept[KEPT];
static int              n_kept, first_port, n_ports, out;

static unsigned
chance(unsigned n)
{
    unsigned r = 0;

    if (getrandom(&r, sizeof r, 0) != sizeof r)
        exit(1);
    return r % n;
}

static void
fail(const char *what)
{
    perror(what);
    exit(1);
}

static int
listener(void)
{
    struct sockaddr_ll lo = { .sll_family = AF_PACKET,
                              .sll_protocol = htons(ETH_P_IP),
                              .sll_ifindex = (int)if_nametoindex("lo") };
    int                fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));

    if (fd < 0 || bind(fd, (struct sockaddr *)&lo, sizeof lo) != 0)
        fail("intruder: no packet socket");
    return fd;
}

static int
own_port(void)
{
    struct sockaddr_in own = { .sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t          size = sizeof own;

    out = socket(AF_INET, SOCK_DGRAM, 0);
    if (out < 0 || bind(out, (struct sockaddr *)&own, sizeof own) != 0 ||
        getsockname(out, (struct sockaddr *)&own, &size) != 0)
        fail("intruder: no socket");
    return ntohs(own.sin_port);
}

/* Keep what goes to the ports and is not our own; of many, any. */
static void
overhear(const uint8_t *packet, ssize_t len, int own)
{
    struct iphdr      ip;
    struct udphdr     udp;
    struct overheard *k = &kept[n_kept < KEPT ? n_kept : (int)chance(KEPT)];
    ssize_t           at;

    if (len < (ssize_t)(sizeof ip + sizeof udp))
        return;
    memcpy(&ip, packet, sizeof ip);
    at = ip.ihl * 4;
    if (ip.protocol != IPPROTO_UDP || len < at + (ssize_t)sizeof udp)
        return;
    memcpy(&udp, packet + at, sizeof udp);
    at += (ssize_t)sizeof udp;
    k->port = ntohs(udp.dest);
    if (ntohs(udp.source) == own || k->port < first_port ||
        k->port >= first_port + n_ports || len - at > LONGEST)
        return;
    k->len = (int)(len - at);
    memcpy(k->data, packet + at, (size_t)k->len);
    n_kept += n_kept < KEPT;
}

static void
datagram_send(const uint8_t *data, int len, int port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    sendto(out, data, (size_t)len, MSG_DONTWAIT, (struct sockaddr *)&to,
           sizeof to);
}

static void
noise(void)
{
    uint8_t data[256];
    int     len = (int)chance(sizeof data + 1);

    if (getrandom(data, sizeof data, 0) != sizeof data)
        exit(1);
    datagram_send(data, len, first_port + (int)chance((unsigned)n_ports));
}

/* Any byte of the head, or the length, or nothing, or the receiver. */
static void
forgery(void)
{
    struct overheard k = kept[chance((unsigned)n_kept)];

    switch (chance(4)) {
    case 0:
        if (k.len >= 40)
            k.data[chance(40)] = (uint8_t)chance(256);
        break;
    case 1: k.len = (int)chance((unsigned)k.len + 1); break;
    case 2: k.port = first_port + (int)chance((unsigned)n_ports); break;
    }
    datagram_send(k.data, k.len, k.port);
}

int
main(int argc, char **argv)
{
    static uint8_t packet[65536];
    int            in = listener(), own = own_port(), said = 0;

    first_port = argc > 1 ? atoi(argv[1]) : 0;
    n_ports = argc > 2 ? atoi(argv[2]) : 1;
    for (;;) {
        ssize_t len;

        while ((len = recv(in, packet, sizeof packet, MSG_DONTWAIT)) > 0)
            overhear(packet, len, own);
        noise();
        for (int i = 0; i < 4 && n_kept > 0; i++)
            forgery();
        if (n_kept > KEPT / 2 && !said) {
            said = printf("overheard %d datagrams\n", n_kept);
            fflush(stdout);
        }
        usleep(1000);
    }
}
