/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_unfollowed.h"

#include "base/buf.h"
#include "base/own.h"
#include "base/vec.h"
#include "cmd/report_text.h"

/* Programs that are named in a line. */
#define MANY_PROGRAMS 5

/* Processes of one name that were not observed for one reason. */
struct unfollowed {
	uint32_t comm, exe, note; /* strings */
	uint32_t n;
	bool is_printed;
};

struct list {
	VEC(struct unfollowed) of;
};

static void list_fini(struct list *l)
{
	vec_fini(&l->of);
}

static void add(struct list *l, const struct model_process *p)
{
	vec_each(u, &l->of)
		if (u->comm == p->comm && u->exe == p->exe && u->note == p->note) {
			u->n++;
			return;
		}
	*vec_push(&l->of) = (struct unfollowed){
		.comm = p->comm, .exe = p->exe, .note = p->note, .n = 1
	};
}

static void find(const struct recording *rec, struct list *ret)
{
	for (uint32_t i = 0; i < recording_n_processes(rec); i++) {
		const struct model_process *p = recording_process(rec, i);

		if (p->flags & PROCESS_NOT_FOLLOWED)
			add(ret, p);
	}
}

static void put_program(struct buf *b, const struct recording *rec,
			const struct unfollowed *u)
{
	report_text_safe(b, recording_string(rec, u->comm));
	if (u->n > 1)
		buf_printf(b, " (%u processes)", u->n);
}

/* All from i on that have its reason. */
static void put_reason(struct list *l, size_t i, const struct recording *rec,
		       struct buf *b)
{
	const char *why = recording_string(rec, l->of.at[i].note);
	size_t n_more = 0;

	for (size_t k = i, n = 0; k < l->of.n; k++) {
		struct unfollowed *u = &l->of.at[k];

		if (u->note != l->of.at[i].note)
			continue;
		u->is_printed = true;
		if (n++ >= MANY_PROGRAMS) {
			n_more++;
			continue;
		}
		buf_puts(b, n > 1 ? ", " : "");
		put_program(b, rec, u);
	}
	if (n_more)
		buf_printf(b, " and %zu more", n_more);
	if (why[0]) {
		buf_puts(b, ": ");
		report_text_safe(b, why);
	}
}

void report_unfollowed_print(const struct report *r, const struct recording *rec,
			     FILE *out)
{
	own(list_fini) struct list l = { 0 };

	find(rec, &l);
	for (size_t i = 0; i < l.of.n; i++) {
		own(buf_fini) struct buf b = { 0 };

		if (l.of.at[i].is_printed)
			continue;
		buf_puts(&b, "not followed: ");
		put_reason(&l, i, rec, &b);
		report_text_wrapped(r, &b, out);
	}
}

void report_unfollowed_json(struct json *j, const struct recording *rec)
{
	own(list_fini) struct list l = { 0 };

	find(rec, &l);
	if (!l.of.n)
		return;
	json_key(j, "not_followed");
	json_array(j);
	vec_each(u, &l.of) {
		json_object(j);
		json_key_str(j, "name", recording_string(rec, u->comm));
		json_key_str(j, "program", recording_string(rec, u->exe));
		json_key_str(j, "why", recording_string(rec, u->note));
		json_key_u64(j, "processes", u->n);
		json_object_end(j);
	}
	json_array_end(j);
}
