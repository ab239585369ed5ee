/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_states.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/state_calls.h"
#include "collect/system_apart.h"
#include "collect/system_events.h"
#include "collect/system_hooks.h"
#include "collect/system_keeping.h"
#include "collect/system_types.h"
#include "host/kernel.h"
#include "states.skel.h"

struct system_states {
	struct system_states_settings settings;
	struct state_code code;
	struct states *skeleton;
	struct system_events *clock;
	struct system_programs programs;
};

#define N_HOOKS 5

/* What is attached for as long as it is recorded. */
static void list_hooks(struct system_states *s, struct system_hook ret[N_HOOKS])
{
	struct states *k = s->skeleton;
	const struct system_hook all[N_HOOKS] = {
		{ "executed", k->progs.executed, &k->links.executed },
		{ "began", k->progs.began, &k->links.began },
		{ "woken", k->progs.woken, &k->links.woken },
		{ "wakes", k->progs.wakes, &k->links.wakes },
		{ "switched", k->progs.switched, &k->links.switched },
	};

	memcpy(ret, all, sizeof(all));
}

static int configure(struct system_states *s, struct err *e)
{
	struct states *k = s->skeleton;
	int rc = state_code_find(&s->code, e);

	k->rodata->scheduler_code = s->code.scheduler;
	k->rodata->waking_code = s->code.waking;
	k->rodata->interrupt_code = s->code.interrupts;
	for (size_t i = 0; i < STATE_RECORD_FAULT_RANGES; i++)
		k->rodata->fault_code[i] = s->code.faults[i];
	state_calls_fill(k->rodata->call_states);
	SYSTEM_THREADS_CONFIGURE(k, &s->settings.whom);
	return rc;
}

static void leave_out_large(struct states *k)
{
	struct bpf_program *all[] = { k->progs.switched, k->progs.wakes, k->progs.cut };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		bpf_program__set_autoload(all[i], false);
}

static uint64_t layout_of(const struct system_states *s)
{
	struct system_threads_layout l = { .constants = s->skeleton->rodata,
					   .constants_bytes =
						   sizeof(*s->skeleton->rodata),
					   .cpus = s->settings.whom.cpus,
					   .chosen = s->settings.whom.apart.chosen };

	l.programs = states__elf_bytes(&l.programs_bytes);
	return system_threads_layout(&l);
}

/* With the maps and the programs of the one before, if there was one and it may. */
static int load_programs(struct system_states *s, bool may_take, struct err *e)
{
	own(system_types_fini) struct system_types types = SYSTEM_TYPES_NONE;
	LIBBPF_OPTS(bpf_object_open_opts, o);
	struct system_hook hooks[N_HOOKS];
	uint64_t layout;
	int rc;

	states__destroy(s->skeleton);
	system_types_init(&types);
	o.btf_custom_path = system_types_path(&types);
	s->skeleton = states__open_opts(&o);
	if (!s->skeleton)
		return err_os(e, "cannot open the BPF programs");
	rc = configure(s, e);
	if (rc < 0)
		return rc;
	if (s->settings.is_trial)
		leave_out_large(s->skeleton);
	list_hooks(s, hooks);
	layout = layout_of(s);
	s->programs.is_taken =
		s->programs.keeping && may_take &&
		system_keeping_take_hooks(s->programs.keeping, s->skeleton->obj, layout,
					  hooks, N_HOOKS);
	rc = system_types_pick(&types, s->skeleton->obj, e);
	if (rc < 0)
		return rc;
	if (states__load(s->skeleton) != 0)
		return err_os(e, "cannot load the BPF programs");
	if (s->programs.keeping && !s->programs.is_taken)
		system_keeping_begin(s->programs.keeping, s->skeleton->obj, layout);
	return 0;
}

static int load(struct system_states *s, struct err *e)
{
	int rc;

	system_rings_silence_libbpf();
	rc = load_programs(s, true, e);
	return rc < 0 && s->programs.is_taken ? load_programs(s, false, e) : rc;
}

static int open_programs(struct system_states *s, const struct system_threads_sink *sink,
			 struct err *e)
{
	struct states *k = s->skeleton;
	struct system_threads_parts parts = SYSTEM_THREADS_PARTS(k);

	parts.cpus = s->settings.whom.cpus;
	parts.is_last_cut = &k->bss->is_last_cut;
	parts.is_end = &k->bss->is_end;
	s->programs.maps = SYSTEM_CODE_MAPS(k);
	return system_programs_open(&s->programs, &parts, sink, e);
}

int system_states_new(const struct system_states_settings *settings,
		      const struct system_threads_sink *sink, struct system_states **ret,
		      struct err *e)
{
	own(system_states_freep) struct system_states *s = xcalloc(1, sizeof(*s));
	struct system_events_settings clock = { .cpus = settings->whom.cpus,
						.period_ns = settings->period_ns };
	int rc;

	s->settings = *settings;
	if (settings->pins)
		s->programs.keeping =
			system_keeping_new(&system_threads_states_kept, settings->pins,
					   settings->whom.cpus->ids.n);
	rc = system_events_new(&clock, &s->clock, e);
	if (rc == 0)
		rc = load(s, e);
	if (rc == 0)
		rc = open_programs(s, sink, e);
	if (rc < 0)
		return rc;
	*ret = steal(&s);
	return 0;
}

void system_states_free(struct system_states *s)
{
	if (!s)
		return;
	system_events_free(s->clock);
	system_programs_fini(&s->programs);
	states__destroy(s->skeleton);
	free(s);
}

void system_states_freep(struct system_states **s)
{
	system_states_free(*s);
}

static int attach(struct system_states *s, struct err *e)
{
	struct system_hook hooks[N_HOOKS];

	list_hooks(s, hooks);
	return s->programs.is_taken ? 0 : system_hooks_attach(hooks, N_HOOKS, e);
}

/* The clock's samples may come twice for a moment: each stands for what is new. */
static int pin(struct system_states *s, struct err *e)
{
	const struct system_pins *pins = system_programs_pins(&s->programs);
	uint32_t turn = ++system_keeping_entry(s->programs.keeping)->turn;
	struct system_hook hooks[N_HOOKS];
	int rc;

	list_hooks(s, hooks);
	system_keeping_write(s->programs.keeping);
	rc = system_events_keep(s->clock, pins, turn, e);
	if (rc == 0)
		rc = system_events_limit(s->clock, e);
	if (rc == 0 && !s->programs.is_taken)
		rc = system_hooks_keep(pins, hooks, N_HOOKS, e);
	return rc;
}

/* Only then it is the next one's to go on with. */
static void keep(struct system_states *s)
{
	struct err why = { 0 };

	if (!system_programs_pins(&s->programs) || pin(s, &why) == 0)
		return;
	system_events_forget_pins(s->clock);
	system_keeping_end(s->programs.keeping, &why);
}

int system_states_start(struct system_states *s, struct err *e)
{
	int rc = attach(s, e);

	if (rc == 0)
		rc = system_threads_begin(s->programs.threads, e);
	if (rc == 0)
		rc = system_events_start(s->clock, s->skeleton->progs.sampled, e);
	if (rc == 0)
		keep(s);
	return rc;
}

void system_states_follow_cpus(struct system_states *s, uint64_t now_ns)
{
	system_events_follow(s->clock, now_ns);
}

void system_states_jitter(struct system_states *s)
{
	system_events_jitter(s->clock, system_threads_cpu_stats(s->programs.threads));
}

void system_states_stop(struct system_states *s)
{
	struct system_hook hooks[N_HOOKS];

	system_events_stop(s->clock);
	list_hooks(s, hooks);
	system_programs_stop(&s->programs, hooks, N_HOOKS);
}

const struct system_programs *system_states_programs(const struct system_states *s)
{
	return &s->programs;
}

const struct state_code *system_states_code(const struct system_states *s)
{
	return &s->code;
}
