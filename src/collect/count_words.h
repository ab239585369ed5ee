/* SPDX-License-Identifier: Apache-2.0
 *
 * count_words - what is executed so that the counting engine runs a program.
 *
 * The engine wants to be told the file: it is looked for as execvp(3) does, and scripts
 * are run by what they name.
 */
#ifndef DWELL_COLLECT_COUNT_WORDS_H
#define DWELL_COLLECT_COUNT_WORDS_H

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"

/* NULL-terminated; owned.  Zero-initialise. */
struct count_words {
	VEC(char *) at;
};

void count_words_fini(struct count_words *w);
/* flags: wire/count_flags.h.  argv behind the engine's own arguments; search: the
 * program's PATH or NULL.  ERR_OS as execvp(3) would fail. */
must_use int count_words_make(struct count_words *w, const char *engine,
			      const char *prefix, const char *flags, char *const *argv,
			      const char *search, struct err *e);
/* Why a program that is to be run cannot be counted. */
must_use int count_words_check(const char *program, const char *search, struct err *e);

#endif
