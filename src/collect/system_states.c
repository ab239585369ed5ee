/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_states.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/state_calls.h"
#include "collect/system_events.h"
#include "collect/system_sums.h"
#include "host/clock.h"
#include "states.skel.h"

/* enum thread_process of the kernel's side. */
enum { BEFORE_EXEC = 0, FOLLOWED = 1 };

struct system_states {
	struct system_states_settings settings;
	struct system_states_sink sink;
	struct state_code code;
	struct states *skeleton;
	struct system_rings *rings;
	struct system_events *clock;
	uint32_t n_cpus; /* that CPU numbers are below */
	struct system_sums *sums;
	const struct stack_record_stats *stats;
	uint64_t cut_ns, cut_took_ns; /* the last time, and how long that took */
	bool is_paused, is_started;
};

/* Going through all threads takes no more than that part of the time. */
#define CUT_SHARE 1000

static size_t stats_bytes(const struct system_states *s)
{
	return (size_t)s->n_cpus * sizeof(struct stack_record_stats);
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
	k->rodata->has_threads = s->settings.has_threads;
	k->rodata->has_processes = s->settings.has_processes;
	k->rodata->is_everybody = s->settings.is_everybody;
	k->rodata->is_following = s->settings.follows_children;
	if (s->settings.depth)
		k->rodata->depth = s->settings.depth;
	k->rodata->wake_bytes = SYSTEM_RINGS_BYTES / 2;
	bpf_map__set_max_entries(k->maps.rings, s->n_cpus);
	bpf_map__set_max_entries(k->maps.stats, s->n_cpus);
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

	void *stats = mmap(NULL, stats_bytes(s), PROT_READ, MAP_SHARED,
			   bpf_map__fd(s->skeleton->maps.stats), 0);

	s->stats = stats == MAP_FAILED ? NULL : stats;
	return s->stats ? 0 : err_os(e, "cannot map a BPF map");
}

static int make_sums(struct system_states *s, struct err *e)
{
	struct states *k = s->skeleton;
	struct system_sums_maps maps = { .sums = bpf_map__fd(k->maps.sums),
					 .numbers = bpf_map__fd(k->maps.sum_numbers),
					 .generation = &k->bss->sums_generation,
					 .oldest = &k->bss->sums_oldest,
					 .next = k->data->sums_next };

	return system_sums_new(&maps, &s->sums, e);
}

int system_states_new(const struct system_states_settings *settings,
		      const struct system_states_sink *sink, struct system_states **ret,
		      struct err *e)
{
	own(system_states_freep) struct system_states *s = xcalloc(1, sizeof(*s));
	const struct cpus *cpus = settings->cpus;
	int rc;

	s->settings = *settings;
	s->sink = *sink;
	s->n_cpus = cpus->ids.at[cpus->ids.n - 1] + 1;
	rc = system_events_new(
		&(struct system_events_settings){ .cpus = cpus,
						  .period_ns = settings->period_ns },
		&s->clock, e);
	if (rc == 0)
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

void system_states_free(struct system_states *s)
{
	if (!s)
		return;
	system_events_free(s->clock);
	system_rings_free(s->rings);
	system_sums_free(s->sums);
	if (s->stats)
		munmap((void *)s->stats, stats_bytes(s));
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

int system_states_follow(struct system_states *s, pid_t pid, bool awaits_exec,
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

static void set_from(struct system_states *s, uint64_t ns)
{
	__atomic_store_n(&s->skeleton->bss->from_ns, ns, __ATOMIC_SEQ_CST);
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
	int rc;

	rc = attach(s, e);
	if (rc == 0)
		rc = for_all_threads(s->skeleton->progs.begin, e);
	/* Where every thread is is known from here on. */
	if (rc == 0 && !s->is_paused)
		set_from(s, clock_monotonic_ns());
	if (rc == 0)
		rc = system_events_start(s->clock, s->skeleton->progs.sampled, e);
	s->is_started = rc == 0;
	return rc;
}

int system_states_fd(const struct system_states *s)
{
	return system_rings_fd(s->rings);
}

void system_states_fetch(struct system_states *s)
{
	system_rings_consume(s->rings);
}

bool system_states_is_filling(const struct system_states *s)
{
	return system_sums_want_turn(s->sums);
}

/* What is under way is charged up to now, and has numbers that are good. */
static void cut(struct system_states *s, bool is_last)
{
	s->skeleton->bss->is_last_cut = is_last;
	s->cut_ns = clock_monotonic_ns();
	if (for_all_threads(s->skeleton->progs.cut, NULL) == 0)
		s->cut_took_ns = clock_monotonic_ns() - s->cut_ns;
}

static bool is_cut_due(const struct system_states *s)
{
	return s->is_started && !s->is_paused &&
	       clock_monotonic_ns() - s->cut_ns >= CUT_SHARE * s->cut_took_ns;
}

/* Whatever has been charged has been told before: the rings are fetched last. */
int system_states_drain(struct system_states *s, bool is_whole)
{
	if (system_sums_want_turn(s->sums)) {
		system_sums_begin_turn(s->sums);
		cut(s, false);
		system_sums_end_turn(s->sums);
	} else if (is_cut_due(s) || (is_whole && s->is_started && !s->is_paused)) {
		cut(s, false);
	}
	system_sums_take(s->sums);
	system_states_fetch(s);
	system_sums_deliver(s->sums, s->sink.rings.ctx, s->sink.time);
	return system_sums_close(s->sums);
}

void system_states_follow_cpus(struct system_states *s)
{
	system_events_follow(s->clock);
}

void system_states_jitter(struct system_states *s)
{
	system_events_jitter(s->clock, s->stats);
}

void system_states_pause(struct system_states *s, bool is_paused)
{
	s->is_paused = is_paused;
	if (!s->is_started)
		return;
	if (is_paused)
		cut(s, true);
	set_from(s, is_paused ? 0 : clock_monotonic_ns());
}

void system_states_stop(struct system_states *s)
{
	if (!s->is_started)
		return;
	s->is_started = false;
	system_events_stop(s->clock);
	states__detach(s->skeleton);
	if (!s->is_paused)
		cut(s, true);
}

const struct state_code *system_states_code(const struct system_states *s)
{
	return &s->code;
}

void system_states_stats(const struct system_states *s, struct stack_record_stats *ret)
{
	system_rings_sum_stats(s->stats, s->n_cpus, ret);
}

size_t system_states_bytes(const struct system_states *s)
{
	return system_sums_bytes(s->sums) + stats_bytes(s) +
	       s->settings.cpus->ids.n * SYSTEM_RINGS_BYTES;
}

uint32_t system_states_n_unnumbered(const struct system_states *s)
{
	return s->skeleton->bss->mapping_n_unnumbered;
}
