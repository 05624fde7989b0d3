/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The types of options: what is accepted, and how it is read and printed.
 * A word out of a list is the index of the word.
 */
#ifndef HEARTHI_OPTION_TYPE_H
#define HEARTHI_OPTION_TYPE_H

#include <stdbool.h>
#include <stddef.h>

struct hearthi_type {
    const char *accepts; /* completes "give ..." */
    /* Read text into *out, which is left alone when text is not accepted. */
    bool (*parse)(const struct hearthi_type *type, const char *text,
                  void *out);
    /* Print *value as a user would type it. */
    void (*print)(const struct hearthi_type *type, const void *value,
                  char *out, size_t room);
    const char *const         *words; /* NULL-ended, or NULL */
    const struct hearthi_type *inner; /* "auto" or this, or NULL */
    size_t                     kept;  /* what "auto" is kept as */
};

extern const struct hearthi_type hearthi_type_of_bool;
extern const struct hearthi_type hearthi_type_of_count;
extern const struct hearthi_type hearthi_type_of_count_auto;
extern const struct hearthi_type hearthi_type_of_most_auto;
extern const struct hearthi_type hearthi_type_of_size;
extern const struct hearthi_type hearthi_type_of_size_auto;
extern const struct hearthi_type hearthi_type_of_time;
extern const struct hearthi_type hearthi_type_of_time_auto;
extern const struct hearthi_type hearthi_type_of_time_off;
extern const struct hearthi_type hearthi_type_of_report;
extern const struct hearthi_type hearthi_type_of_network;
extern const struct hearthi_type hearthi_type_of_text;
extern const struct hearthi_type hearthi_type_of_consistency;
extern const struct hearthi_type hearthi_type_of_transport;
extern const struct hearthi_type hearthi_type_of_races;
extern const struct hearthi_type hearthi_type_of_fabric;
extern const struct hearthi_type hearthi_type_of_progress;
extern const struct hearthi_type hearthi_type_of_protect;
extern const struct hearthi_type hearthi_type_of_udp_ack;
extern const struct hearthi_type hearthi_type_of_when;
extern const struct hearthi_type hearthi_type_of_udp_local;
extern const struct hearthi_type hearthi_type_of_gateway;
extern const struct hearthi_type hearthi_type_of_checkpoint_at;
extern const struct hearthi_type hearthi_type_of_on_failure;

#endif
