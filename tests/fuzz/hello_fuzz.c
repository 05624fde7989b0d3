/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way to the hello of another gateway (fuzz.sh): what is read of
 * one can be written and read again, and is compared with a hello of this side
 * by one line.
 */
#include <string.h>

#include "fuzz.h"
#include "link/gateway_hello.h"

static void
again(const struct hearthi_gateway_hello *h)
{
    static char                  out[HEARTHI_HELLO_MAX + 1];
    struct hearthi_gateway_hello same;
    size_t len = hearthi_gateway_hello_write(h, out, sizeof out);

    if (len == 0)
        return;
    must(hearthi_gateway_hello_read(&same, out, len));
    must(same.cluster == h->cluster && same.conn == h->conn);
    must(same.job == h->job && same.got == h->got);
    must(strcmp(same.name, h->name) == 0);
    must(strcmp(same.agree, h->agree) == 0);
    must(strcmp(same.tell, h->tell) == 0);
}

static void
compare(const struct hearthi_gateway_hello *theirs)
{
    static const struct hearthi_gateway_hello mine = {
        .name = "here",
        .agree = "hearth=0.1\nranks=here:2,there:3\nHEARTH_HEAP=1g",
        .tell = ""
    };
    struct hearthi_link_error wrong = { "" };

    must(hearthi_gateway_hello_agree(theirs, theirs, &wrong) ||
         wrong.text[0] != '\0');
    if (!hearthi_gateway_hello_agree(&mine, theirs, &wrong))
        must(strlen(wrong.text) < sizeof wrong.text &&
             strncmp(wrong.text, "clusters here and ", 18) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hearthi_gateway_hello h = { .name = "" };
    char                        *text = malloc(len + 1);

    must(text != NULL);
    memcpy(text, data, len);
    if (hearthi_gateway_hello_read(&h, text, len)) {
        must(memchr(h.name, '\0', sizeof h.name) != NULL);
        must(h.agree >= text && h.tell >= h.agree && h.tell <= text + len);
        again(&h);
        compare(&h);
    }
    free(text);
    return 0;
}
