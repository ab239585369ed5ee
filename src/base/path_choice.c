/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path_choice.h"

#include <fnmatch.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"

struct path_choice {
	VEC(char *) patterns;
	struct buf text; /* ends with a zero */
};

struct path_choice *path_choice_new(void)
{
	return xcalloc(1, sizeof(struct path_choice));
}

void path_choice_free(struct path_choice *c)
{
	if (!c)
		return;
	vec_each(p, &c->patterns)
		free(*p);
	vec_fini(&c->patterns);
	buf_fini(&c->text);
	free(c);
}

void path_choice_freep(struct path_choice **c)
{
	path_choice_free(*c);
}

int path_choice_add(struct path_choice *c, const char *list, struct err *e)
{
	for (;; list++) {
		size_t n = strcspn(list, ",");

		if (!n)
			return err_set(e, ERR_USAGE, "an empty name of a file");
		*vec_push(&c->patterns) = xstrndup(list, n);
		buf_printf(&c->text, "%s%.*s", c->text.size ? "," : "", (int)n, list);
		buf_str(&c->text);
		list += n;
		if (!*list)
			return 0;
	}
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_choice_has(const struct path_choice *c, const char *path)
{
	if (!path)
		return false;
	vec_each(p, &c->patterns)
		if (fnmatch(*p, strchr(*p, '/') ? path : name_of(path), 0) == 0)
			return true;
	return false;
}

const char *path_choice_text(const struct path_choice *c)
{
	return c->text.data ? (const char *)c->text.data : "";
}
