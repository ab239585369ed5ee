/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Ends the word at *s and removes its quotes; returns where the next may begin. */
static char *end_word(char *s)
{
	bool is_quoted = false;
	char *to = s;

	for (; *s && (is_quoted || !isspace((unsigned char)*s)); s++) {
		if (*s == '"')
			is_quoted = !is_quoted;
		else
			*to++ = *s;
	}

	char *next = *s ? s + 1 : s;

	*to = '\0';
	return next;
}

struct words words_split(const char *line)
{
	struct words w = { .line = xstrdup(line) };
	char *s = w.line;

	while (w.n < WORDS_MAX) {
		while (isspace((unsigned char)*s))
			s++;
		if (!*s)
			break;
		w.at[w.n++] = s;
		s = end_word(s);
	}
	return w;
}

void words_fini(struct words *w)
{
	free(w->line);
	*w = (struct words){ 0 };
}

/* A pair begins with a lower-case key: "a=b", but neither "=x" nor "f(int)=". */
static const char *pair_value(const char *word)
{
	const char *s = word;

	while (islower((unsigned char)*s) || *s == '-')
		s++;
	return s > word && *s == '=' ? s + 1 : NULL;
}

const char *words_plain(const struct words *w, unsigned i)
{
	for (unsigned k = 0; k < w->n; k++)
		if (!pair_value(w->at[k]) && i-- == 0)
			return w->at[k];
	return "";
}

const char *words_value(const struct words *w, const char *key)
{
	size_t n = strlen(key);

	for (unsigned i = 0; i < w->n; i++) {
		const char *value = pair_value(w->at[i]);

		if (value && (size_t)(value - w->at[i]) == n + 1 &&
		    strncmp(w->at[i], key, n) == 0)
			return value;
	}
	return NULL;
}

const char *words_text(const struct words *w, const char *key, const char *otherwise)
{
	const char *value = words_value(w, key);

	return value ? value : otherwise;
}

uint64_t words_number(const struct words *w, const char *key, uint64_t otherwise)
{
	const char *value = words_value(w, key);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

bool words_has(const struct words *w, const char *flag)
{
	for (unsigned i = 0; i < w->n; i++)
		if (strcmp(w->at[i], flag) == 0)
			return true;
	return false;
}

const char *words_rest(const char *line, unsigned i)
{
	for (;; i--) {
		line += strspn(line, " \t");
		if (!i)
			return line;
		line += strcspn(line, " \t");
	}
}

int words_pick(const char *const *words, size_t n, const char *what, const char *word,
	       uint32_t *ret, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i], word) == 0) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	return err_set(e, ERR_USAGE, "no %s is called '%s'", what, word);
}
