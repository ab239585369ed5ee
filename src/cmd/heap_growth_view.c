/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/heap_growth_view.h"

#include <stdlib.h>

#include "analyze/heap_growth.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/heap_frames.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"

#define MANY_PROCESSES 5

struct growth_view {
	const struct heap_view *v;
	struct heap_between *between; /* of each recording */
	struct heap_growth growth;
};

static void growth_view_fini(struct growth_view *g)
{
	free(g->between);
	heap_growth_fini(&g->growth);
}

static void put_signed(struct buf *b, int64_t n, char *(*text)(char *s, uint64_t n))
{
	char s[TEXT_MAX];
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;

	buf_printf(b, "%s%s", n > 0 ? "+" : n < 0 ? "−" : "", text(s, size));
}

/* "4.1 KB in 12 blocks" */
static void put_amount(struct buf *b, uint64_t bytes, uint64_t blocks)
{
	char s[TEXT_MAX];

	if (!blocks)
		return buf_puts(b, "nothing");
	buf_puts(b, text_size(s, bytes));
	buf_printf(b, " in %s", text_number(s, blocks, "blocks"));
}

/* "warm (0.52 s)" or "interval 3 (3.00 s)" */
static void put_bound(const struct growth_view *g, size_t source,
		      const struct heap_bound *bound, struct buf *b)
{
	const struct recording *r = profile_source(g->v->report->profile, source);
	uint64_t start_ns =
		recording_interval(r, 0)->from_ns; /* as dwell global has it */
	char s[TEXT_MAX];

	if (*bound->name)
		report_text_safe(b, bound->name);
	else if (bound->number)
		buf_printf(b, "the end of interval %u", bound->number);
	else
		buf_puts(b, "the start");
	if (bound->number)
		buf_printf(b, " (%s)", text_duration(s, bound->time_ns - start_ns));
}

static void put_held(const struct growth_view *g, size_t source,
		     const struct heap_process *x, FILE *out)
{
	const struct recording *rec = profile_source(g->v->report->profile, source);
	const struct model_process *process = recording_process(rec, x->process);
	const struct heap_between *between = &g->between[source];
	struct heap_held from =
		heap_between_held(&g->v->rows[source], x, between->from.time_ns);
	struct heap_held to =
		heap_between_held(&g->v->rows[source], x, between->to.time_ns);
	own(buf_fini) struct buf b = { 0 };

	report_text_safe(&b, recording_string(rec, process->comm));
	buf_printf(&b, " (%u): held ", process->pid);
	put_amount(&b, from.bytes, from.blocks);
	buf_puts(&b, " at ");
	put_bound(g, source, &between->from, &b);
	buf_puts(&b, ", ");
	put_amount(&b, to.bytes, to.blocks);
	buf_puts(&b, " at ");
	put_bound(g, source, &between->to, &b);
	report_text_labelled(g->v->report, "process", &b, out);
}

static void put_processes(const struct growth_view *g, size_t source, FILE *out)
{
	struct heap_processes processes = { 0 };

	heap_facts_load(&processes, profile_source(g->v->report->profile, source));
	for (size_t i = 0; i < processes.all.n && i < MANY_PROCESSES; i++)
		put_held(g, source, &processes.all.at[i], out);
	if (processes.all.n > MANY_PROCESSES)
		fprintf(out, "  … %zu more, with smaller peaks\n",
			processes.all.n - MANY_PROCESSES);
	heap_facts_fini(&processes);
}

static void put_place(const struct growth_view *g, const struct heap_growth_place *x,
		      FILE *out)
{
	const struct report *r = g->v->report;
	uint64_t kept = x->kept_bytes;
	uint64_t all = g->growth.total.kept_bytes;
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	buf_printf(&b, "%s", text_pct(s, (double)kept, (double)all));
	heap_view_put_error(g->v, kept, &b);
	buf_printf(&b, "  Bytes %s", text_size(s, kept));
	buf_printf(&b, "  Blocks %s", text_count(s, x->kept_blocks));
	buf_puts(&b, "  Growth ");
	put_signed(&b, heap_growth_net_bytes(x), text_size);
	buf_printf(&b, "  Calls %s", text_count(s, x->blocks[HEAP_GROWTH_TAKEN]));
	fputs(report_text_bold(true), out);
	report_text_line(out, r, "", &b);
	fputs(report_text_bold(false), out);
	heap_frames_print(r, x->frames, x->n_frames, g->v->depth, out);
}

static void put_total(const struct growth_view *g, FILE *out)
{
	const struct heap_growth_place *total = &g->growth.total;
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	put_amount(&b, total->bytes[HEAP_GROWTH_TAKEN], total->blocks[HEAP_GROWTH_TAKEN]);
	buf_puts(&b, " allocated, ");
	put_amount(&b, total->bytes[HEAP_GROWTH_GIVEN], total->blocks[HEAP_GROWTH_GIVEN]);
	buf_puts(&b, " given back: growth ");
	put_signed(&b, heap_growth_net_bytes(total), text_size);
	if (g->v->sample_bytes) {
		buf_printf(&b, "; estimated from a block for each %s",
			   text_size(s, g->v->sample_bytes));
		heap_view_put_error(g->v, total->bytes[HEAP_GROWTH_TAKEN], &b);
	}
	report_text_labelled(g->v->report, "between", &b, out);
}

static size_t n_kept(const struct heap_growth *g)
{
	size_t n = 0;

	while (n < g->all.n && g->all.at[n].kept_bytes)
		n++;
	return n;
}

static void put_places(const struct growth_view *g, FILE *out)
{
	const struct heap_growth *all = &g->growth;
	size_t n = n_kept(all), limit = g->v->limit ? g->v->limit : n;
	uint64_t total = all->total.kept_bytes, rest = total;
	char s[TEXT_MAX], places[TEXT_MAX];

	if (!n) {
		fputs("\nNothing that was allocated in between is still there.\n", out);
		return;
	}
	fprintf(out,
		"\nAllocated in between and still there: %s, by place, callers "
		"below\n\n",
		text_size(s, total));
	for (size_t i = 0; i < n && i < limit; i++) {
		put_place(g, &all->all.at[i], out);
		rest -= all->all.at[i].kept_bytes;
	}
	if (n > limit)
		fprintf(out, "… %s with %s\n",
			text_number(places, n - limit, "more places"),
			text_pct(s, (double)rest, (double)total));
}

static void print(const struct growth_view *g, FILE *out)
{
	const struct report *r = g->v->report;

	for (size_t i = 0; i < profile_n_sources(r->profile); i++) {
		report_head_subject(r, i, out);
		put_processes(g, i, out);
	}
	report_head_filter(r, out);
	put_total(g, out);
	put_places(g, out);
	report_quality_print(r, out);
}

static void json_i64_of(struct json *j, const char *key, int64_t n)
{
	json_key(j, key);
	json_i64(j, n);
}

static void json_sums(struct json *j, const struct heap_growth_place *x)
{
	json_key(j, "growth");
	json_object(j);
	json_key_u64(j, "kept", x->kept_bytes);
	json_key_u64(j, "kept-blocks", x->kept_blocks);
	json_i64_of(j, "net", heap_growth_net_bytes(x));
	json_i64_of(j, "net-blocks", heap_growth_net_blocks(x));
	json_key_u64(j, "allocated", x->bytes[HEAP_GROWTH_TAKEN]);
	json_key_u64(j, "allocations", x->blocks[HEAP_GROWTH_TAKEN]);
	json_key_u64(j, "given", x->bytes[HEAP_GROWTH_GIVEN]);
	json_key_u64(j, "given-blocks", x->blocks[HEAP_GROWTH_GIVEN]);
	json_object_end(j);
}

static void json_bound(struct json *j, const char *key, const struct heap_bound *b)
{
	json_key(j, key);
	json_object(j);
	json_key_u64(j, "time_ns", b->time_ns);
	json_key_u64(j, "interval", b->number);
	json_key_str(j, "mark", *b->name ? b->name : NULL);
	json_object_end(j);
}

static void json_held(struct json *j, const char *key, struct heap_held held)
{
	json_key_u64(j, key, held.bytes);
}

static void json_processes(const struct growth_view *g, struct json *j, size_t source)
{
	const struct recording *rec = profile_source(g->v->report->profile, source);
	const struct heap_between *between = &g->between[source];
	struct heap_processes processes = { 0 };

	heap_facts_load(&processes, rec);
	json_key(j, "processes");
	json_array(j);
	vec_each(x, &processes.all) {
		const struct model_process *p = recording_process(rec, x->process);

		json_object(j);
		json_key_str(j, "command", recording_string(rec, p->comm));
		json_key_u64(j, "pid", p->pid);
		json_held(
			j, "held-from",
			heap_between_held(&g->v->rows[source], x, between->from.time_ns));
		json_held(j, "held-to",
			  heap_between_held(&g->v->rows[source], x, between->to.time_ns));
		json_object_end(j);
	}
	json_array_end(j);
	heap_facts_fini(&processes);
}

/* Behind the rows is a list of the recordings, closed by the end of the report. */
static void write_json(const struct growth_view *g, FILE *out)
{
	const struct report *r = g->v->report;
	struct json j;

	report_json_begin(&j, r, "heap-between", out);
	vec_each(x, &g->growth.all) {
		if (g->v->limit && x - g->growth.all.at >= (ptrdiff_t)g->v->limit)
			break;
		json_object(&j);
		json_key_u64(&j, "source", x->source);
		json_sums(&j, x);
		heap_frames_json(r, &j, x->frames, x->n_frames);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_sums(&j, &g->growth.total);
	json_key_u64(&j, "sample", g->v->sample_bytes);
	json_key(&j, "between");
	json_array(&j);
	for (size_t i = 0; i < profile_n_sources(r->profile); i++) {
		json_object(&j);
		json_bound(&j, "from", &g->between[i].from);
		json_bound(&j, "to", &g->between[i].to);
		json_processes(g, &j, i);
		json_object_end(&j);
	}
	report_json_end(&j, r);
}

int heap_growth_view(const struct heap_view *v, const char *between, FILE *out,
		     struct err *e)
{
	const struct profile *p = v->report->profile;
	own(growth_view_fini) struct growth_view g = { .v = v };
	int rc = 0;

	g.between = xcalloc(profile_n_sources(p) + 1, sizeof(*g.between));
	for (size_t i = 0; i < profile_n_sources(p) && rc == 0; i++)
		rc = heap_between_find(profile_source(p, i), &v->rows[i], between,
				       &g.between[i], e);
	if (rc == 0)
		rc = heap_growth_load(&g.growth, p, g.between, v->limit, e);
	if (rc < 0)
		return rc;
	if (v->report->json)
		write_json(&g, out);
	else
		print(&g, out);
	return 0;
}
