/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_programs.h"

#include "collect/system_keeping.h"

int system_programs_open(struct system_programs *p, struct system_threads_parts *parts,
			 const struct system_threads_sink *sink, struct err *e)
{
	parts->keeping = p->keeping;
	parts->is_taken = p->is_taken;
	return system_threads_new(parts, sink, &p->threads, e);
}

void system_programs_fini(struct system_programs *p)
{
	/* What was taken and not gone on with is the next one's. */
	if (p->keeping && (p->is_stopped || !p->is_taken))
		system_keeping_end(p->keeping, &(struct err){ 0 });
	system_threads_free(p->threads);
	system_keeping_free(p->keeping);
}

const struct system_pins *system_programs_pins(const struct system_programs *p)
{
	return p->keeping ? system_keeping_pins(p->keeping) : NULL;
}

void system_programs_stop(struct system_programs *p, const struct system_hook *hooks,
			  size_t n)
{
	if (!system_threads_has_begun(p->threads))
		return;
	p->is_stopped = true;
	system_hooks_end(system_programs_pins(p), hooks, n);
	system_threads_end(p->threads);
}
