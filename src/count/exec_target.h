/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_target - what an execve() of the program would execute: of a script the program
 * that interprets it, with the words that come in front of the caller's.
 */
#ifndef DWELL_COUNT_EXEC_TARGET_H
#define DWELL_COUNT_EXEC_TARGET_H

#include <limits.h>

#define EXEC_TARGET_LINE    256 /* as much of a script as the kernel looks at */
#define EXEC_TARGET_SCRIPTS 5	/* whose interpreter is the next one */
#define EXEC_TARGET_WORDS   (2 * EXEC_TARGET_SCRIPTS + 1)

enum exec_verdict {
	EXEC_FOLLOWED,
	EXEC_NATIVE,	      /* a program that cannot be followed */
	EXEC_KERNEL_WILL_SAY, /* no program, and what comes of that */
};

struct exec_target {
	char name[PATH_MAX]; /* as the program is told */
	char path[PATH_MAX]; /* what is to be loaded */
	int fd; /* opened for that path, and to be closed by who loads it; negative: none
		 */
	/* In place of the caller's first word, NULL: it is no script. */
	const char *words[EXEC_TARGET_WORDS + 1];
	unsigned n_words;
	char lines[EXEC_TARGET_SCRIPTS][EXEC_TARGET_LINE + 1];
};

/* By path, as the caller gave it. */
enum exec_verdict exec_target_find(struct exec_target *t, const char *path);

/* Within an open directory, or what is open itself: path is empty. */
enum exec_verdict exec_target_find_at(struct exec_target *t, int fd, const char *path);

#endif
