/* SPDX-License-Identifier: Apache-2.0
 * Where there is no counting engine. */
#include "collect/anchor_counters.h"

void anchor_counters_fini(struct anchor_counters *c)
{
	vec_fini(&c->at);
}

bool anchor_counters_inherit(struct anchor_counters *c, const struct anchor_counters *of)
{
	(void)c;
	(void)of;
	return false;
}

int anchor_counters_add(struct anchor_counters *c, const struct anchor_site *sites,
			size_t n, struct err *e)
{
	(void)c;
	(void)sites;
	(void)n;
	return err_set(e, ERR_UNSUPPORTED, "programs have counters on x86-64 only");
}

bool anchor_counters_read(struct anchor_counters *c)
{
	(void)c;
	return false;
}

int anchor_counters_set(struct anchor_counters *c, const bool *is_on, struct err *e)
{
	(void)c;
	(void)is_on;
	return err_set(e, ERR_UNSUPPORTED, "programs have counters on x86-64 only");
}

int anchor_counters_stand(struct anchor_counters *c, const bool *is_on, struct err *e)
{
	return anchor_counters_set(c, is_on, e);
}

bool anchor_counters_are_on(const struct anchor_counters *c)
{
	(void)c;
	return false;
}

int anchor_counters_end(struct anchor_counters *c, struct err *e)
{
	(void)c;
	(void)e;
	return 0;
}
