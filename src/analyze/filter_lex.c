/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/filter_lex.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Longer ones before their beginnings. */
static const struct {
	const char *text;
	enum filter_token_kind kind;
} marks[] = {
	{ "&&", FILTER_LEX_AND },   { "||", FILTER_LEX_OR },
	{ "==", FILTER_LEX_EQ },    { "=~", FILTER_LEX_MATCH },
	{ "!=", FILTER_LEX_NE },    { "!~", FILTER_LEX_NO_MATCH },
	{ "<=", FILTER_LEX_LE },    { ">=", FILTER_LEX_GE },
	{ "..", FILTER_LEX_RANGE }, { "<", FILTER_LEX_LT },
	{ ">", FILTER_LEX_GT },	    { "=", FILTER_LEX_EQ },
	{ "!", FILTER_LEX_NOT },    { "(", FILTER_LEX_OPEN },
	{ ")", FILTER_LEX_CLOSE },
};

static const struct {
	const char *text;
	enum filter_token_kind kind;
} words[] = {
	{ "and", FILTER_LEX_AND },
	{ "or", FILTER_LEX_OR },
	{ "not", FILTER_LEX_NOT },
	{ "in", FILTER_LEX_IN },
};

static bool ends_word(const char *s)
{
	return !*s || strchr(" \t\n()!=<>&|\"'", *s) || (s[0] == '.' && s[1] == '.');
}

static int lex_quoted(struct filter_lex *l, struct filter_token *ret, struct err *e)
{
	char quote = *l->at;
	const char *end = strchr(l->at + 1, quote);

	if (!end)
		return err_set(e, ERR_USAGE, "the quote at character %zu is not closed",
			       ret->position);
	ret->kind = FILTER_LEX_QUOTED;
	ret->at = l->at + 1;
	ret->size = (size_t)(end - ret->at);
	l->at = end + 1;
	return 0;
}

static bool lex_mark(struct filter_lex *l, struct filter_token *ret)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t n = strlen(marks[i].text);

		if (strncmp(l->at, marks[i].text, n) != 0)
			continue;
		ret->kind = marks[i].kind;
		ret->size = n;
		l->at += n;
		return true;
	}
	return false;
}

static void lex_word(struct filter_lex *l, struct filter_token *ret)
{
	while (!ends_word(l->at))
		l->at++;
	ret->kind = FILTER_LEX_WORD;
	ret->size = (size_t)(l->at - ret->at);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].text) == ret->size &&
		    strncasecmp(ret->at, words[i].text, ret->size) == 0)
			ret->kind = words[i].kind;
}

int filter_lex_next(struct filter_lex *l, struct filter_token *ret, struct err *e)
{
	while (*l->at && strchr(" \t\n", *l->at))
		l->at++;
	*ret = (struct filter_token){ .kind = FILTER_LEX_END,
				      .at = l->at,
				      .position = (size_t)(l->at - l->start) + 1 };
	if (!*l->at)
		return 0;
	if (*l->at == '"' || *l->at == '\'')
		return lex_quoted(l, ret, e);
	if (lex_mark(l, ret))
		return 0;
	if (*l->at == '&' || *l->at == '|')
		return err_set(e, ERR_USAGE,
			       "a single '%c' at character %zu: write '%c%c'", *l->at,
			       ret->position, *l->at, *l->at);
	lex_word(l, ret);
	return 0;
}
