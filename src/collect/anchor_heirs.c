/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_heirs.h"

#include "host/procfs.h"

void anchor_heirs_fini(struct anchor_heirs *h)
{
	vec_each(c, &h->at)
		anchor_counters_fini(c);
	vec_fini(&h->at);
}

static bool has(const struct anchor_heirs *h, pid_t pid)
{
	vec_each(c, &h->at)
		if (c->pid == pid)
			return true;
	return false;
}

void anchor_heirs_find(struct anchor_heirs *h, const struct anchor_counters *of,
		       bool (*is_known)(void *ctx, pid_t pid), void *ctx)
{
	own(procfs_ids_fini) struct procfs_ids pids = { 0 };

	if (!of->n_areas || procfs_processes(&pids, NULL) < 0)
		return;
	vec_each(pid, &pids.ids) {
		struct anchor_counters c = { .pid = *pid };

		if (*pid != of->pid && !has(h, *pid) && !is_known(ctx, *pid) &&
		    anchor_counters_inherit(&c, of))
			*vec_push(&h->at) = c;
	}
}

int anchor_heirs_end(struct anchor_heirs *h, struct err *e)
{
	int rc = 0;

	vec_each(c, &h->at) {
		struct err why = { 0 };
		int this = anchor_counters_end(c, &why);

		if (this < 0 && rc == 0) {
			rc = this;
			*e = why;
		}
	}
	return rc;
}
