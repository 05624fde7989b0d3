/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Run-time options: one struct, filled once from HEARTH_* by rank 0.  It
 * holds no pointers, so rank 0 broadcasts the bytes and the ranks cannot
 * disagree.
 */
#ifndef HEARTHI_OPTION_H
#define HEARTHI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum hearthi_consistency { HEARTHI_RELEASE, HEARTHI_SCOPE };
enum hearthi_fabric_kind { HEARTHI_FABRIC_MPI, HEARTHI_FABRIC_SHM };
enum hearthi_transport { HEARTHI_TRANSPORT_MPI, HEARTHI_TRANSPORT_UDP };
enum hearthi_udp_acks { HEARTHI_ACK_ALL, HEARTHI_ACK_PAGE, HEARTHI_ACK_NONE };
enum hearthi_when { HEARTHI_WHEN_AUTO, HEARTHI_WHEN_ON, HEARTHI_WHEN_OFF };
enum hearthi_checkpoint_at { HEARTHI_AT_CALL, HEARTHI_AT_BARRIER };
enum hearthi_on_failure { HEARTHI_FAILURE_ENDS, HEARTHI_FAILURE_RESTARTS };
enum hearthi_gateway_kind { HEARTHI_GATEWAY_THREAD, HEARTHI_GATEWAY_RANK };
enum hearthi_udp_local { HEARTHI_LOCAL_SHM, HEARTHI_LOCAL_UDP };
enum hearthi_report {
    HEARTHI_STATS_NO,
    HEARTHI_STATS_YES,
    HEARTHI_STATS_JSON
};
enum hearthi_protect {
    HEARTHI_PROTECT_AUTO,
    HEARTHI_PROTECT_MPROTECT,
    HEARTHI_PROTECT_USERFAULTFD
};
enum hearthi_races_mode { HEARTHI_RACES_OFF, HEARTHI_RACES_WRITES };
enum hearthi_progress { HEARTHI_AUTO, HEARTHI_THREAD, HEARTHI_NONE };

/* Bounds of HEARTH_DIFF_DEPTH and HEARTH_DIFF_PACK. */
enum { HEARTHI_DIFF_DEPTH_MAX = 32, HEARTHI_DIFF_PACK_MIN = 1024 };

/* Most bytes of a file's name, and of any value as text, with the 0. */
enum { HEARTHI_FILE_MAX = 1024, HEARTHI_VALUE_MAX = HEARTHI_FILE_MAX + 16 };

enum { HEARTHI_NETWORK_MAX = 256 };

/* Most of HEARTH_LOCKS, HEARTH_FETCH_AHEAD, HEARTH_UDP_DATAGRAM and
 * HEARTH_PAGE_SIZE. */
enum {
    HEARTHI_LOCKS_MAX = 1 << 24,
    HEARTHI_FETCH_MAX = 1 << 20,
    HEARTHI_DATAGRAM_MAX = 61488,
    HEARTHI_PAGE_MAX = 1 << 30
};

#define HEARTHI_AUTO_MOST SIZE_MAX

/* What a value of each type of option.def is kept in. */
typedef bool   hearthi_type_bool;
typedef size_t hearthi_type_count;
typedef size_t hearthi_type_count_auto; /* 0 is "auto" */
typedef size_t hearthi_type_most_auto;  /* HEARTHI_AUTO_MOST is */
typedef size_t hearthi_type_size;
typedef size_t hearthi_type_size_auto; /* 0 is "auto" */
typedef size_t hearthi_type_time;      /* nanoseconds */
typedef size_t hearthi_type_time_auto; /* 0 is "auto" */
typedef size_t hearthi_type_time_off;  /* 0 is "off" */
typedef struct hearthi_type_report {
    enum hearthi_report how;
    char                file[HEARTHI_FILE_MAX]; /* of JSON, or empty */
} hearthi_type_report;
typedef struct hearthi_type_network {
    char list[HEARTHI_NETWORK_MAX];
} hearthi_type_network;
typedef struct hearthi_type_text {
    char text[HEARTHI_FILE_MAX]; /* or empty */
} hearthi_type_text;
typedef int hearthi_type_consistency;
typedef int hearthi_type_transport;
typedef int hearthi_type_races;
typedef int hearthi_type_fabric;
typedef int hearthi_type_protect;
typedef int hearthi_type_progress;
typedef int hearthi_type_udp_ack;
typedef int hearthi_type_when;
typedef int hearthi_type_udp_local;
typedef int hearthi_type_gateway;
typedef int hearthi_type_checkpoint_at;
typedef int hearthi_type_on_failure;

struct hearthi_options {
#define OPTION(type, field, env, def, help) hearthi_type_##type field;
#include "option.def"
#undef OPTION
};

/* The options of this process; not valid before they are loaded. */
extern struct hearthi_options hearthi_opt;

/* Is each page's diff sent by itself, and waited for before the next is made?
 */
static inline bool
hearthi_diffs_one_by_one(void)
{
    return hearthi_opt.diff_depth == 1 && hearthi_opt.diff_pack != 0 &&
           hearthi_opt.diff_pack <= hearthi_opt.page_size;
}

/* HEARTH_FETCH_AHEAD in pages.  What a fault may fetch in vain, and what it
 * waits for, is bytes: auto is 2 MiB of them, and of very long pages one
 * beside that which was touched. */
static inline size_t
hearthi_fetch_ahead(void)
{
    const size_t bytes = 2 << 20, page = hearthi_opt.page_size;

    if (hearthi_opt.fetch_ahead != HEARTHI_AUTO_MOST)
        return hearthi_opt.fetch_ahead;
    return bytes / page > 2 ? bytes / page : 2;
}

/* Source of raw values: getenv in production, a table in tests. */
typedef char *hearthi_getter(const char *name);

/* Fill *opt from get().  Returns true, or false with the reason in why: one
 * line that names the variable, its value and what is accepted. */
bool hearthi_options_load(struct hearthi_options *opt, hearthi_getter *get,
                          char *why, size_t room);

/* Where the page size is auto it is this from now on: the largest system page
 * of all machines.  False as above if it does not go with other options. */
bool hearthi_options_page(struct hearthi_options *opt, size_t least, char *why,
                          size_t room);

/* Fill hearthi_opt from the environment; a bad value ends the job, a
 * HEARTH_ name that no option claims gives a warning.  For rank 0. */
void hearthi_options_from_env(void);

/* Warn of HEARTH_ names that no option claims; returns how many. */
int hearthi_options_unknown(char *const *envp);

/* The variable whose name is most like this one (not NULL). */
const char *hearthi_option_nearest(const char *name, size_t len);

/* The value in hearthi_opt of an option named as in option.def ("heap"), as
 * the user would type it.  NULL if there is no such option.  The text is
 * valid until the next call on the same thread. */
const char *hearthi_option_text(const char *field);

/* The name of the i-th variable, and its value as above; NULL behind the last.
 */
const char *hearthi_option_at(size_t i, char *value, size_t room);

/* Every option: name, value, default and meaning. */
enum hearthi_format { HEARTHI_TEXT, HEARTHI_ROFF };
void hearthi_options_describe(FILE *out, enum hearthi_format format);

/* Text with what roff would take for its own escaped. */
void hearthi_roff_text(FILE *out, const char *text);

#endif
