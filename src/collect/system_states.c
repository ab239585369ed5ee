/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_states.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collect/state_calls.h"
#include "collect/system_events.h"
#include "collect/system_threads.h"
#include "states.skel.h"

struct system_states {
	struct system_states_settings settings;
	struct state_code code;
	struct states *skeleton;
	struct system_events *clock;
	struct system_threads *threads;
};

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
	k->rodata->has_threads = s->settings.has_threads;
	k->rodata->has_processes = s->settings.has_processes;
	k->rodata->is_everybody = s->settings.is_everybody;
	k->rodata->is_following = s->settings.follows_children;
	if (s->settings.depth)
		k->rodata->depth = s->settings.depth;
	k->rodata->wake_bytes = SYSTEM_RINGS_BYTES / 2;
	bpf_map__set_max_entries(k->maps.rings, cpus_end(s->settings.cpus));
	bpf_map__set_max_entries(k->maps.stats, cpus_end(s->settings.cpus));
	return rc;
}

static void leave_out_large(struct states *k)
{
	struct bpf_program *all[] = { k->progs.switched, k->progs.wakes, k->progs.cut };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		bpf_program__set_autoload(all[i], false);
}

static int load(struct system_states *s, struct err *e)
{
	system_rings_silence_libbpf();
	s->skeleton = states__open();
	if (!s->skeleton)
		return err_os(e, "cannot open the BPF programs");

	int rc = configure(s, e);

	if (rc < 0)
		return rc;
	if (s->settings.is_trial)
		leave_out_large(s->skeleton);
	if (states__load(s->skeleton) != 0)
		return err_os(e, "cannot load the BPF programs");
	return 0;
}

static int make_threads(struct system_states *s, const struct system_threads_sink *sink,
			struct err *e)
{
	struct states *k = s->skeleton;
	struct system_threads_parts parts = {
		.cpus = s->settings.cpus,
		.begin = k->progs.begin,
		.cut = k->progs.cut,
		.rings_map = bpf_map__fd(k->maps.rings),
		.stats_map = bpf_map__fd(k->maps.stats),
		.processes_map = bpf_map__fd(k->maps.processes),
		.sums = { .sums = bpf_map__fd(k->maps.sums),
			  .numbers = bpf_map__fd(k->maps.sum_numbers),
			  .generation = &k->bss->sums_generation,
			  .oldest = &k->bss->sums_oldest,
			  .next = k->data->sums_next },
		.from_ns = &k->bss->from_ns,
		.is_last_cut = &k->bss->is_last_cut,
	};

	return system_threads_new(&parts, sink, &s->threads, e);
}

int system_states_new(const struct system_states_settings *settings,
		      const struct system_threads_sink *sink, struct system_states **ret,
		      struct err *e)
{
	own(system_states_freep) struct system_states *s = xcalloc(1, sizeof(*s));
	struct system_events_settings clock = { .cpus = settings->cpus,
						.period_ns = settings->period_ns };
	int rc;

	s->settings = *settings;
	rc = system_events_new(&clock, &s->clock, e);
	if (rc == 0)
		rc = load(s, e);
	if (rc == 0)
		rc = make_threads(s, sink, e);
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
	system_threads_free(s->threads);
	states__destroy(s->skeleton);
	free(s);
}

void system_states_freep(struct system_states **s)
{
	system_states_free(*s);
}

void system_states_maps(const struct system_states *s, struct system_rows_maps *ret)
{
	ret->pools = bpf_map__fd(s->skeleton->maps.pools);
	ret->rules = bpf_map__fd(s->skeleton->maps.rules);
	ret->images = bpf_map__fd(s->skeleton->maps.images);
}

void system_states_numbers(const struct system_states *s, struct system_numbers_maps *ret)
{
	const struct states *k = s->skeleton;

	ret->files = bpf_map__fd(k->maps.mapping_files);
	ret->images = bpf_map__fd(k->maps.images);
	ret->offers = bpf_map__fd(k->maps.mapping_offers);
	ret->n_given = &k->data->mapping_next_image;
	ret->n_taken = &k->bss->mapping_n_taken;
	ret->n_offered = &k->bss->mapping_n_offered;
}

static int attach(struct system_states *s, struct err *e)
{
	struct states *k = s->skeleton;
	struct {
		struct bpf_program *program;
		struct bpf_link **link;
	} all[] = {
		{ k->progs.executed, &k->links.executed },
		{ k->progs.began, &k->links.began },
		{ k->progs.woken, &k->links.woken },
		{ k->progs.wakes, &k->links.wakes },
		{ k->progs.switched, &k->links.switched },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		*all[i].link = bpf_program__attach(all[i].program);
		if (!*all[i].link)
			return err_os(e, "cannot attach a BPF program");
	}
	return 0;
}

int system_states_start(struct system_states *s, struct err *e)
{
	int rc = attach(s, e);

	if (rc == 0)
		rc = system_threads_begin(s->threads, e);
	if (rc == 0)
		rc = system_events_start(s->clock, s->skeleton->progs.sampled, e);
	return rc;
}

void system_states_follow_cpus(struct system_states *s)
{
	system_events_follow(s->clock);
}

void system_states_jitter(struct system_states *s)
{
	system_events_jitter(s->clock, system_threads_cpu_stats(s->threads));
}

void system_states_stop(struct system_states *s)
{
	if (!system_threads_has_begun(s->threads))
		return;
	system_events_stop(s->clock);
	states__detach(s->skeleton);
	system_threads_end(s->threads);
}

struct system_threads *system_states_threads(const struct system_states *s)
{
	return s->threads;
}

const struct state_code *system_states_code(const struct system_states *s)
{
	return &s->code;
}

uint32_t system_states_n_unnumbered(const struct system_states *s)
{
	return s->skeleton->bss->mapping_n_unnumbered;
}
