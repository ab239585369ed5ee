/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/global_rows.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/search.h"

static const uint8_t kinds[GAUGE_N_WHATS] = {
	[GAUGE_USER_NS] = GLOBAL_ROWS_TREE,
	[GAUGE_SYSTEM_NS] = GLOBAL_ROWS_TREE,
	[GAUGE_CHILDREN_NS] = GLOBAL_ROWS_TREE,
	[GAUGE_MINOR_FAULTS] = GLOBAL_ROWS_TREE,
	[GAUGE_MAJOR_FAULTS] = GLOBAL_ROWS_TREE,
	[GAUGE_READ_BYTES] = GLOBAL_ROWS_TREE,
	[GAUGE_WRITTEN_BYTES] = GLOBAL_ROWS_TREE,
	[GAUGE_DISK_READ_BYTES] = GLOBAL_ROWS_TREE,
	[GAUGE_DISK_WRITTEN_BYTES] = GLOBAL_ROWS_TREE,
	[GAUGE_RESIDENT_BYTES] = GLOBAL_ROWS_NOW,
	[GAUGE_THREADS] = GLOBAL_ROWS_NOW,
	[GAUGE_READY_NS] = GLOBAL_ROWS_OWN,
	[GAUGE_TURNS] = GLOBAL_ROWS_OWN,
	[GAUGE_LOAD_HUNDREDTHS] = GLOBAL_ROWS_MACHINE_NOW,
	[GAUGE_BUSY_NS] = GLOBAL_ROWS_MACHINE,
	[GAUGE_IDLE_NS] = GLOBAL_ROWS_MACHINE,
	[GAUGE_DISK_WAIT_NS] = GLOBAL_ROWS_MACHINE,
	[GAUGE_STOLEN_NS] = GLOBAL_ROWS_MACHINE,
	[GAUGE_AVAILABLE_BYTES] = GLOBAL_ROWS_MACHINE_NOW,
};

/* What was told at one time; of what each process is itself: since the first packet. */
struct packet {
	uint64_t time_ns;
	struct global_values values;
};

struct loading {
	VEC(struct gauge) gauges;
	VEC(struct packet) packets;
	struct map last; /* by process and what, of GLOBAL_ROWS_OWN */
};

enum global_rows_kind global_rows_kind_of(enum gauge_what what)
{
	return (enum global_rows_kind)kinds[what];
}

static int take(void *ctx, const struct gauge *g, struct err *e unused)
{
	struct loading *l = ctx;

	if (g->what < GAUGE_N_WHATS)
		*vec_push(&l->gauges) = *g;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct gauge *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* A process that is met for the first time began within the interval. */
static uint64_t grown(struct loading *l, const struct gauge *g)
{
	bool is_new;
	uint64_t *last = map_slot(&l->last, hash_pair(g->pid, g->what), &is_new);
	uint64_t was = is_new ? 0 : *last;

	*last = g->value;
	return g->value > was ? g->value - was : g->value == was ? 0 : g->value;
}

static void add_gauge(struct loading *l, const struct gauge *g)
{
	struct packet *p = l->packets.n ? &l->packets.at[l->packets.n - 1] : NULL;
	const struct packet *before;

	if (!p || p->time_ns != g->time_ns) {
		p = vec_push(&l->packets);
		*p = (struct packet){ .time_ns = g->time_ns };
	}
	before = l->packets.n > 1 ? p - 1 : NULL;
	if (kinds[g->what] != GLOBAL_ROWS_OWN) {
		p->values.of[g->what] += g->value;
	} else {
		if (!p->values.has[g->what] && before)
			p->values.of[g->what] = before->values.of[g->what];
		p->values.of[g->what] += grown(l, g);
	}
	p->values.has[g->what] = true;
}

/* The last one that is not later; NULL: there is none. */
static const struct packet *packet_at(const struct loading *l, uint64_t time_ns)
{
	size_t low = search_split(l->packets.n, i, l->packets.at[i].time_ns <= time_ns);

	return low ? &l->packets.at[low - 1] : NULL;
}

/* What was counted in between: processes that nobody waited for take theirs along. */
static void take_values(struct global_values *ret, const struct packet *from,
			const struct packet *to)
{
	for (unsigned i = 0; i < GAUGE_N_WHATS; i++) {
		bool is_now = kinds[i] == GLOBAL_ROWS_NOW ||
			      kinds[i] == GLOBAL_ROWS_MACHINE_NOW;
		uint64_t was = is_now || !from ? 0 : from->values.of[i];

		ret->has[i] = to->values.has[i] && (is_now || from);
		if (ret->has[i] && to->values.of[i] > was)
			ret->of[i] = to->values.of[i] - was;
	}
}

static void add_row(struct global_rows *g, const struct loading *l, uint32_t interval,
		    const struct model_interval *v)
{
	const struct packet *to = packet_at(l, v->to_ns);
	struct global_row *row;

	if (v->from_ns >= v->to_ns)
		return;
	row = vec_push(&g->rows);
	*row = (struct global_row){
		.interval = interval,
		.from_ns = v->from_ns,
		.to_ns = v->to_ns,
	};
	if (to)
		take_values(&row->values, packet_at(l, v->from_ns), to);
}

int global_rows_load(struct global_rows *g, const struct recording *r, struct err *e)
{
	struct loading l = { 0 };
	int rc = recording_each_gauge(r, take, &l, e);

	if (l.gauges.n)
		qsort(l.gauges.at, l.gauges.n, sizeof(*l.gauges.at), by_time);
	vec_each(gauge, &l.gauges)
		add_gauge(&l, gauge);
	g->has_gauges = l.gauges.n != 0;
	for (uint32_t i = 0; i < recording_n_intervals(r) && rc == 0; i++)
		add_row(g, &l, i, recording_interval(r, i));
	vec_fini(&l.gauges);
	vec_fini(&l.packets);
	map_fini(&l.last);
	return rc;
}

/* Of each process. */

static int by_process(const void *a, const void *b)
{
	const struct gauge *x = a, *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : by_time(a, b);
}

static void add_plain(struct loading *l, const struct gauge *g)
{
	struct packet *p = l->packets.n ? &l->packets.at[l->packets.n - 1] : NULL;

	if (!p || p->time_ns != g->time_ns) {
		p = vec_push(&l->packets);
		p->time_ns = g->time_ns;
	}
	p->values.of[g->what] = g->value;
	p->values.has[g->what] = true;
}

/* Who was not there when the interval began has begun within it. */
static void add_process(struct global_rows *g, const struct loading *l, uint32_t pid,
			uint32_t interval, const struct model_interval *v)
{
	static const struct packet none;
	const struct packet *from = packet_at(l, v->from_ns);
	const struct packet *to = packet_at(l, v->to_ns);
	struct global_row *row;

	if (v->from_ns >= v->to_ns || !to || to->time_ns != v->to_ns)
		return;
	row = vec_push(&g->rows);
	*row = (struct global_row){
		.interval = interval,
		.from_ns = v->from_ns,
		.to_ns = v->to_ns,
		.pid = pid,
	};
	take_values(&row->values, from && from->time_ns == v->from_ns ? from : &none, to);
}

/* Gauges [i, end) are its. */
static void add_processes(struct global_rows *g, struct loading *l,
			  const struct recording *r)
{
	for (size_t i = 0; i < l->gauges.n;) {
		uint32_t pid = l->gauges.at[i].pid;

		vec_clear(&l->packets);
		for (; i < l->gauges.n && l->gauges.at[i].pid == pid; i++)
			add_plain(l, &l->gauges.at[i]);
		for (uint32_t k = 0; pid && k < recording_n_intervals(r); k++)
			add_process(g, l, pid, k, recording_interval(r, k));
	}
}

uint64_t global_rows_cpu_ns(const struct global_row *row)
{
	const uint64_t *of = row->values.of;
	uint64_t all = of[GAUGE_USER_NS] + of[GAUGE_SYSTEM_NS];
	uint64_t others = row->pid ? of[GAUGE_CHILDREN_NS] : 0;

	return all > others ? all - others : 0;
}

static int by_use(const void *a, const void *b)
{
	const struct global_row *x = a, *y = b;
	uint64_t m = global_rows_cpu_ns(x), n = global_rows_cpu_ns(y);

	if (x->interval != y->interval)
		return (x->interval > y->interval) - (x->interval < y->interval);
	return m != n ? (m < n) - (m > n) : (x->pid > y->pid) - (x->pid < y->pid);
}

int global_rows_load_processes(struct global_rows *g, const struct recording *r,
			       struct err *e)
{
	struct loading l = { 0 };
	int rc = recording_each_gauge(r, take, &l, e);

	if (l.gauges.n)
		qsort(l.gauges.at, l.gauges.n, sizeof(*l.gauges.at), by_process);
	g->has_gauges = l.gauges.n != 0;
	add_processes(g, &l, r);
	if (g->rows.n)
		qsort(g->rows.at, g->rows.n, sizeof(*g->rows.at), by_use);
	vec_fini(&l.gauges);
	vec_fini(&l.packets);
	return rc;
}

void global_rows_fini(struct global_rows *g)
{
	vec_fini(&g->rows);
}
