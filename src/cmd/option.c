/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/option.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"

struct value {
	const struct option_spec *spec;
	char *text;	 /* NULL for a flag, and where none was given */
	uint64_t number; /* of kinds that are numbers */
};

struct options {
	const struct option_spec *const *tables; /* borrowed */
	VEC(struct value) values;
	VEC(char *) operands; /* borrowed from argv, NULL-terminated */
	bool had_dashes;
};

#define SPELL_MAX 80

struct cursor {
	int argc, at;
	char *const *argv;
};

void options_free(struct options *o)
{
	if (!o)
		return;
	vec_each(v, &o->values) {
		free(v->text);
	}
	vec_fini(&o->values);
	vec_fini(&o->operands);
	free(o);
}

void options_freep(struct options **o)
{
	options_free(*o);
}

#define each_spec(s, tables)                                                             \
	for (const struct option_spec *const *t_ = (tables); *t_; t_++)                  \
		for (const struct option_spec *s = *t_; s->name; s++)

static const struct option_spec *find_long(const struct option_spec *const *tables,
					   const char *name, size_t n)
{
	each_spec(s, tables) {
		if (strlen(s->name) == n && memcmp(s->name, name, n) == 0)
			return s;
	}
	return NULL;
}

static const struct option_spec *find_short(const struct option_spec *const *tables,
					    char c)
{
	each_spec(s, tables) {
		if (s->short_name == c)
			return s;
	}
	return NULL;
}

const char *option_nearest(const char *word, const char *const *names)
{
	const char *best = NULL;
	size_t least = strlen(word) / 3 + 2; /* further away it is another word */

	for (; *names; names++) {
		size_t d = text_distance(word, *names);

		/* A word that was merely not finished is nearer than any misspelling. */
		if (strlen(word) >= 2 && text_starts(*names, word))
			d = 0;
		if (d < least) {
			least = d;
			best = *names;
		}
	}
	return best;
}

static int unknown_long(const struct option_spec *const *tables, const char *name,
			struct err *e)
{
	VEC(const char *) names = { 0 };

	each_spec(s, tables) {
		*vec_push(&names) = s->name;
	}
	vec_push(&names);

	const char *best = option_nearest(name, names.at);

	vec_fini(&names);
	if (best)
		return err_set(e, ERR_USAGE,
			       "unknown option '--%.60s'; did you mean '--%s'?", name,
			       best);
	return err_set(e, ERR_USAGE, "unknown option '--%.60s'", name);
}

/* The nth of "a|b|c", or NULL past the end; *n its length. */
static const char *choice_at(const char *choices, size_t nth, size_t *n)
{
	for (const char *s = choices;; s += *n + 1) {
		*n = strcspn(s, "|");
		if (!nth--)
			return s;
		if (!s[*n])
			return NULL;
	}
}

static int check_choice(const struct option_spec *s, const char *text, struct err *e)
{
	struct buf all = { 0 };
	const char *choice;
	size_t n;

	for (size_t i = 0; (choice = choice_at(s->choices, i, &n)); i++) {
		if (strlen(text) == n && memcmp(choice, text, n) == 0) {
			buf_fini(&all);
			return 0;
		}
		buf_puts(&all, i ? ", " : "");
		buf_add(&all, choice, n);
	}

	int rc = err_set(e, ERR_USAGE, "--%s: '%.60s' is not one of %s", s->name, text,
			 buf_str(&all));

	buf_fini(&all);
	return rc;
}

/* "--limit (-n)": as it may have been typed. */
static char *spell(char *text, size_t cap, const struct option_spec *s)
{
	int n = snprintf(text, cap, "--%s", s->name);

	if (s->short_name)
		snprintf(text + n, cap - (size_t)n, " (-%c)", s->short_name);
	return text;
}

/* A limit as the user would have written it. */
static char *show_number(char *text, const struct option_spec *s, uint64_t v)
{
	if (s->kind == OPTION_DURATION)
		return text_duration(text, v);
	if (s->kind == OPTION_SIZE)
		return text_size(text, v);
	snprintf(text, TEXT_MAX, "%" PRIu64, v);
	return text;
}

static int check_range(const struct option_spec *s, uint64_t v, struct err *e)
{
	char limit[TEXT_MAX], name[SPELL_MAX];

	if (v < s->min && s->min == 1)
		return err_set(e, ERR_USAGE, "%s: must be more than 0",
			       spell(name, sizeof(name), s));
	if (v < s->min)
		return err_set(e, ERR_USAGE, "%s: must be at least %s",
			       spell(name, sizeof(name), s),
			       show_number(limit, s, s->min));
	if (s->max && v > s->max)
		return err_set(e, ERR_USAGE, "%s: must be at most %s",
			       spell(name, sizeof(name), s),
			       show_number(limit, s, s->max));
	return 0;
}

static int parse_value(const struct option_spec *s, const char *text, uint64_t *number,
		       struct err *e)
{
	char where[SPELL_MAX];
	int rc;

	switch (s->kind) {
	case OPTION_U64:
		rc = text_parse_u64(text, number, e);
		break;
	case OPTION_DURATION:
		rc = text_parse_duration(text, s->unit, number, e);
		break;
	case OPTION_SIZE:
		rc = text_parse_size(text, number, e);
		break;
	case OPTION_CHOICE:
		return check_choice(s, text, e);
	default:
		return 0;
	}
	if (rc < 0)
		return err_in(e, rc, spell(where, sizeof(where), s));
	return check_range(s, *number, e);
}

static void push_text(struct options *o, const struct option_spec *s, const char *text,
		      size_t n)
{
	*vec_push(&o->values) = (struct value){ .spec = s, .text = xstrndup(text, n) };
}

/* Up to the next comma; those between slashes, as "cpu/event=1,umask=2/", part nothing.
 * Behind a colon slashes are a path's, as in "trigger:uprobe:/bin/true:main", and in
 * front of one the last is, as in "lib/a.so:f". */
static bool has_end(const char *text)
{
	return text[strcspn(text, ":/")] == '/';
}

static size_t item_length(const char *text)
{
	bool is_within = false, is_path = false;
	size_t n = 0;

	for (; text[n] && (is_within || text[n] != ','); n++) {
		is_path |= text[n] == ':' && !is_within;
		if (text[n] == '/' && !is_path)
			is_within = !is_within && has_end(text + n + 1);
	}
	return n;
}

static int push_list(struct options *o, const struct option_spec *s, const char *text,
		     struct err *e)
{
	for (;; text++) {
		size_t n = item_length(text);

		if (!n)
			return err_set(e, ERR_USAGE, "--%s: an empty %s", s->name,
				       s->arg);
		push_text(o, s, text, n);
		text += n;
		if (!*text)
			return 0;
	}
}

static int take_value(struct options *o, const struct option_spec *s, const char *text,
		      struct err *e)
{
	uint64_t number = 0;
	int rc = parse_value(s, text, &number, e);

	if (rc < 0)
		return rc;
	if (s->kind == OPTION_LIST)
		return push_list(o, s, text, e);
	push_text(o, s, text, strlen(text));
	o->values.at[o->values.n - 1].number = number;
	return 0;
}

static void drop_values(struct options *o, const struct option_spec *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->values.n; i++) {
		if (o->values.at[i].spec == s)
			free(o->values.at[i].text);
		else
			o->values.at[kept++] = o->values.at[i];
	}
	o->values.n = kept;
}

/* "--no-NAME" takes back what was given before; true when the word is one. */
static bool take_negative(struct options *o, const char *name, size_t n)
{
	const struct option_spec *s = NULL;

	if (n > 3 && text_starts(name, "no-"))
		s = find_long(o->tables, name + 3, n - 3);
	if (s)
		drop_values(o, s);
	return s != NULL;
}

/* The value of an option that needs one: attached, or the next word. */
static int value_of(struct options *o, const struct option_spec *s, const char *attached,
		    struct cursor *c, struct err *e)
{
	char name[SPELL_MAX];

	if (!attached && c->at < c->argc)
		attached = c->argv[c->at++];
	if (!attached)
		return err_set(e, ERR_USAGE, "%s needs %s", spell(name, sizeof(name), s),
			       s->arg ? s->arg : "a value");
	return take_value(o, s, attached, e);
}

static int parse_long(struct options *o, const char *word, struct cursor *c,
		      struct err *e)
{
	size_t n = strcspn(word, "=");
	const char *attached = word[n] ? word + n + 1 : NULL;
	const struct option_spec *s = find_long(o->tables, word, n);

	if (!s && !attached && take_negative(o, word, n))
		return 0;
	if (!s) {
		own(freep) char *name = xstrndup(word, n);

		return unknown_long(o->tables, name, e);
	}
	if (s->kind != OPTION_FLAG && (attached || !s->is_optional))
		return value_of(o, s, attached, c, e);
	if (attached)
		return err_set(e, ERR_USAGE, "--%s takes no value", s->name);
	*vec_push(&o->values) = (struct value){ .spec = s };
	return 0;
}

/* "-v", "-qv", "-i1ms", "-i 1ms", "-qi1ms". */
static int parse_short(struct options *o, const char *word, struct cursor *c,
		       struct err *e)
{
	for (; *word; word++) {
		const struct option_spec *s = find_short(o->tables, *word);
		char safe[16];

		if (!s)
			return err_set(
				e, ERR_USAGE, "unknown option '-%s'",
				text_printable(safe, sizeof(safe), (char[]){ *word, 0 }));
		if (s->kind != OPTION_FLAG)
			return value_of(o, s, word[1] ? word + 1 : NULL, c, e);
		*vec_push(&o->values) = (struct value){ .spec = s };
	}
	return 0;
}

static int parse_word(struct options *o, char *word, struct cursor *c, struct err *e)
{
	if (text_starts(word, "--"))
		return parse_long(o, word + 2, c, e);
	if (word[0] == '-' && word[1])
		return parse_short(o, word + 1, c, e);
	*vec_push(&o->operands) = word;
	return 0;
}

int options_parse(const struct option_spec *const *tables, bool stop_early, int argc,
		  char *const *argv, struct options **ret, struct err *e)
{
	own(options_freep) struct options *o = xcalloc(1, sizeof(*o));
	struct cursor c = { .argc = argc, .at = 1, .argv = argv };

	o->tables = tables;
	while (c.at < argc && !(stop_early && o->operands.n)) {
		char *word = argv[c.at++];

		if (strcmp(word, "--") == 0) {
			o->had_dashes = true;
			break;
		}

		int rc = parse_word(o, word, &c, e);

		if (rc < 0)
			return rc;
	}
	while (c.at < argc)
		*vec_push(&o->operands) = argv[c.at++];
	vec_reserve(&o->operands, o->operands.n + 1);
	o->operands.at[o->operands.n] = NULL;
	*ret = steal(&o);
	return 0;
}

bool options_knows(const struct options *o, const char *name)
{
	return find_long(o->tables, name, strlen(name)) != NULL;
}

/* The nth value of an option, or NULL. */
static const struct value *nth_value(const struct options *o, const char *name,
				     size_t nth)
{
	const struct option_spec *s = find_long(o->tables, name, strlen(name));

	assert(s);
	for (size_t i = 0; i < o->values.n; i++)
		if (o->values.at[i].spec == s && !nth--)
			return &o->values.at[i];
	return NULL;
}

size_t options_count(const struct options *o, const char *name)
{
	size_t n = 0;

	while (nth_value(o, name, n))
		n++;
	return n;
}

/* When an option is repeated the last word counts. */
static const struct value *last_value(const struct options *o, const char *name)
{
	size_t n = options_count(o, name);

	return n ? nth_value(o, name, n - 1) : NULL;
}

bool options_has(const struct options *o, const char *name)
{
	return nth_value(o, name, 0);
}

const char *options_str(const struct options *o, const char *name)
{
	const struct value *v = last_value(o, name);

	return v ? v->text : NULL;
}

uint64_t options_u64(const struct options *o, const char *name, uint64_t otherwise)
{
	const struct value *v = last_value(o, name);

	return v ? v->number : otherwise;
}

const char *options_at(const struct options *o, const char *name, size_t i)
{
	const struct value *v = nth_value(o, name, i);

	return v ? v->text : NULL;
}

const char **options_list(const struct options *o, const char *name)
{
	size_t n = options_count(o, name);
	const char **list = NULL;

	if (!n)
		return NULL;
	list = xcalloc(n + 1, sizeof(*list));
	for (size_t i = 0; i < n; i++)
		list[i] = options_at(o, name, i);
	return list;
}

int options_argc(const struct options *o)
{
	return (int)o->operands.n;
}

char *const *options_argv(const struct options *o)
{
	return o->operands.at;
}

bool options_had_dashes(const struct options *o)
{
	return o->had_dashes;
}
