/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/mem.h"
#include "collect/system_apart.h"
#include "collect/system_hooks.h"
#include "collect/system_keeping.h"
#include "collect/system_types.h"
#include "host/kernel.h"
#include "probes.skel.h"

/* Also those of programs that may run in the middle of another. */
#define N_SCRATCHES 5

struct system_probes {
	struct system_probes_settings settings;
	struct probes *skeleton;
	struct system_programs programs;
	struct bpf_link *places[PROBE_RECORD_PLACES_MAX];
};

#define N_PROGRAMS 5
#define HOOKS_MAX  (N_PROGRAMS + PROBE_RECORD_PLACES_MAX)

/* What is attached for as long as it is recorded, first to last.  Returns are seen before
 * calls are, so that none returns unseen that was seen to begin. */
static size_t list_programs(struct system_probes *s, struct system_hook *ret)
{
	struct probes *k = s->skeleton;
	const struct system_hook all[N_PROGRAMS] = {
		{ "executed", k->progs.executed, &k->links.executed },
		{ "began", k->progs.began, &k->links.began },
		{ "ended", k->progs.ended, &k->links.ended },
		{ "left", k->progs.left, &k->links.left },
		{ "entered", k->progs.entered, &k->links.entered },
	};
	size_t n = s->settings.has_calls ? N_PROGRAMS : 2;

	memcpy(ret, all, n * sizeof(all[0]));
	return n;
}

/* And the places. */
static size_t list_hooks(struct system_probes *s, struct system_hook ret[HOOKS_MAX])
{
	struct probes *k = s->skeleton;
	size_t n = list_programs(s, ret);

	for (size_t i = 0; i < s->settings.n_places; i++) {
		struct system_hook *h = &ret[n++];

		*h = (struct system_hook){ .program = s->settings.places[i].path
							      ? k->progs.reached
							      : k->progs.met,
					   .link = &s->places[i] };
		snprintf(h->name, sizeof(h->name), "place%zu", i);
	}
	return n;
}

static void configure_places(struct system_probes *s)
{
	struct probes *k = s->skeleton;
	bool has_told = false, has_code = false;

	for (size_t i = 0; i < s->settings.n_places; i++) {
		const struct system_probes_place *p = &s->settings.places[i];

		k->rodata->trigger_places[i] = p->what;
		has_told |= !p->path;
		has_code |= p->path != NULL;
	}
	bpf_program__set_autoload(k->progs.met, has_told);
	bpf_program__set_autoload(k->progs.reached, has_code);
}

static void configure(struct system_probes *s)
{
	struct probes *k = s->skeleton;

	k->rodata->has_calls = s->settings.has_calls;
	SYSTEM_THREADS_CONFIGURE(k, &s->settings.whom);
	bpf_map__set_max_entries(k->maps.scratches, N_SCRATCHES);
	configure_places(s);
	if (s->settings.has_calls)
		return;
	bpf_program__set_autoload(k->progs.entered, false);
	bpf_program__set_autoload(k->progs.left, false);
	bpf_program__set_autoload(k->progs.ended, false);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_pair(hash, text ? hash_bytes(text, strlen(text)) : 0);
}

/* The file there now, too: what is attached stays with the one that it was. */
static uint64_t hash_place(uint64_t hash, const struct system_probes_place *p)
{
	struct stat st = { 0 };

	hash = hash_text(hash_text(hash_text(hash, p->group), p->name), p->path);
	if (p->path && stat(p->path, &st) == 0)
		hash = hash_pair(hash_pair(hash, st.st_dev), st.st_ino);
	return hash_pair(hash_pair(hash, p->offset), p->semaphore);
}

static uint64_t layout_of(const struct system_probes *s)
{
	struct system_threads_layout l = { .constants = s->skeleton->rodata,
					   .constants_bytes =
						   sizeof(*s->skeleton->rodata),
					   .cpus = s->settings.whom.cpus,
					   .chosen = s->settings.whom.apart.chosen };
	uint64_t hash;

	l.programs = probes__elf_bytes(&l.programs_bytes);
	hash = system_threads_layout(&l);
	for (size_t i = 0; i < s->settings.n_places; i++)
		hash = hash_place(hash, &s->settings.places[i]);
	return hash;
}

/* With the maps and the programs of the one before, if there was one and it may. */
static int load_programs(struct system_probes *s, bool may_take, struct err *e)
{
	own(system_types_fini) struct system_types types = SYSTEM_TYPES_NONE;
	LIBBPF_OPTS(bpf_object_open_opts, o);
	struct system_hook hooks[HOOKS_MAX];
	uint64_t layout;
	size_t n;
	int rc;

	probes__destroy(s->skeleton);
	system_types_init(&types);
	o.btf_custom_path = system_types_path(&types);
	s->skeleton = probes__open_opts(&o);
	if (!s->skeleton)
		return err_os(e, "cannot open the BPF programs");
	configure(s);
	n = list_hooks(s, hooks);
	layout = layout_of(s);
	s->programs.is_taken =
		s->programs.keeping && may_take &&
		system_keeping_take_hooks(s->programs.keeping, s->skeleton->obj, layout,
					  hooks, n);
	rc = system_types_pick(&types, s->skeleton->obj, e);
	if (rc < 0)
		return rc;
	if (probes__load(s->skeleton) != 0)
		return err_os(e, "cannot load the BPF programs");
	if (s->programs.keeping && !s->programs.is_taken)
		system_keeping_begin(s->programs.keeping, s->skeleton->obj, layout);
	return 0;
}

static int load(struct system_probes *s, struct err *e)
{
	int rc;

	system_rings_silence_libbpf();
	rc = load_programs(s, true, e);
	return rc < 0 && s->programs.is_taken ? load_programs(s, false, e) : rc;
}

static int open_programs(struct system_probes *s, const struct system_threads_sink *sink,
			 struct err *e)
{
	struct system_threads_parts parts = SYSTEM_THREADS_PARTS(s->skeleton);

	parts.cpus = s->settings.whom.cpus;
	s->programs.maps = SYSTEM_CODE_MAPS(s->skeleton);
	return system_programs_open(&s->programs, &parts, sink, e);
}

int system_probes_new(const struct system_probes_settings *settings,
		      const struct system_threads_sink *sink, struct system_probes **ret,
		      struct err *e)
{
	own(system_probes_freep) struct system_probes *s = xcalloc(1, sizeof(*s));
	int rc;

	s->settings = *settings;
	if (settings->pins)
		s->programs.keeping =
			system_keeping_new(&system_threads_probes_kept, settings->pins,
					   settings->whom.cpus->ids.n);
	rc = load(s, e);
	if (rc == 0)
		rc = open_programs(s, sink, e);
	if (rc < 0)
		return rc;
	*ret = steal(&s);
	return 0;
}

void system_probes_free(struct system_probes *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->settings.n_places; i++)
		bpf_link__destroy(s->places[i]);
	system_programs_fini(&s->programs);
	probes__destroy(s->skeleton);
	free(s);
}

void system_probes_freep(struct system_probes **s)
{
	system_probes_free(*s);
}

static int attach(struct system_probes *s, struct err *e)
{
	struct system_hook hooks[N_PROGRAMS];

	return system_hooks_attach(hooks, list_programs(s, hooks), e);
}

static struct bpf_link *attach_tracepoint(struct system_probes *s, size_t i)
{
	const struct system_probes_place *p = &s->settings.places[i];
	LIBBPF_OPTS(bpf_tracepoint_opts, options, .bpf_cookie = i);

	return bpf_program__attach_tracepoint_opts(s->skeleton->progs.met, p->group,
						   p->name, &options);
}

/* In every process: breakpoints are inherited, and who is not followed counts not. */
static struct bpf_link *attach_code(struct system_probes *s, size_t i)
{
	const struct system_probes_place *p = &s->settings.places[i];
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = p->semaphore,
		    .bpf_cookie = i, .retprobe = p->what.is_return != 0);

	return bpf_program__attach_uprobe_opts(s->skeleton->progs.reached, -1, p->path,
					       p->offset, &options);
}

static int attach_places(struct system_probes *s, struct err *e)
{
	for (size_t i = 0; i < s->settings.n_places; i++) {
		const struct system_probes_place *p = &s->settings.places[i];

		s->places[i] = p->path ? attach_code(s, i) : attach_tracepoint(s, i);
		if (s->places[i])
			continue;
		if (p->path)
			return err_os(e, "cannot probe '%s' at 0x%llx", p->path,
				      (unsigned long long)p->offset);
		return err_os(e, "cannot attach to %s:%s", p->group, p->name);
	}
	return 0;
}

/* Only then it is the next one's to go on with. */
static void keep(struct system_probes *s)
{
	const struct system_pins *pins = system_programs_pins(&s->programs);
	struct system_hook hooks[HOOKS_MAX];
	struct err why = { 0 };

	if (pins && system_hooks_keep(pins, hooks, list_hooks(s, hooks), &why) < 0)
		system_keeping_end(s->programs.keeping, &why);
}

int system_probes_start(struct system_probes *s, struct err *e)
{
	int rc;

	if (s->programs.is_taken)
		return system_threads_begin(s->programs.threads, e);
	rc = attach(s, e);
	if (rc == 0)
		rc = attach_places(s, e);
	if (rc == 0)
		rc = system_threads_begin(s->programs.threads, e);
	if (rc == 0)
		keep(s);
	return rc;
}

void system_probes_stop(struct system_probes *s)
{
	struct system_hook hooks[HOOKS_MAX];

	system_programs_stop(&s->programs, hooks, list_hooks(s, hooks));
}

const struct system_programs *system_probes_programs(const struct system_probes *s)
{
	return &s->programs;
}
