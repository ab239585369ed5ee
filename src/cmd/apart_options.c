/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/apart_options.h"

#include "base/path_choice.h"

static bool is_given(const struct options *o, const char *name)
{
	return options_knows(o, name) && options_has(o, name);
}

int apart_options_take(const struct options *o, struct apart *ret,
		       struct path_choice **ret_chosen, struct err *e)
{
	own(path_choice_freep) struct path_choice *c = path_choice_new();
	size_t n = options_count(o, "per-process");
	bool has_all = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		const char *list = options_at(o, "per-process", i);

		has_all |= !list;
		rc = list ? path_choice_add(c, list, e) : 0;
	}
	if (rc < 0)
		return err_in(e, rc, "--per-process");
	ret->threads = is_given(o, "per-thread");
	ret->cpus = is_given(o, "per-cpu");
	ret->processes = has_all;
	ret->chosen = n && !has_all ? c : NULL;
	*ret_chosen = steal(&c);
	return 0;
}

void apart_options_describe(const struct apart *a, struct buf *ret)
{
	const struct {
		bool is_apart;
		const char *what;
	} all[] = { { a->processes, "processes" },
		    { a->threads, "threads" },
		    { a->cpus, "CPUs" } };

	if (a->chosen)
		buf_printf(ret, "processes of %s", path_choice_text(a->chosen));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].is_apart)
			buf_printf(ret, "%s%s", ret->size ? "; " : "", all[i].what);
}
