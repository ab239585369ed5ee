/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/filter_parse.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "analyze/filter_lex.h"
#include "base/mem.h"
#include "base/text.h"

struct parse {
	struct filter_lex lex;
	struct filter_token token; /* the one to be looked at */
	struct filter *filter;
	unsigned depth;
};

static int advance(struct parse *p, struct err *e)
{
	return filter_lex_next(&p->lex, &p->token, e);
}

static int expected(const struct parse *p, const char *what, struct err *e)
{
	if (p->token.kind == FILTER_LEX_END)
		return err_set(e, ERR_USAGE, "expected %s at the end", what);
	return err_set(e, ERR_USAGE, "expected %s at character %zu, not '%.*s'", what,
		       p->token.position, (int)(p->token.size < 40 ? p->token.size : 40),
		       p->token.at);
}

static int add_node(struct parse *p, const struct filter_node *node, uint32_t *ret,
		    struct err *e)
{
	struct filter *f = p->filter;

	if (f->nodes.n == FILTER_MAX_NODES)
		return err_set(e, ERR_LIMIT, "more than %d terms", FILTER_MAX_NODES);
	*ret = (uint32_t)f->nodes.n;
	*vec_push(&f->nodes) = *node;
	return 0;
}

static int parse_number(const struct filter_field *field, const char *text, uint64_t *ret,
			struct err *e)
{
	return field->is_time ? text_parse_duration(text, "s", ret, e)
			      : text_parse_u64(text, ret, e);
}

/* "a++++????": no one means it, and some of that takes minutes to compile. */
static bool repeats_repetitions(const char *pattern)
{
	for (const char *s = pattern; *s; s++) {
		size_t n = strspn(s, "+*?");

		/* ".*?" is what users of other regular expressions write. */
		if (n > 2 || (n == 2 && s[0] == '+' && s[1] == '+'))
			return true;
	}
	return false;
}

/* The regex compiler copies what '+' and '{' repeat, so that each of them can double
 * what it needs: "(((a+)+)+)…" and "a{1000}{1000}" would take all memory. */
static bool is_bomb(const char *pattern)
{
	const char *brace = strchr(pattern, '{');
	const char *comma = brace ? strchr(brace, ',') : NULL;
	unsigned n_plus = 0;

	for (const char *s = pattern; *s; s++)
		n_plus += *s == '+';
	return strlen(pattern) > FILTER_MAX_PATTERN || n_plus > FILTER_MAX_PLUS ||
	       repeats_repetitions(pattern) ||
	       (brace && (strchr(brace + 1, '{') || strtoul(brace + 1, NULL, 10) > 64 ||
			  (comma && strtoul(comma + 1, NULL, 10) > 64) || n_plus > 2));
}

static int set_regex(struct filter_node *node, const char *text, struct err *e)
{
	if (!node->field->text)
		return err_set(e, ERR_USAGE, "'%s' is a number: use == != < > or in",
			       node->field->name);
	if (is_bomb(text))
		return err_set(e, ERR_LIMIT, "the pattern is too large");

	own(freep) regex_t *re = xcalloc(1, sizeof(*re));
	int rc = regcomp(re, text, REG_EXTENDED | REG_NOSUB);

	if (rc != 0) {
		char why[100];

		regerror(rc, re, why, sizeof(why));
		return err_set(e, ERR_USAGE, "bad pattern '%.100s': %s", text, why);
	}
	node->regex = steal(&re);
	return 0;
}

/* The numbers for which "x OP value" holds; none when low > high. */
static void set_range(struct filter_node *node, enum filter_token_kind op, uint64_t value)
{
	static const uint64_t max = UINT64_MAX;

	node->has_range = true;
	node->low = op == FILTER_LEX_LT || op == FILTER_LEX_LE ? 0 : value;
	node->high = op == FILTER_LEX_GT || op == FILTER_LEX_GE ? max : value;
	if ((op == FILTER_LEX_LT && value == 0) ||
	    (op == FILTER_LEX_GT && value == max)) {
		node->low = 1;
		node->high = 0;
	} else if (op == FILTER_LEX_LT) {
		node->high--;
	} else if (op == FILTER_LEX_GT) {
		node->low++;
	}
}

static bool has_numbers(const struct filter_field *f)
{
	return f->number || f->is_time || f->scope == FILTER_BY_CPU ||
	       f->scope == FILTER_BY_WEIGHT;
}

static int set_value(struct filter_node *node, enum filter_token_kind op,
		     const char *text, struct err *e)
{
	bool is_equality = op == FILTER_LEX_EQ || op == FILTER_LEX_NE;
	uint64_t value;

	if (op == FILTER_LEX_MATCH || op == FILTER_LEX_NO_MATCH)
		return set_regex(node, text, e);
	if (!is_equality && !has_numbers(node->field))
		return err_set(e, ERR_USAGE, "'%s' is a text: use == != =~ or !~",
			       node->field->name);
	if (is_equality && node->field->text)
		node->text = text;
	if (has_numbers(node->field)) {
		struct err *why = node->text ? NULL : e;
		int rc = parse_number(node->field, text, &value, why);

		if (rc == 0)
			set_range(node, op, value);
		else if (!node->text)
			return rc;
	}
	return 0;
}

static int take_value(struct parse *p, const char **ret, struct err *e)
{
	if (p->token.kind != FILTER_LEX_WORD && p->token.kind != FILTER_LEX_QUOTED)
		return expected(p, "a value", e);
	*ret = arena_strndup(&p->filter->strings, p->token.at, p->token.size);
	return advance(p, e);
}

/* Both ends are optional: "in 1s..", "in ..2s". */
static int take_ends(struct parse *p, const char **from, const char **to, struct err *e)
{
	int rc = 0;

	if (p->token.kind != FILTER_LEX_RANGE)
		rc = take_value(p, from, e);
	if (rc < 0)
		return rc;
	if (p->token.kind != FILTER_LEX_RANGE)
		return expected(p, "'..'", e);
	rc = advance(p, e);
	if (rc == 0 &&
	    (p->token.kind == FILTER_LEX_WORD || p->token.kind == FILTER_LEX_QUOTED))
		rc = take_value(p, to, e);
	if (rc == 0 && !*from && !*to)
		rc = expected(p, "a value", e);
	return rc;
}

/* A time's end is not included, so that ranges that follow each other do not share a
 * sample. */
static int parse_range(struct parse *p, struct filter_node *node, struct err *e)
{
	const char *from = NULL, *to = NULL;
	int rc = take_ends(p, &from, &to, e);

	if (rc < 0)
		return rc;
	if (!has_numbers(node->field))
		return err_set(e, ERR_USAGE, "'%s' is a text: use == != =~ or !~",
			       node->field->name);
	node->has_range = true;
	node->high = UINT64_MAX;
	if (from && (rc = parse_number(node->field, from, &node->low, e)) < 0)
		return rc;
	if (to && (rc = parse_number(node->field, to, &node->high, e)) < 0)
		return rc;

	bool is_open = to && node->field->is_time;

	if (node->low > node->high || (is_open && node->low == node->high))
		return err_set(e, ERR_USAGE, "the range %s..%s is empty",
			       from ? from : "", to);
	if (is_open)
		node->high--;
	return 0;
}

static int unknown_field(const struct filter_token *t, struct err *e)
{
	const struct filter_field *near = filter_field_near(t->at, t->size);
	int n = (int)(t->size < 40 ? t->size : 40);

	if (near)
		return err_set(
			e, ERR_USAGE,
			"unknown field '%.*s' at character %zu: did you mean '%s'?", n,
			t->at, t->position, near->name);
	return err_set(e, ERR_USAGE,
		       "unknown field '%.*s' at character %zu: fields are time, thread, "
		       "process, command, cpu, event, function, leaf, image, file …",
		       n, t->at, t->position);
}

static int parse_test(struct parse *p, uint32_t *ret, struct err *e)
{
	struct filter_node node = { .kind = FILTER_TEST };
	const char *text;

	if (p->token.kind != FILTER_LEX_WORD)
		return expected(p, "a field", e);
	node.field = filter_field_find(p->token.at, p->token.size);
	if (!node.field)
		return unknown_field(&p->token, e);

	int rc = advance(p, e);
	enum filter_token_kind op = p->token.kind;

	if (rc < 0)
		return rc;
	if (op < FILTER_LEX_EQ || op > FILTER_LEX_IN)
		return expected(p, "one of == != =~ !~ < <= > >= in", e);
	node.is_negated = op == FILTER_LEX_NE || op == FILTER_LEX_NO_MATCH;
	if ((rc = advance(p, e)) < 0)
		return rc;
	if (op == FILTER_LEX_IN) {
		rc = parse_range(p, &node, e);
	} else {
		rc = take_value(p, &text, e);
		if (rc == 0)
			rc = set_value(&node, op, text, e);
	}
	if (rc == 0)
		rc = add_node(p, &node, ret, e);
	if (rc < 0 && node.regex) {
		regfree(node.regex);
		free(node.regex);
	}
	return rc;
}

static int parse_or(struct parse *p, uint32_t *ret, struct err *e);

static int parse_group(struct parse *p, uint32_t *ret, struct err *e)
{
	int rc = advance(p, e);

	if (rc == 0)
		rc = parse_or(p, ret, e);
	if (rc == 0 && p->token.kind != FILTER_LEX_CLOSE)
		rc = expected(p, "')'", e);
	return rc == 0 ? advance(p, e) : rc;
}

static int parse_unary(struct parse *p, uint32_t *ret, struct err *e)
{
	int rc;

	if (p->depth >= FILTER_MAX_DEPTH)
		return err_set(e, ERR_LIMIT, "nested deeper than %d", FILTER_MAX_DEPTH);
	p->depth++;
	if (p->token.kind == FILTER_LEX_OPEN) {
		rc = parse_group(p, ret, e);
	} else if (p->token.kind == FILTER_LEX_NOT) {
		struct filter_node node = { .kind = FILTER_NOT };

		rc = advance(p, e);
		if (rc == 0)
			rc = parse_unary(p, &node.left, e);
		if (rc == 0)
			rc = add_node(p, &node, ret, e);
	} else {
		rc = parse_test(p, ret, e);
	}
	p->depth--;
	return rc;
}

/* A chain of terms joined by one operator, grouped to the left. */
static int parse_chain(struct parse *p, enum filter_token_kind token,
		       enum filter_node_kind kind,
		       int (*term)(struct parse *, uint32_t *, struct err *),
		       uint32_t *ret, struct err *e)
{
	int rc = term(p, ret, e);

	while (rc == 0 && p->token.kind == token) {
		struct filter_node node = { .kind = kind, .left = *ret };

		rc = advance(p, e);
		if (rc == 0)
			rc = term(p, &node.right, e);
		if (rc == 0)
			rc = add_node(p, &node, ret, e);
	}
	return rc;
}

static int parse_and(struct parse *p, uint32_t *ret, struct err *e)
{
	return parse_chain(p, FILTER_LEX_AND, FILTER_AND, parse_unary, ret, e);
}

static int parse_or(struct parse *p, uint32_t *ret, struct err *e)
{
	return parse_chain(p, FILTER_LEX_OR, FILTER_OR, parse_and, ret, e);
}

int filter_parse(const char *text, struct filter **ret, struct err *e)
{
	own(filter_freep) struct filter *f = xcalloc(1, sizeof(*f));
	struct parse p = { .lex = { text, text }, .filter = f };
	uint32_t root;
	int rc = advance(&p, e);

	if (rc == 0)
		rc = parse_or(&p, &root, e);
	if (rc == 0 && p.token.kind != FILTER_LEX_END)
		rc = expected(&p, "&& or ||", e);
	if (rc < 0)
		return err_in(e, rc, "filter");
	*ret = steal(&f);
	return 0;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	vec_each(node, &f->nodes) {
		if (node->regex)
			regfree(node->regex);
		free(node->regex);
	}
	vec_fini(&f->nodes);
	arena_fini(&f->strings);
	free(f);
}

void filter_freep(struct filter **f)
{
	filter_free(*f);
}

bool filter_asks_for(const struct filter *f, const char *field)
{
	for (size_t i = 0; i < f->nodes.n; i++)
		if (f->nodes.at[i].kind == FILTER_TEST &&
		    strcmp(f->nodes.at[i].field->name, field) == 0)
			return true;
	return false;
}

bool filter_needs_frames(const struct filter *f)
{
	for (size_t i = 0; i < f->nodes.n; i++)
		if (f->nodes.at[i].kind == FILTER_TEST &&
		    f->nodes.at[i].field->scope >= FILTER_BY_FRAME)
			return true;
	return false;
}
