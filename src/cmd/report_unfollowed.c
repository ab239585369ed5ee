/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_unfollowed.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"
#include "cmd/report_text.h"

/* Programs that are named in a line. */
#define MANY_PROGRAMS 5

#define NONE UINT32_MAX

/* Processes of one name that were not observed for one reason. */
struct unfollowed {
	uint32_t comm, exe, note; /* strings */
	uint32_t n;
	uint32_t next; /* with the same reason; NONE */
};

/* Why, and for whom. */
struct reason {
	uint32_t note;
	uint32_t first, last; /* indices */
};

/* Each in the order in which they were met. */
struct list {
	VEC(struct unfollowed) of;
	VEC(struct reason) reasons;
	struct map programs;   /* [name, path]: so many before it */
	struct map of_program; /* [program, note]: index */
	struct map of_note;    /* [note]: index of the reason */
};

static void list_fini(struct list *l)
{
	vec_fini(&l->of);
	vec_fini(&l->reasons);
	map_fini(&l->programs);
	map_fini(&l->of_program);
	map_fini(&l->of_note);
}

/* The number that two numbers have together; whoever is new has the next one. */
static uint32_t number_of(struct map *m, uint32_t a, uint32_t b, bool *is_new)
{
	uint64_t next = m->n, *slot = map_slot(m, (uint64_t)a << 32 | b, is_new);

	if (*is_new)
		*slot = next;
	return (uint32_t)*slot;
}

static void add_to_reason(struct list *l, uint32_t note, uint32_t i)
{
	bool is_new;
	uint32_t at = number_of(&l->of_note, 0, note, &is_new);

	if (is_new)
		*vec_push(&l->reasons) = (struct reason){ .note = note, .first = i };
	else
		l->of.at[l->reasons.at[at].last].next = i;
	l->reasons.at[at].last = i;
}

static void add(struct list *l, const struct model_process *p)
{
	bool is_new;
	uint32_t program = number_of(&l->programs, p->comm, p->exe, &is_new);
	uint32_t i = number_of(&l->of_program, program, p->note, &is_new);

	if (!is_new) {
		l->of.at[i].n++;
		return;
	}
	*vec_push(&l->of) = (struct unfollowed){
		.comm = p->comm, .exe = p->exe, .note = p->note, .n = 1, .next = NONE
	};
	add_to_reason(l, p->note, i);
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

static void put_reason(const struct list *l, const struct reason *of,
		       const struct recording *rec, struct buf *b)
{
	const char *why = recording_string(rec, of->note);
	size_t n = 0;

	for (uint32_t i = of->first; i != NONE; i = l->of.at[i].next) {
		if (n++ >= MANY_PROGRAMS)
			continue;
		buf_puts(b, n > 1 ? ", " : "");
		put_program(b, rec, &l->of.at[i]);
	}
	if (n > MANY_PROGRAMS)
		buf_printf(b, " and %zu more", n - MANY_PROGRAMS);
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
	vec_each(reason, &l.reasons) {
		own(buf_fini) struct buf b = { 0 };

		buf_puts(&b, "not followed: ");
		put_reason(&l, reason, rec, &b);
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
