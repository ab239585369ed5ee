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
#define ENTRY_OF_FAULTS	    "exc_page_fault"
#define ENTRY_OF_INTERRUPTS "asm_common_interrupt" /* entries of faults are before it */
#else
#define ENTRY_OF_FAULTS	    "do_page_fault"
#define ENTRY_OF_INTERRUPTS "__irqentry_text_start"
#endif

/* Functions in which interrupts do what threads wait for. */
static const struct {
	const char *function, *kind;
} interrupt_kinds[STATE_CODE_KINDS] = {
	{ "hrtimer_interrupt", "timer" },
	{ "hrtimer_run_softirq", "timer" },
	{ "run_timer_softirq", "timer" },
	{ "net_rx_action", "network" },
	{ "net_tx_action", "network" },
	{ "blk_done_softirq", "disk" },
	{ "blk_mq_complete_request", "disk" },
	{ "blk_update_request", "disk" },
	{ "bio_endio", "disk" },
};

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

static void find_starts(struct state_code *c, struct buf *text)
{
	const struct wanted wanted[] = {
		{ "__sched_text_start", &c->scheduler, false },
		{ "__sched_text_end", &c->scheduler, true },
		{ "handle_mm_fault", &c->faults[0], false },
		{ ENTRY_OF_FAULTS, &c->faults[1], false },
		{ "try_to_wake_up", &c->waking, false },
		{ ENTRY_OF_INTERRUPTS, &c->interrupts, false },
		{ "__irqentry_text_end", &c->interrupts, true },
	};
	const char *at = buf_str(text), *end = at + text->size;
	struct kernel_symbol s;

	while (kernel_next_symbol(&at, end, &s)) {
		note(wanted, sizeof(wanted) / sizeof(wanted[0]), &s);
		for (size_t i = 0; i < STATE_CODE_KINDS; i++)
			if (has_name(&s, interrupt_kinds[i].function))
				c->kinds[i].start = s.addr;
	}
}

static void find_ends(struct state_code *c, struct buf *text)
{
	const char *at = buf_str(text), *end = at + text->size;
	struct kernel_symbol s;

	while (kernel_next_symbol(&at, end, &s)) {
		for (size_t i = 0; i < STATE_RECORD_FAULT_RANGES; i++)
			find_end(&c->faults[i], &s);
		for (size_t i = 0; i < STATE_CODE_KINDS; i++)
			find_end(&c->kinds[i], &s);
		find_end(&c->waking, &s);
	}
}

int state_code_find(struct state_code *ret, struct err *e)
{
	own(buf_fini) struct buf text = { 0 };
	struct state_code c = { 0 };
	int rc = procfs_read("/proc/kallsyms", KALLSYMS_MAX, &text, e);

	if (rc < 0)
		return rc;
	find_starts(&c, &text);
	find_ends(&c, &text);
	if (!c.scheduler.start || !c.scheduler.end || !c.faults[0].start)
		return err_set(e, ERR_UNSUPPORTED,
			       "the kernel's symbols are hidden (kernel.kptr_restrict)");
	*ret = c;
	return 0;
}

static bool is_in(const struct state_record_range *r, uint64_t pc)
{
	return pc >= r->start && pc < r->end;
}

const char *state_code_interrupt(const struct state_code *c, const uint64_t *frames,
				 size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < STATE_CODE_KINDS; k++)
			if (is_in(&c->kinds[k], frames[i]))
				return interrupt_kinds[k].kind;
	return NULL;
}
