/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/environment.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "bare/sys.h"
#include "inject/environment_read.h"

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

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

/* Take the first entry below directory out of a list; false when nothing is left. */
static bool cut_entry(char *list, const char *directory)
{
	size_t n = strlen(directory);
	char *at = list;

	while (*at) {
		char *end = at;

		while (*end && !is_separator(*end))
			end++;
		if ((size_t)(end - at) > n && memcmp(at, directory, n) == 0 &&
		    at[n] == '/') {
			end += *end != 0;
			memmove(at, end, strlen(end) + 1);
			break;
		}
		at = end + (*end != 0);
	}
	for (size_t i = strlen(list); i && is_separator(list[i - 1]); i--)
		list[i - 1] = 0;
	return *list != 0;
}

/* The address sanitizer insists on being first of all libraries, unless told.  The colon
 * behind it tells that it is ours. */
#define ANY_ORDER "verify_asan_link_order=0:"

/* False when nothing is left of the options. */
static bool cut_order(char *options)
{
	const size_t n_ours = sizeof(ANY_ORDER) - 1;
	size_t n = strlen(options);

	if (n < n_ours || memcmp(options + n - n_ours, ANY_ORDER, n_ours) != 0)
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
		char *preload = value_of(*env, "LD_PRELOAD");
		char *options = value_of(*env, "ASAN_OPTIONS");

		if (value_of(*env, name) || (preload && !cut_entry(preload, directory)) ||
		    (options && !cut_order(options)))
			continue;
		*to++ = *env;
	}
	end_at(to, env);
}

/* Nobody who is about to execute something needs to have more room. */
#define BYTES_MAX  32768
#define N_MORE_MAX 5 /* three variables, one of them twice, and the end */

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

static void put_preload(struct text *t, const struct environment_ours *ours,
			const char *others)
{
	put(t, "LD_PRELOAD=");
	put(t, ours->directory);
	put(t, "/");
	put(t, ours->library);
	put(t, *others ? ":" : "");
	put(t, others);
	t->n++;
}

static void put_order(struct text *t, const char *others)
{
	put(t, "ASAN_OPTIONS=");
	put(t, others);
	put(t, *others ? ":" : "");
	put(t, ANY_ORDER);
	t->n++;
}

static void put_name(struct text *t, const struct environment_ours *ours)
{
	put(t, ours->name);
	put(t, "=");
	put(t, ours->directory);
	t->n++;
}

/* What there is of the variables that are extended: "" is nothing. */
struct others {
	const char *preload, *options;
	size_t preload_at,
		options_at; /* the last of that name; SIZE_MAX: there is none */
	bool has_ours, has_order;
	size_t n; /* variables */
};

static bool is_variable(const char *begin, const char *name)
{
	size_t n = strlen(name);

	return memcmp(begin, name, n) == 0 && begin[n] == '=';
}

static void note(struct others *o, const char *begin, const char *variable, size_t i,
		 const char *ours)
{
	o->has_ours |= is_variable(begin, ours);
	if (is_variable(begin, "LD_PRELOAD")) {
		o->preload = variable + sizeof("LD_PRELOAD");
		o->preload_at = i;
	}
	if (is_variable(begin, "ASAN_OPTIONS")) {
		o->options = variable + sizeof("ASAN_OPTIONS");
		o->options_at = i;
	}
}

/* False: it cannot be read, or has more than max variables.  ret NULL: they are not
 * kept. */
static bool look(char *const *env, const char *ours, char **ret, size_t max,
		 struct others *o)
{
	char *some[ENVIRONMENT_READ_N];
	char begin[ENVIRONMENT_READ_N][ENVIRONMENT_READ_NAME];
	size_t n = env ? ENVIRONMENT_READ_N : 0;

	*o = (struct others){ .preload = "",
			      .options = "",
			      .preload_at = SIZE_MAX,
			      .options_at = SIZE_MAX };
	for (; n == ENVIRONMENT_READ_N; o->n += n) {
		n = environment_read_pointers(env + o->n, some);
		if (n > ENVIRONMENT_READ_N || o->n + n > max ||
		    !environment_read_names(some, n, begin))
			return false;
		for (size_t i = 0; i < n; i++)
			note(o, begin[i], some[i], o->n + i, ours);
		if (ret)
			memcpy(ret + o->n, some, n * sizeof(*some));
	}
	for (const char *at = o->options; *at && !o->has_order; at++)
		o->has_order = value_of((char *)(uintptr_t)at, "verify_asan_link_order");
	return true;
}

/* An even number of variables goes when they are forgotten: the one of ours is put there
 * twice for that. */
static bool is_twice(const struct others *o)
{
	return !*o->preload == (!o->has_order && !*o->options);
}

size_t environment_with_bytes(char *const *env, const struct environment_ours *ours)
{
	struct text t = { 0 };
	struct others o;
	size_t bytes;

	if (!look(env, ours->name, NULL, BYTES_MAX / sizeof(*env), &o) || o.has_ours)
		return 0;
	put_preload(&t, ours, o.preload);
	put_order(&t, o.options);
	put_name(&t, ours);
	bytes = (o.n + N_MORE_MAX) * sizeof(*env) + t.n;
	return bytes <= BYTES_MAX ? bytes : 0;
}

char **environment_with(char *const *env, const struct environment_ours *ours, void *room,
			size_t bytes)
{
	char **copy = room, **to = copy;
	size_t max = bytes / sizeof(*copy);
	struct text t = { 0 };
	struct others o;

	if (max < N_MORE_MAX || !look(env, ours->name, copy, max - N_MORE_MAX, &o))
		return NULL;
	for (size_t i = 0; i < o.n; i++)
		if (i != o.preload_at && (o.has_order || i != o.options_at))
			*to++ = copy[i];
	t.at = (char *)(copy + o.n + N_MORE_MAX);
	t.cap = bytes - (size_t)(t.at - (char *)room);
	*to++ = t.at + t.n;
	put_preload(&t, ours, o.preload);
	if (!o.has_order) {
		*to++ = t.at + t.n;
		put_order(&t, o.options);
	}
	*to++ = t.at + t.n;
	if (is_twice(&o))
		*to++ = t.at + t.n;
	put_name(&t, ours);
	*to = NULL;
	return t.n <= t.cap ? copy : NULL;
}
