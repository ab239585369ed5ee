/* SPDX-License-Identifier: Apache-2.0
 *
 * filter_lex - a filter expression cut into tokens.
 *
 * A token points into the text; a quoted one without its quotes.  Positions count
 * characters from 1, as the messages do.
 */
#ifndef DWELL_ANALYZE_FILTER_LEX_H
#define DWELL_ANALYZE_FILTER_LEX_H

#include <stddef.h>

#include "base/err.h"
#include "base/own.h"

enum filter_token_kind {
	FILTER_LEX_END,
	FILTER_LEX_WORD,
	FILTER_LEX_QUOTED,
	FILTER_LEX_OPEN,
	FILTER_LEX_CLOSE,
	FILTER_LEX_AND,
	FILTER_LEX_OR,
	FILTER_LEX_NOT,
	FILTER_LEX_RANGE, /* .. */
	FILTER_LEX_EQ,
	FILTER_LEX_NE,
	FILTER_LEX_LT,
	FILTER_LEX_LE,
	FILTER_LEX_GT,
	FILTER_LEX_GE,
	FILTER_LEX_MATCH,
	FILTER_LEX_NO_MATCH,
	FILTER_LEX_IN,
};

struct filter_token {
	enum filter_token_kind kind;
	const char *at;
	size_t size;
	size_t position;
};

struct filter_lex {
	const char *start, *at;
};

must_use int filter_lex_next(struct filter_lex *l, struct filter_token *ret,
			     struct err *e);

#endif
