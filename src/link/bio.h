/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A socket as OpenSSL's input and output.  Its own would send each record by
 * a call of its own, and raise SIGPIPE in a program that may not expect it.
 */
#ifndef HEARTHI_BIO_H
#define HEARTHI_BIO_H

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

BIO   *hearthi_bio_new(int fd); /* fd stays the caller's */
bool   hearthi_bio_flush(BIO *b);
size_t hearthi_bio_waiting(BIO *b);

/* Bytes that have come. */
uint64_t hearthi_bio_came(BIO *b);

#endif
