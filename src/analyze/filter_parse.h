/* SPDX-License-Identifier: Apache-2.0
 *
 * filter_parse - the parsed form of a filter expression.
 *
 * Nodes of a tree in one array; children come before their parent, the last node is
 * the root.  Every test is either a range of numbers or a text.
 */
#ifndef DWELL_ANALYZE_FILTER_PARSE_H
#define DWELL_ANALYZE_FILTER_PARSE_H

#include <regex.h>

#include "analyze/filter_field.h"
#include "base/arena.h"
#include "base/vec.h"

#define FILTER_MAX_DEPTH   32
#define FILTER_MAX_NODES   256
#define FILTER_MAX_PATTERN 200
#define FILTER_MAX_PLUS	   8 /* '+' in one pattern */

enum filter_node_kind { FILTER_AND, FILTER_OR, FILTER_NOT, FILTER_TEST };

struct filter_node {
	enum filter_node_kind kind;
	uint32_t left, right; /* of AND, OR; NOT has left */

	const struct filter_field *field; /* of a test */
	bool is_negated;		  /* != and !~ */
	const char *text;		  /* equal to this, or NULL */
	regex_t *regex;			  /* matches this, or NULL */
	bool has_range;
	uint64_t low, high; /* the range, both ends included */
};

struct filter {
	VEC(struct filter_node) nodes;
	struct arena strings;
};

#endif
