/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_heirs.h"

#include "host/newcomers.h"
#include "host/procfs.h"

#define ROUNDS_MAX 8 /* of processes that are begun meanwhile */

void anchor_heirs_fini(struct anchor_heirs *h)
{
	vec_each(c, &h->of)
		anchor_counters_fini(c);
	vec_fini(&h->of);
}

static bool has_copies(pid_t pid, const struct anchor_counters *of)
{
	struct anchor_counters c = { .pid = pid };
	bool ret = anchor_counters_inherit(&c, of);

	anchor_counters_fini(&c);
	return ret;
}

/* Whom nobody has copies of now never has heirs: it has ended, or is another program. */
static bool has_heirs(const struct anchor_counters *of)
{
	own(procfs_ids_fini) struct procfs_ids pids = { 0 };

	if (!of->n_areas)
		return false;
	if (procfs_processes(&pids, NULL) < 0)
		return true; /* for all that is known */
	vec_each(pid, &pids.ids)
		if (has_copies(*pid, of))
			return true;
	return false;
}

static struct anchor_counters *find(const struct anchor_heirs *h, uint64_t mark)
{
	vec_each(c, &h->of)
		if (c->mark == mark)
			return c;
	return NULL;
}

/* Of several with one mark that has most which put them there, the last. */
void anchor_heirs_keep(struct anchor_heirs *h, struct anchor_counters *c)
{
	struct anchor_counters *same = find(h, c->mark), less = *c;

	if (same && same->at.n < c->at.n) {
		less = *same;
		*same = *c;
	} else if (!same && has_heirs(c)) {
		*vec_push(&h->of) = *c;
		less = (struct anchor_counters){ 0 };
	}
	anchor_counters_fini(&less);
	*c = (struct anchor_counters){ 0 };
}

/* What a process has of these is off; whether something was not. */
static int end(pid_t pid, const struct anchor_counters *of, bool *ret_was_on,
	       struct err *e)
{
	struct anchor_counters c = { .pid = pid };
	int rc = 0;

	if (anchor_counters_inherit(&c, of) && anchor_counters_are_on(&c) &&
	    procfs_is_process(pid)) {
		rc = anchor_counters_end(&c, e);
		*ret_was_on |= rc == 0;
	}
	anchor_counters_fini(&c);
	return rc;
}

static int end_each(const struct anchor_heirs *h, const struct procfs_ids *pids,
		    bool *ret_were_on, struct err *e)
{
	int rc = 0;

	vec_each(pid, &pids->ids)
		vec_each(of, &h->of) {
			struct err why = { 0 };
			int this = end(*pid, of, ret_were_on, &why);

			if (this < 0 && rc == 0) {
				rc = this;
				*e = why;
			}
		}
	return rc;
}

/* Who was begun meanwhile may have been by one that had them still. */
int anchor_heirs_end(struct anchor_heirs *h, struct err *e)
{
	own(procfs_ids_fini) struct procfs_ids pids = { 0 };
	struct newcomers until = { 0 };
	bool were_on = h->of.n;
	struct err why = { 0 };
	int rc = 0, this;

	for (unsigned i = 0; i < ROUNDS_MAX && were_on; i++) {
		struct newcomers now = newcomers_mark();

		were_on = false;
		this = newcomers_since(&until, &pids, &why);
		if (this == 0)
			this = end_each(h, &pids, &were_on, &why);
		until = now;
		if (this < 0 && rc == 0) {
			rc = this;
			*e = why;
		}
	}
	return rc;
}
