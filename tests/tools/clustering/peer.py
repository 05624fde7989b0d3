#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
What hearth-cluster's clusters are to each other.  Runs on each host.

    peer.py trips N [SECONDS]  the least and the median of so many round trips
                               from each gateway to each other, in us, for so
                               long at least; and the longest silence
    peer.py rate BYTES         Mbit/s from the first gateway to the second, and
                               back, over TCP
    peer.py alone              no host but the gateways has a way to another
                               cluster, and they do not pass on
"""
import os
import re
import select
import socket
import struct
import sys
import time

PATIENCE = 30
PORT = 7100


def gateways():
    """The addresses of all, in order, from the file."""
    with open(os.environ["HEARTH_CLUSTERS"], encoding="ascii") as file:
        return re.findall(r"^gateway = ([0-9.]+):7100$", file.read(), re.M)


def address():
    """This host's on the link, or nothing."""
    with os.popen("ip -o -4 addr show dev wan 2>/dev/null") as said:
        return (re.findall(r" inet ([0-9.]+)/24 ", said.read()) + [""])[0]


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Echo:
    """Round trips that no process at the other end has a part in."""

    def __init__(self, host):
        self.host = host
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_RAW,
                                    socket.IPPROTO_ICMP)
        self.number = 0

    def is_answer(self, packet, source):
        kind, _, _, _, number = struct.unpack("!BBHHH", packet[20:28])
        return (kind == 0 and source == self.host and
                number == self.number & 0xffff)

    def trip(self, patience):
        """Seconds, or None."""
        self.number += 1
        words = (8, 0, 0, os.getpid() & 0xffff, self.number & 0xffff)
        sum_of = checksum(struct.pack("!BBHHH", *words))
        began = time.perf_counter()
        self.socket.sendto(struct.pack("!BBHHH", 8, 0, sum_of, *words[3:]),
                           (self.host, 0))
        while True:
            left = began + patience - time.perf_counter()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                return None
            packet, source = self.socket.recvfrom(2048)
            if self.is_answer(packet, source[0]):
                return time.perf_counter() - began


def trips(mine, count, seconds=0):
    for other in gateways():
        if other == mine:
            continue
        echo, took, silence = Echo(other), [], 0.0
        began = heard = time.monotonic()
        while len(took) < int(count) or heard - began < float(seconds):
            trip = echo.trip(0.1)
            if trip is None and time.monotonic() - heard < PATIENCE:
                continue
            silence = max(silence, time.monotonic() - heard)
            heard = time.monotonic()
            took.append(1e6 * trip)
        took.sort()
        print(f"{mine} to {other}: {took[0]:.0f} us, median"
              f" {took[len(took) // 2]:.0f} us, silence {silence:.2f} s",
              flush=True)


def bytes_take(link, count):
    while count > 0:
        count -= len(link.recv(min(count, 1 << 18))) or sys.exit("cut short")


def bytes_send(link, count):
    block = bytes(1 << 18)
    while count > 0:
        count -= link.send(block[:count])


def link_make(mine, other):
    """A connection of the first gateway to the second."""
    if mine > other:
        with socket.create_server((mine, PORT)) as server:
            server.settimeout(PATIENCE)
            return server.accept()[0]
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((other, PORT), PATIENCE)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def rate(mine, count):
    """The time is the receiver's, from the first byte that is there."""
    count = int(count)
    pair = gateways()[:2]
    if mine not in pair:
        return
    with link_make(mine, pair[pair[0] == mine]) as link:
        for sender in pair:
            if mine == sender:
                bytes_send(link, count)
                bytes_take(link, 1)
                continue
            bytes_take(link, 1)
            began = time.perf_counter()
            bytes_take(link, count - 1)
            seconds = time.perf_counter() - began
            bytes_send(link, 1)
            print(f"{sender} to {mine}: {8e-6 * count / seconds:.1f} Mbit/s",
                  flush=True)


def is_reached(host):
    """A refusal comes from there."""
    try:
        socket.create_connection((host, 1), 0.5).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return True


def alone(mine):
    """10.77.0.4 is in one cluster only, which has four hosts."""
    reached = [host for host in gateways() + ["10.77.0.4"]
               if is_reached(host)]
    if mine == "":
        os.system("ip route add 192.0.2.0/24 via 10.77.0.1")
        with open(os.environ["HEARTH_CLUSTERS"], encoding="ascii") as file:
            names = re.findall(r"^\[(.*)\]$", file.read(), re.M)
        reached += [host + " over the gateway"
                    for name, host in zip(names, gateways())
                    if name != os.environ["HEARTH_CLUSTER"] and
                    is_reached(host)]
    else:
        # Answers would not find back, but what asks for none would arrive.
        with open("/proc/sys/net/ipv4/ip_forward", encoding="ascii") as file:
            reached += ["others' networks"] * int(file.read())
    print(f"{socket.gethostname()} reaches {', '.join(reached) or 'none'}.",
          flush=True)


def main(what, *words):
    mine = address()
    if what == "alone":
        alone(mine)
    elif mine != "":
        {"trips": trips, "rate": rate}[what](mine, *words)


main(*sys.argv[1:])
