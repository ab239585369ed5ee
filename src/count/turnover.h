/* SPDX-License-Identifier: Apache-2.0
 *
 * turnover - all that is known of the program's code is forgotten when its tables are
 * nearly full, and counting goes on in another file; or when translations are found to
 * have been too lax, or to stand for code that is another by now.
 *
 * So programs that make code for ever need no memory without end.  All threads come to
 * rest meanwhile: those in translated code leave their blocks, those in system calls stay
 * there.  Where they do not come within some time, as they block all signals, nothing
 * happens, and it is tried again later.
 */
#ifndef DWELL_COUNT_TURNOVER_H
#define DWELL_COUNT_TURNOVER_H

#include <stdbool.h>

struct context;
struct roll_state;
struct signal_info;

/* The lock is held: whether the thread, which is about to go on in translated code, has
 * to come to turnover_rest() before. */
bool turnover_is_due(void);

/* Translations are wrong, and cannot be led elsewhere: there is to be one soon. */
void turnover_ask(void);

/* The lock is held: no thread, the own one included, is in translated code, or will be
 * before it has had the lock. */
bool turnover_all_rest(void);

/* At s, in translated code, with the lock held, which others have meanwhile.  It goes on
 * there; s is another place then, perhaps. */
void turnover_rest(struct context *c, struct roll_state *s);

/* The same of a thread in the engine, on its way to code. */
const void *turnover_before(struct context *c, const void *code);

/* A signal that is sent to threads in translated code. */
bool turnover_is_call(const struct signal_info *info);

/* The lock is held: there was a turnover while the thread was in the kernel. */
bool turnover_was(struct context *c);

#endif
