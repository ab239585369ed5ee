/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/state_code.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "host/kernel.h"
#include "host/procfs.h"

#define KALLSYMS_MAX ((size_t)256 << 20)

/* The function that every page fault goes through has a name by architecture. */
#if defined(__x86_64__)
#define ENTRY_OF_FAULTS "exc_page_fault"
#else
#define ENTRY_OF_FAULTS "do_page_fault"
#endif

/* A symbol that begins a range, or ends one. */
struct wanted {
	const char *name;
	struct state_record_range *range;
	bool is_end;
};

static bool has_name(const struct kernel_symbol *s, const char *name)
{
	return !s->module && s->name_size == strlen(name) &&
	       !memcmp(s->name, name, s->name_size);
}

static void note(const struct wanted *wanted, size_t n, const struct kernel_symbol *s)
{
	for (size_t i = 0; i < n; i++) {
		struct state_record_range *r = wanted[i].range;

		if (has_name(s, wanted[i].name))
			*(wanted[i].is_end ? &r->end : &r->start) = s->addr;
	}
}

/* A function ends where the next one begins. */
static void find_end(struct state_record_range *r, const struct kernel_symbol *s)
{
	if (r->start && s->addr > r->start && (!r->end || s->addr < r->end))
		r->end = s->addr;
}

int state_code_find(struct state_record_range *scheduler,
		    struct state_record_range faults[STATE_RECORD_FAULT_RANGES],
		    struct err *e)
{
	const struct wanted wanted[] = {
		{ "__sched_text_start", scheduler, false },
		{ "__sched_text_end", scheduler, true },
		{ "handle_mm_fault", &faults[0], false },
		{ ENTRY_OF_FAULTS, &faults[1], false },
	};
	own(buf_fini) struct buf text = { 0 };
	struct kernel_symbol s;
	const char *at, *end;
	int rc = procfs_read("/proc/kallsyms", KALLSYMS_MAX, &text, e);

	if (rc < 0)
		return rc;
	end = buf_str(&text) + text.size;
	for (at = buf_str(&text); kernel_next_symbol(&at, end, &s);)
		note(wanted, sizeof(wanted) / sizeof(wanted[0]), &s);
	for (at = buf_str(&text); kernel_next_symbol(&at, end, &s);)
		for (size_t i = 0; i < STATE_RECORD_FAULT_RANGES; i++)
			find_end(&faults[i], &s);
	if (!scheduler->start || !scheduler->end || !faults[0].start)
		return err_set(e, ERR_UNSUPPORTED,
			       "the kernel's symbols are hidden (kernel.kptr_restrict)");
	return 0;
}
