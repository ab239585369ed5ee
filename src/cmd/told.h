/* SPDX-License-Identifier: Apache-2.0
 *
 * told - what goes wrong again and again is told once: again only after long.
 *
 * Zero-initialise.  One thread.
 */
#ifndef DWELL_CMD_TOLD_H
#define DWELL_CMD_TOLD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Different failures of one trouble; with more of them the oldest is told anew. */
#define TOLD_MAX 8

struct told_once {
	char text[sizeof(((struct err *)0)->text)];
	uint64_t at_ns;	   /* when it was told last */
	uint64_t n_untold; /* times since */
};

struct told {
	struct told_once all[TOLD_MAX];
	size_t n; /* so many were told, the last TOLD_MAX are known */
};

/* Tells it, if that is due: "NAME: TEXT". */
void told_failure(struct told *t, FILE *out, const char *name, const char *text,
		  uint64_t now_ns);
/* It works again: what comes next is told.  Says so when a failure was told of. */
void told_over(struct told *t, FILE *out, const char *name);

#endif
