/* SPDX-License-Identifier: Apache-2.0
 *
 * release - threads leave the engine, and go on natively.
 *
 * The recorder stops a thread, and leads it here if it was in translated code; in the
 * engine's own it comes by itself on its way out.  Here it is brought to the program's
 * next instruction, where the recorder takes it away.  If that does not come, having
 * been killed, the thread goes on as before; or natively, if another may do so already.
 * Those that return do with the code to go on with: crossing.S.
 */
#ifndef DWELL_COUNT_RELEASE_H
#define DWELL_COUNT_RELEASE_H

struct context;

/* On its way into translated code. */
const void *release_at_rest(struct context *c);

/* Anywhere in translated code: c->leave.native, with signals blocked. */
const void *release_interrupted(struct context *c);

/* All threads are away, and this one undoes what is the process's. */
const void *release_finish(struct context *c);

/* And then each what is its own, not on its stack for signals. */
const void *release_aside(struct context *c);

/* Both, by the only thread, and there is no way back. */
void release_last(const struct context *c);

#endif
