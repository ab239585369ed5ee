/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/system_sums.h"
#include "host/clock.h"
#include "probes.skel.h"

/* enum thread_process of the kernel's side. */
enum { BEFORE_EXEC = 0, FOLLOWED = 1 };

/* Also one of programs that may run in the middle of another. */
#define N_SCRATCHES 3

struct system_probes {
	struct system_probes_settings settings;
	struct system_probes_sink sink;
	struct probes *skeleton;
	struct system_rings *rings;
	uint32_t n_cpus; /* that CPU numbers are below */
	struct system_sums *sums;
	const struct stack_record_stats *stats;
	uint64_t cut_ns, cut_took_ns; /* the last time, and how long that took */
	struct bpf_link *triggers[PROBE_RECORD_TRIGGERS_MAX];
	bool is_paused, is_started;
};

/* Going through all threads takes no more than that part of the time. */
#define CUT_SHARE 1000

static size_t stats_bytes(const struct system_probes *s)
{
	return (size_t)s->n_cpus * sizeof(struct stack_record_stats);
}

static void configure(struct system_probes *s)
{
	struct probes *k = s->skeleton;

	k->rodata->has_calls = s->settings.has_calls;
	k->rodata->has_threads = k->rodata->has_processes = true;
	k->rodata->is_everybody = s->settings.is_everybody;
	k->rodata->is_following = s->settings.follows_children;
	k->rodata->wake_bytes = SYSTEM_RINGS_BYTES / 2;
	bpf_map__set_max_entries(k->maps.rings, s->n_cpus);
	bpf_map__set_max_entries(k->maps.stats, s->n_cpus);
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

	void *stats = mmap(NULL, stats_bytes(s), PROT_READ, MAP_SHARED,
			   bpf_map__fd(s->skeleton->maps.stats), 0);

	s->stats = stats == MAP_FAILED ? NULL : stats;
	return s->stats ? 0 : err_os(e, "cannot map a BPF map");
}

static int make_sums(struct system_probes *s, struct err *e)
{
	struct probes *k = s->skeleton;
	struct system_sums_maps maps = { .sums = bpf_map__fd(k->maps.sums),
					 .numbers = bpf_map__fd(k->maps.sum_numbers),
					 .generation = &k->bss->sums_generation,
					 .oldest = &k->bss->sums_oldest,
					 .next = k->data->sums_next };

	return system_sums_new(&maps, &s->sums, e);
}

int system_probes_new(const struct system_probes_settings *settings,
		      const struct system_probes_sink *sink, struct system_probes **ret,
		      struct err *e)
{
	own(system_probes_freep) struct system_probes *s = xcalloc(1, sizeof(*s));
	const struct cpus *cpus = settings->cpus;
	int rc;

	s->settings = *settings;
	s->sink = *sink;
	s->n_cpus = cpus->ids.at[cpus->ids.n - 1] + 1;
	rc = load(s, e);
	if (rc == 0)
		rc = make_sums(s, e);
	if (rc == 0)
		rc = system_rings_new(bpf_map__fd(s->skeleton->maps.rings), cpus,
				      SYSTEM_RINGS_BYTES, &sink->rings, &s->rings, e);
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
	system_rings_free(s->rings);
	system_sums_free(s->sums);
	if (s->stats)
		munmap((void *)s->stats, stats_bytes(s));
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

int system_probes_follow(struct system_probes *s, pid_t pid, bool awaits_exec,
			 struct err *e)
{
	uint32_t process = awaits_exec ? BEFORE_EXEC : FOLLOWED;

	if (bpf_map_update_elem(bpf_map__fd(s->skeleton->maps.processes), &pid, &process,
				BPF_ANY) < 0)
		return err_os(e, "cannot follow process %d", pid);
	return 0;
}

/* Run a program for every thread that there is. */
static int for_all_threads(struct bpf_program *program, struct err *e)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	own(closep) int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char text[64];
	ssize_t n = -1;

	if (fd >= 0)
		do
			n = read(fd, text, sizeof(text));
		while (n > 0);
	bpf_link__destroy(link);
	return n < 0 ? err_os(e, "cannot go through the threads") : 0;
}

static void set_from(struct system_probes *s, uint64_t ns)
{
	__atomic_store_n(&s->skeleton->bss->from_ns, ns, __ATOMIC_SEQ_CST);
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
		rc = for_all_threads(s->skeleton->progs.begin, e);
	if (rc == 0 && !s->is_paused)
		set_from(s, clock_monotonic_ns());
	s->is_started = rc == 0;
	return rc;
}

int system_probes_fd(const struct system_probes *s)
{
	return system_rings_fd(s->rings);
}

void system_probes_fetch(struct system_probes *s)
{
	system_rings_consume(s->rings);
}

/* What is under way is charged up to now, and has numbers that are good. */
static void cut(struct system_probes *s)
{
	s->cut_ns = clock_monotonic_ns();
	if (for_all_threads(s->skeleton->progs.cut, NULL) == 0)
		s->cut_took_ns = clock_monotonic_ns() - s->cut_ns;
}

static bool is_cut_due(const struct system_probes *s)
{
	return s->is_started && !s->is_paused &&
	       clock_monotonic_ns() - s->cut_ns >= CUT_SHARE * s->cut_took_ns;
}

/* Whatever came to a sum has been told before: the rings are fetched last. */
int system_probes_drain(struct system_probes *s)
{
	if (system_sums_want_turn(s->sums)) {
		system_sums_begin_turn(s->sums);
		cut(s);
		system_sums_end_turn(s->sums);
	} else if (is_cut_due(s)) {
		cut(s);
	}
	system_sums_take(s->sums);
	system_probes_fetch(s);
	system_sums_deliver(s->sums, s->sink.rings.ctx, s->sink.sum);
	return system_sums_close(s->sums);
}

void system_probes_pause(struct system_probes *s, bool is_paused)
{
	s->is_paused = is_paused;
	if (!s->is_started)
		return;
	if (is_paused)
		cut(s);
	set_from(s, is_paused ? 0 : clock_monotonic_ns());
}

void system_probes_stop(struct system_probes *s)
{
	if (!s->is_started)
		return;
	s->is_started = false;
	detach_triggers(s);
	probes__detach(s->skeleton);
	if (!s->is_paused)
		cut(s);
}

void system_probes_stats(const struct system_probes *s, struct stack_record_stats *ret)
{
	system_rings_sum_stats(s->stats, s->n_cpus, ret);
}
