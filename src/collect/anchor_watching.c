/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_watching.h"

#include "collect/anchor_record.h"
#include "collect/facts.h"

#define WATCH_NS       4000000u /* at first; then so long that it is worth to turn */
#define WATCH_LEAST_NS 2000000u
#define WATCH_MOST_NS  20000000u
#define WATCH_COST_NS  200000u
/* To open and close the breakpoints of a thread. */
#define WATCH_TURN_NS 50000u
#define BETWEEN_NS    200000000u /* two turns, at most */

struct anchor_watching anchor_watching_of(void)
{
	return (struct anchor_watching){ .watch_ns = WATCH_NS };
}

void anchor_watching_fini(struct anchor_watching *w)
{
	anchor_watch_fini(&w->watch);
	anchor_turns_fini(&w->turns);
}

static void plan(struct anchor_watching *w, uint64_t cpu_ns, uint64_t cost_ns,
		 struct anchor_budget *b)
{
	double ns = (double)cost_ns / (b->part * ANCHOR_WATCHING_PART);

	w->due_ns = cpu_ns + anchor_budget_chance(b, ns < BETWEEN_NS ? ns : BETWEEN_NS);
}

bool anchor_watching_begin(struct anchor_watching *w, pid_t pid, uint64_t cpu_ns,
			   struct anchor_budget *b)
{
	size_t n = w->n_turns++ % (w->n_leaders + 1);
	bool is_all = n == w->n_leaders;

	w->first_watched = is_all ? 0 : n;
	w->n_watched = is_all ? w->n_leaders : 1;
	if (anchor_watch_begin(&w->watch, pid, w->leaders + w->first_watched,
			       w->n_watched))
		return true;
	plan(w, cpu_ns, WATCH_COST_NS, b);
	return false;
}

static void adapt(struct anchor_watching *w, uint64_t hits_ns)
{
	if (hits_ns < 2 * WATCH_TURN_NS && w->watch_ns < WATCH_MOST_NS)
		w->watch_ns *= 2;
	if (hits_ns > 20 * WATCH_TURN_NS && w->watch_ns > WATCH_LEAST_NS)
		w->watch_ns /= 2;
}

void anchor_watching_end(struct anchor_watching *w, uint32_t next, uint64_t cpu_ns,
			 struct anchor_budget *b)
{
	uint64_t hits_ns;

	anchor_watch_end(&w->watch);
	for (size_t i = 0; i < w->n_watched && w->watch.cpu_ns; i++)
		anchor_turns_add(&w->turns,
				 &(struct anchor_turns_sum){
					 .addr = w->leaders[w->first_watched + i],
					 .window = next,
					 .is_all = w->n_watched > 1,
					 .hits = w->watch.hits[i],
					 .all_hits = w->watch.all_hits,
					 .cpu_ns = w->watch.cpu_ns });
	hits_ns = w->watch.all_hits *
		  (uint64_t)anchor_turns_hit_ns(&w->turns, (double)w->hit_ns);
	adapt(w, hits_ns);
	b->spent_ns += hits_ns + WATCH_TURN_NS;
	plan(w, cpu_ns, hits_ns + WATCH_TURN_NS, b);
}

void anchor_watching_tell(struct anchor_watching *w, struct anchor_record *r)
{
	double hit_ns = anchor_turns_hit_ns(&w->turns, (double)w->hit_ns);

	vec_each(x, &w->turns.sums)
		anchor_record_watched(r, x->window, x->addr, x->hits,
				      anchor_turns_native_ns(x, hit_ns));
	if (w->turns.sums.n)
		facts_add(r->writer, FACT_RATE, "breakpoint-cost", "ns",
			  (uint64_t)hit_ns);
	anchor_turns_clear(&w->turns);
}
