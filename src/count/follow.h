/* SPDX-License-Identifier: Apache-2.0
 *
 * follow - programs that the program executes in its place.
 *
 * The engine executes itself with the new program's path.  What the kernel gives more
 * rights than the engine, or the engine cannot run, is left alone and noted.
 */
#ifndef DWELL_COUNT_FOLLOW_H
#define DWELL_COUNT_FOLLOW_H

struct context;

/* The engine's own arguments: its name, the counts' prefix, flags, the program's file,
 * its name as it was called, and "--".  An even number, for the stack's alignment. */
#define FOLLOW_WORDS 6

/* In front of the flags: somebody else began to count, and goes on when this one cannot.
 * The other: and the program's path names a descriptor that was opened for it alone. */
#define FOLLOW_FLAG    'f'
#define FOLLOW_FLAG_FD 'F'

/* What the engine was called with. */
void follow_init(const char *prefix, const char *flags);

/* Calls of the program. */
long follow_execve(struct context *c);
long follow_execveat(struct context *c);

#endif
