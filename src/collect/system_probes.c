/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collect/system_threads.h"
#include "probes.skel.h"

/* Also one of programs that may run in the middle of another. */
#define N_SCRATCHES 3

struct system_probes {
	struct system_probes_settings settings;
	struct probes *skeleton;
	struct system_threads *threads;
	struct bpf_link *triggers[PROBE_RECORD_TRIGGERS_MAX];
};

static void configure(struct system_probes *s)
{
	struct probes *k = s->skeleton;

	k->rodata->has_calls = s->settings.has_calls;
	k->rodata->has_threads = k->rodata->has_processes = true;
	k->rodata->is_everybody = s->settings.is_everybody;
	k->rodata->is_following = s->settings.follows_children;
	k->rodata->wake_bytes = SYSTEM_RINGS_BYTES / 2;
	bpf_map__set_max_entries(k->maps.rings, cpus_end(s->settings.cpus));
	bpf_map__set_max_entries(k->maps.stats, cpus_end(s->settings.cpus));
	bpf_map__set_max_entries(k->maps.scratches, N_SCRATCHES);
	for (size_t i = 0; i < s->settings.n_triggers; i++)
		k->rodata->trigger_fields[i] = s->settings.triggers[i].field;
	bpf_program__set_autoload(k->progs.met, s->settings.n_triggers > 0);
	if (s->settings.has_calls)
		return;
	bpf_program__set_autoload(k->progs.entered, false);
	bpf_program__set_autoload(k->progs.left, false);
	bpf_program__set_autoload(k->progs.ended, false);
}

static int load(struct system_probes *s, struct err *e)
{
	system_rings_silence_libbpf();
	s->skeleton = probes__open();
	if (!s->skeleton)
		return err_os(e, "cannot open the BPF programs");
	configure(s);
	if (probes__load(s->skeleton) != 0)
		return err_os(e, "cannot load the BPF programs");
	return 0;
}

static int make_threads(struct system_probes *s, const struct system_threads_sink *sink,
			struct err *e)
{
	struct probes *k = s->skeleton;
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
	};

	return system_threads_new(&parts, sink, &s->threads, e);
}

int system_probes_new(const struct system_probes_settings *settings,
		      const struct system_threads_sink *sink, struct system_probes **ret,
		      struct err *e)
{
	own(system_probes_freep) struct system_probes *s = xcalloc(1, sizeof(*s));
	int rc;

	s->settings = *settings;
	rc = load(s, e);
	if (rc == 0)
		rc = make_threads(s, sink, e);
	if (rc < 0)
		return rc;
	*ret = steal(&s);
	return 0;
}

static void detach_triggers(struct system_probes *s)
{
	for (size_t i = 0; i < s->settings.n_triggers; i++) {
		bpf_link__destroy(s->triggers[i]);
		s->triggers[i] = NULL;
	}
}

void system_probes_free(struct system_probes *s)
{
	if (!s)
		return;
	detach_triggers(s);
	system_threads_free(s->threads);
	probes__destroy(s->skeleton);
	free(s);
}

void system_probes_freep(struct system_probes **s)
{
	system_probes_free(*s);
}

void system_probes_maps(const struct system_probes *s, struct system_rows_maps *ret)
{
	ret->pools = bpf_map__fd(s->skeleton->maps.pools);
	ret->rules = bpf_map__fd(s->skeleton->maps.rules);
	ret->images = bpf_map__fd(s->skeleton->maps.images);
}

/* Returns are seen before calls are, so that none returns unseen that was seen to begin.
 */
static int attach(struct system_probes *s, struct err *e)
{
	struct probes *k = s->skeleton;
	bool has_calls = s->settings.has_calls;
	struct {
		bool is_wanted;
		struct bpf_program *program;
		struct bpf_link **link;
	} all[] = {
		{ true, k->progs.executed, &k->links.executed },
		{ true, k->progs.began, &k->links.began },
		{ has_calls, k->progs.ended, &k->links.ended },
		{ has_calls, k->progs.left, &k->links.left },
		{ has_calls, k->progs.entered, &k->links.entered },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].is_wanted)
			continue;
		*all[i].link = bpf_program__attach(all[i].program);
		if (!*all[i].link)
			return err_os(e, "cannot attach a BPF program");
	}
	return 0;
}

static int attach_triggers(struct system_probes *s, struct err *e)
{
	for (size_t i = 0; i < s->settings.n_triggers; i++) {
		const struct system_probes_trigger *t = &s->settings.triggers[i];
		LIBBPF_OPTS(bpf_tracepoint_opts, options, .bpf_cookie = i);

		s->triggers[i] = bpf_program__attach_tracepoint_opts(
			s->skeleton->progs.met, t->group, t->name, &options);
		if (!s->triggers[i])
			return err_os(e, "cannot attach to %s:%s", t->group, t->name);
	}
	return 0;
}

int system_probes_start(struct system_probes *s, struct err *e)
{
	int rc = attach(s, e);

	if (rc == 0)
		rc = attach_triggers(s, e);
	if (rc == 0)
		rc = system_threads_begin(s->threads, e);
	return rc;
}

void system_probes_stop(struct system_probes *s)
{
	if (!system_threads_has_begun(s->threads))
		return;
	detach_triggers(s);
	probes__detach(s->skeleton);
	system_threads_end(s->threads);
}

struct system_threads *system_probes_threads(const struct system_probes *s)
{
	return s->threads;
}
