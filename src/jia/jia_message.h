/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The end of JIAJIA's messages.
 */
#ifndef HEARTHI_JIA_MESSAGE_H
#define HEARTHI_JIA_MESSAGE_H

/* Messages that nobody received must not hold up the end: take them, until
 * every host's own have gone.  Collective. */
void hearthi_jia_messages_close(void);

#endif
