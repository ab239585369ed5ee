/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/under_option.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/code_places.h"

static bool counts_blocks(const struct session_settings *x)
{
	for (size_t i = 0; i < x->n_choices; i++)
		if (x->choices[i].experiment->trigger == EXPERIMENT_BASIC_BLOCKS)
			return true;
	return false;
}

/* "FILE:FUNCTION": names of functions have colons in pairs. */
static const char *behind_file(const char *text)
{
	for (const char *c = text; (c = strchr(c, ':')); c += 2)
		if (c[1] != ':')
			return c + 1;
	return text;
}

static int find(const char *text, const char *program, struct trigger_code *ret,
		struct err *e)
{
	struct trigger_wish wish = { .kind = TRIGGER_ENTRY };
	const char *name = behind_file(text);
	struct err why;
	int file_bytes = name > text ? (int)(name - text - 1) : 0;
	int rc;

	if (file_bytes)
		snprintf(wish.file, sizeof(wish.file), "%.*s", file_bytes, text);
	else
		snprintf(wish.file, sizeof(wish.file), "%s", program);
	snprintf(wish.name, sizeof(wish.name), "%s", name);
	rc = code_places_find(&wish, ret, &why);
	if (rc < 0)
		err_set(e, rc, "%s%s", why.text,
			file_bytes ? "" : "; of another file: --under FILE:FUNCTION");
	return rc;
}

static int take(const char *text, const char *program, struct under_option *u,
		struct err *e)
{
	struct trigger_code code = { 0 };
	struct stat st;
	int rc = find(text, program, &code, e);

	if (rc < 0)
		return rc;
	if (stat(code.path, &st) < 0)
		return err_os(e, "cannot open '%.200s'", code.path);
	for (size_t i = 0; i < code.n_places; i++) {
		if (u->n == COUNT_ORDERS_UNDER_MAX)
			return err_set(e, ERR_LIMIT, "--under takes %d functions",
				       COUNT_ORDERS_UNDER_MAX);
		u->places[u->n++] = (struct code_place){
			.device = st.st_dev,
			.inode = st.st_ino,
			.offset = code.places[i].offset,
			.size = code.places[i].size,
		};
	}
	return 0;
}

int under_option_take(const struct options *o, const char *program,
		      struct under_option *u, struct session_settings *ret, struct err *e)
{
	size_t n = options_count(o, "under");
	int rc = 0;

	*u = (struct under_option){ 0 };
	if (n && !counts_blocks(ret))
		return err_set(e, ERR_USAGE, "--under is for -e bbcounts");
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = take(options_at(o, "under", i), program, u, e);
	ret->under = u->places;
	ret->n_under = u->n;
	return rc;
}
