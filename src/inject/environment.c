/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/environment.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "bare/sys.h"
#include "inject/environment_read.h"
#include "wire/preload.h"

/* The value in "NAME=value" when it is that name. */
static char *value_of(char *entry, const char *name)
{
	size_t n = strlen(name);

	return memcmp(entry, name, n < strlen(entry) ? n : strlen(entry)) == 0 &&
			       strlen(entry) > n && entry[n] == '='
		       ? entry + n + 1
		       : NULL;
}

const char *environment_get(char **env, const char *name)
{
	for (; env && *env; env++) {
		const char *v = value_of(*env, name);

		if (v)
			return v;
	}
	return NULL;
}

/* More is no environment that execve takes. */
#define INITIAL_BYTES (UINT64_C(4) << 20)

static size_t read_initial(char *text)
{
	int fd = sys_open("/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
	size_t n = 0;
	long got = 1;

	while (fd >= 0 && got > 0 && n < INITIAL_BYTES - 1) {
		got = sys_read(fd, text + n, INITIAL_BYTES - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		sys_close(fd);
	return n;
}

bool environment_initial(const char *name, char *ret, size_t cap)
{
	char *text = sys_map(INITIAL_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	size_t n = text ? read_initial(text) : 0;
	bool is_found = false;

	for (size_t at = 0; at < n && !is_found; at += strlen(text + at) + 1) {
		const char *v = value_of(text + at, name);

		is_found = v && strlen(v) < cap;
		if (is_found)
			memcpy(ret, v, strlen(v) + 1);
	}
	if (text)
		sys_unmap(text, INITIAL_BYTES);
	return is_found;
}

/* Take the entry below the directory out; false when nothing is left of the list. */
static bool cut_entry(char *list, const char *directory)
{
	const char *end, *entry = wire_preload_find(list, directory, &end);
	char *at = entry ? list + (entry - list) : NULL;

	if (!at)
		return true;
	if (*end) {
		memmove(at, end + 1, strlen(end + 1) + 1);
		return true;
	}
	while (at > list && wire_preload_separates(at[-1]))
		at--;
	*at = 0;
	return at > list;
}

/* False when nothing is left of the options. */
static bool cut_order(char *options)
{
	const size_t n_ours = sizeof(WIRE_PRELOAD_ANY_ORDER) - 1;
	size_t n = strlen(options);

	if (n < n_ours ||
	    memcmp(options + n - n_ours, WIRE_PRELOAD_ANY_ORDER, n_ours) != 0)
		return true;
	n -= n_ours;
	options[n ? n - 1 : 0] = 0; /* a colon was put before it */
	return n != 0;
}

/* What the kernel tells a program lies behind the environment, where some look for it (Go
 * does): up to there nothing is told, be it by entries that say so.  Of an odd number of
 * pointers there are none such, and what is told ends at once; who finds that asks the
 * kernel. */
static void end_at(char **to, char **end)
{
	bool is_even = (end - to) % 2 == 0;

	*to = NULL;
	for (char **at = to + 1; at < end; at += 2) {
		at[0] = is_even ? (char *)(uintptr_t)AT_IGNORE : NULL;
		at[1] = NULL;
	}
}

void environment_forget(char **env, const char *name, const char *directory)
{
	char **to = env;

	for (; *env; env++) {
		char *preload = value_of(*env, WIRE_PRELOAD_LIST);
		char *options = value_of(*env, WIRE_PRELOAD_OPTIONS);

		if (value_of(*env, name) || (preload && !cut_entry(preload, directory)) ||
		    (options && !cut_order(options)))
			continue;
		*to++ = *env;
	}
	end_at(to, env);
}

/* Nobody who is about to execute something needs to have more room. */
#define BYTES_MAX 32768

/* Pieces of a text, one behind the other. */
struct text {
	char *at; /* NULL: only how many bytes there are */
	size_t n, cap;
};

static void put(struct text *t, const char *piece)
{
	size_t n = strlen(piece);

	if (t->at && t->n + n < t->cap)
		memcpy(t->at + t->n, piece, n + 1);
	t->n += n;
}

/* An environment as it becomes. */
struct copy {
	char **at; /* NULL: only how many variables there are */
	size_t n, max;
	struct text text; /* of those that are not as they were */
};

static void put_variable(struct copy *c, char *variable)
{
	if (c->at && c->n < c->max)
		c->at[c->n] = variable;
	c->n++;
}

static void begin_text(struct copy *c)
{
	put_variable(c, c->text.at ? c->text.at + c->text.n : NULL);
}

static void put_value(struct text *t, const struct wire_preload *value)
{
	for (size_t i = 0; i < sizeof(value->pieces) / sizeof(value->pieces[0]); i++)
		put(t, value->pieces[i]);
	t->n++;
}

/* others NULL: there is no such variable. */
static void put_preload(struct copy *c, const struct environment_ours *ours,
			const char *others)
{
	const struct wire_preload value = wire_preload_list(ours->library, others);
	struct text *t = &c->text;

	begin_text(c);
	put(t, WIRE_PRELOAD_LIST "=");
	put(t, ours->directory);
	put(t, "/");
	put_value(t, &value);
}

static void put_order(struct copy *c, const char *others)
{
	const struct wire_preload value = wire_preload_options(others);

	begin_text(c);
	put(&c->text, WIRE_PRELOAD_OPTIONS "=");
	put_value(&c->text, &value);
}

/* An even number of variables goes when they are forgotten. */
static void put_name(struct copy *c, const struct environment_ours *ours, bool is_twice)
{
	begin_text(c);
	if (is_twice)
		begin_text(c);
	put(&c->text, ours->name);
	put(&c->text, "=");
	put(&c->text, ours->directory);
	c->text.n++;
}

/* What there is of the variables that are ours, or extended: of what has several of a
 * name some read the first (the address sanitizer, musl) and some the last (glibc). */
struct found {
	size_t n_preloads, n_options;
	bool has_name;	  /* the variable of ours */
	bool is_told;	  /* with our directory */
	bool is_complete; /* in each list there is our library */
};

static bool is_variable(const char *begin, const char *name)
{
	size_t n = strlen(name);

	return memcmp(begin, name, n) == 0 && begin[n] == '=';
}

static void take_preload(struct copy *c, struct found *f, char *variable,
			 const struct environment_ours *ours)
{
	const char *list = variable + sizeof(WIRE_PRELOAD_LIST), *end;
	bool is_there = wire_preload_find(list, ours->directory, &end) != NULL;

	f->is_complete &= is_there;
	f->n_preloads++;
	if (is_there)
		put_variable(c, variable);
	else
		put_preload(c, ours, list);
}

static void take_options(struct copy *c, struct found *f, char *variable)
{
	const char *options = variable + sizeof(WIRE_PRELOAD_OPTIONS);

	f->n_options++;
	if (wire_preload_has_order(options))
		put_variable(c, variable);
	else
		put_order(c, options);
}

static void take(struct copy *c, struct found *f, const char *begin, char *variable,
		 const struct environment_ours *ours)
{
	if (is_variable(begin, WIRE_PRELOAD_LIST)) {
		take_preload(c, f, variable, ours);
	} else if (is_variable(begin, WIRE_PRELOAD_OPTIONS)) {
		take_options(c, f, variable);
	} else {
		f->has_name |= is_variable(begin, ours->name);
		f->is_told |=
			is_variable(begin, ours->name) &&
			strcmp(variable + strlen(ours->name) + 1, ours->directory) == 0;
		put_variable(c, variable);
	}
}

/* False: it cannot be read, or has too many variables. */
static bool take_all(struct copy *c, struct found *f, char *const *env,
		     const struct environment_ours *ours)
{
	char *some[ENVIRONMENT_READ_N];
	char begin[ENVIRONMENT_READ_N][ENVIRONMENT_READ_NAME];
	size_t n = env ? ENVIRONMENT_READ_N : 0;

	*f = (struct found){ .is_complete = true };
	for (size_t at = 0; n == ENVIRONMENT_READ_N; at += n) {
		n = environment_read_pointers(env + at, some);
		if (n > ENVIRONMENT_READ_N || at + n > BYTES_MAX / sizeof(*env) ||
		    !environment_read_names(some, n, begin))
			return false;
		for (size_t i = 0; i < n; i++)
			take(c, f, begin[i], some[i], ours);
	}
	return true;
}

static bool is_wanted(const struct found *f, const struct environment_ours *ours)
{
	return ours->is_told ? f->is_told && !(f->n_preloads && f->is_complete)
			     : !f->has_name;
}

/* False: nothing is to be added to it, or nothing can be. */
static bool extend(struct copy *c, char *const *env, const struct environment_ours *ours)
{
	struct found f;

	if (!take_all(c, &f, env, ours) || !is_wanted(&f, ours))
		return false;
	if (!f.n_preloads)
		put_preload(c, ours, NULL);
	if (!f.n_options)
		put_order(c, NULL);
	if (!f.has_name)
		put_name(c, ours, !f.n_preloads == !f.n_options);
	put_variable(c, NULL);
	return true;
}

size_t environment_with_bytes(char *const *env, const struct environment_ours *ours)
{
	struct copy c = { 0 };
	size_t bytes;

	if (!extend(&c, env, ours))
		return 0;
	bytes = c.n * sizeof(*env) + c.text.n;
	return bytes <= BYTES_MAX ? bytes : 0;
}

char **environment_with(char *const *env, const struct environment_ours *ours, void *room,
			size_t bytes)
{
	struct copy now = { 0 }, c;

	if (!extend(&now, env, ours) || now.n * sizeof(*c.at) > bytes)
		return NULL;
	c = (struct copy){ .at = room, .max = now.n };
	c.text.at = (char *)(c.at + now.n);
	c.text.cap = bytes - now.n * sizeof(*c.at);
	return extend(&c, env, ours) && c.n <= c.max && c.text.n <= c.text.cap ? c.at
									       : NULL;
}
