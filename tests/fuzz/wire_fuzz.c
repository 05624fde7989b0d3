/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libFuzzer's way into the decoder (fuzz.sh).
 */
#include "fuzz.h"
#include "wire.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hearthi_udp_message m;

    if (hearthi_udp_decode(data, len, &wire_limits, &m) == HEARTHI_UDP_GOOD &&
        !wire_holds(&m, data, len))
        abort();
    return 0;
}
