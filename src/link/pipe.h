/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A socket as OpenSSL's input and output.  Its own would send each record by
 * a call of its own, and raise SIGPIPE in a program that may not expect it.
 */
#ifndef HEARTHI_LINK_PIPE_H
#define HEARTHI_LINK_PIPE_H

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

BIO   *hearthi_pipe_new(int fd); /* fd stays the caller's */
bool   hearthi_pipe_flush(BIO *b);
size_t hearthi_pipe_waiting(BIO *b);

/* Bytes that have come. */
uint64_t hearthi_pipe_came(BIO *b);

#endif
