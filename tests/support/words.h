/* SPDX-License-Identifier: Apache-2.0
 *
 * words - a line of a test specification cut into words and key=value pairs.
 *
 * "…" keeps blanks in a word or a value.  Owns a copy of the line.
 */
#ifndef DWELL_SUPPORT_WORDS_H
#define DWELL_SUPPORT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define WORDS_MAX 64

struct words {
	char *line;
	char *at[WORDS_MAX];
	unsigned n;
};

struct words words_split(const char *line);
void words_fini(struct words *w);
/* The i-th word that is no key=value pair, or "". */
const char *words_plain(const struct words *w, unsigned i);
/* The value of key=value, or NULL. */
const char *words_value(const struct words *w, const char *key);
const char *words_text(const struct words *w, const char *key, const char *otherwise);
uint64_t words_number(const struct words *w, const char *key, uint64_t otherwise);
/* Which of so many words it is; what they are, for who reads the refusal. */
int words_pick(const char *const *words, size_t n, const char *what, const char *word,
	       uint32_t *ret, struct err *e);
bool words_has(const struct words *w, const char *flag);
/* The line from its i-th word on, as written. */
const char *words_rest(const char *line, unsigned i);

#endif
