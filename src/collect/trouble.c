/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/trouble.h"

static void begin(struct trouble *t, uint64_t now_ns)
{
	t->is_on = true;
	t->since_ns = now_ns;
	t->waiting_bytes = 0;
	t->n++;
}

void trouble_note(struct trouble *t, const struct err *why, uint64_t waiting_bytes,
		  uint64_t now_ns)
{
	if (!why) {
		t->ended_ns = t->is_on ? now_ns : t->ended_ns;
		t->is_on = false;
		return;
	}
	if (!t->is_on)
		begin(t, now_ns);
	t->why = *why;
	if (waiting_bytes > t->waiting_bytes)
		t->waiting_bytes = waiting_bytes;
}

uint64_t trouble_lasted_ns(const struct trouble *t, uint64_t now_ns)
{
	return (t->is_on ? now_ns : t->ended_ns) - t->since_ns;
}
