/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_several.h"

#include <errno.h>

#include "collect/inject.h"
#include "collect/inject_copies.h"

#define PROGRAMS_MAX 3
#define GENERATIONS  16 /* of children that make children while we go */

/* Who executes another program meanwhile is another. */
static void begin_one(struct inject_wish *w, uint32_t traces)
{
	unsigned n = 0;
	int rc;

	do {
		w->why = (struct err){ 0 };
		rc = inject_begin(w->pid, w->directory, traces, &w->ret, &w->why);
	} while (rc < 0 && w->why.os == ESRCH && ++n < PROGRAMS_MAX);
}

void inject_several_begin(struct inject_wish *all, size_t n, uint32_t traces)
{
	for (size_t k = 0; k < n; k++)
		begin_one(&all[k], traces);
}

/* That it is a copy of; NULL: of none of them. */
static struct inject *find_first(struct inject *const *all, size_t n,
				 const struct inject_copy *copy)
{
	for (size_t k = 0; k < n; k++)
		if (inject_is_first_of(all[k], copy))
			return all[k];
	return NULL;
}

/* Those of one that has been left are made without. */
static int leave_copies(struct inject *const *all, size_t n, struct err *e)
{
	own(inject_copies_fini) struct inject_copies found = { 0 };
	int rc = 0;

	for (unsigned n_new = 1, pass = 0; n_new && pass < GENERATIONS; pass++) {
		int one = inject_copies_find(inject_head(all[0]), &found,
					     rc < 0 ? NULL : e);

		rc = rc < 0 ? rc : one;
		n_new = 0;
		vec_each(copy, &found.of) {
			struct inject *i = find_first(all, n, copy);

			if (!i)
				continue;
			one = inject_leave_copy(i, copy->pid, rc < 0 ? NULL : e);
			n_new += one == 0;
			rc = rc < 0 ? rc : one;
		}
	}
	return rc;
}

int inject_several_end(struct inject *const *all, size_t n, uint64_t *stood_ns,
		       struct err *e)
{
	int rc = 0;

	for (size_t k = 0; k <= n && n; k++) {
		struct err *to = rc < 0 ? NULL : e;
		int one = k < n ? inject_leave(all[k], stood_ns, to)
				: leave_copies(all, n, to);

		rc = rc < 0 ? rc : one;
	}
	for (size_t k = 0; k < n; k++)
		inject_free(all[k]);
	return rc;
}
