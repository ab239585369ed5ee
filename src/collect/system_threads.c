/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_threads.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path_choice.h"
#include "collect/system_delivered.h"
#include "collect/system_keeping.h"
#include "collect/system_told.h"
#include "host/clock.h"

/* enum thread_process of the kernel's side. */
enum { BEFORE_EXEC = 0, FOLLOWED = 1 };

/* Going through all threads takes no more than that part of the time. */
#define CUT_SHARE 1000

struct system_threads {
	struct system_threads_parts parts;
	struct system_threads_sink sink;
	struct system_rings *rings;
	struct system_sums *sums;
	uint32_t n_cpus; /* that CPU numbers are below */
	const struct stack_record_stats *stats;
	uint64_t cut_ns, cut_took_ns; /* the last time, and how long that took */
	bool is_paused, is_started;
};

/* What is kept. */

static uint64_t count_left(const struct state_record_sum *sums,
			   const struct system_delivered *d)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < STATE_RECORD_SUMS_MAX; i++) {
		struct state_record_sum rest;

		system_delivered_rest(d, i, &sums[i], &rest);
		if (rest.count <= INT32_MAX) /* more: it was being cleared */
			n += rest.count;
	}
	return n;
}

/* Maps of another version may be of another size. */
static bool is_map(int fd, size_t value_bytes)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	       info.value_size == value_bytes &&
	       info.max_entries == STATE_RECORD_SUMS_MAX &&
	       info.map_flags & BPF_F_MMAPABLE;
}

static uint64_t sums_left(const struct system_pins *pins,
			  const struct system_ledger_entry *last)
{
	const size_t bytes = STATE_RECORD_SUMS_MAX * sizeof(struct state_record_sum);
	own(closep) int fd = system_pins_get(pins, "sums");
	own(closep) int delivered = system_pins_get(pins, SYSTEM_DELIVERED);
	own(system_delivered_freep) struct system_delivered *d = NULL;
	uint64_t n = last->unwritten;
	void *at;

	if (!is_map(fd, sizeof(struct state_record_sum)) ||
	    !is_map(delivered, SYSTEM_DELIVERED_BYTES) ||
	    system_delivered_new(delivered, last->version, &d, NULL) < 0)
		return 0;
	at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return 0;
	n += count_left(at, d);
	munmap(at, bytes);
	return n;
}

const struct system_keeping_kind system_threads_states_kept = {
	.suffix = "-states",
	.what = "states and wake-ups",
	.more = { { SYSTEM_DELIVERED, system_delivered_make },
		  { SYSTEM_TOLD, system_told_make } },
	.left = sums_left,
};

const struct system_keeping_kind system_threads_probes_kept = {
	.suffix = "-probes",
	.what = "calls, errors and triggers",
	.more = { { SYSTEM_DELIVERED, system_delivered_make },
		  { SYSTEM_TOLD, system_told_make } },
	.left = sums_left,
};

uint64_t system_threads_layout(const struct system_threads_layout *l)
{
	const uint64_t numbers[] = { cpus_end(l->cpus), l->cpus->ids.n };
	const char *chosen = l->chosen ? path_choice_text(l->chosen) : "";
	uint64_t hash = hash_bytes(l->programs, l->programs_bytes);

	hash = hash_pair(hash, hash_bytes(l->constants, l->constants_bytes));
	hash = hash_pair(hash, hash_bytes(numbers, sizeof(numbers)));
	return hash_pair(hash, hash_bytes(chosen, strlen(chosen)));
}

static bool is_kept(const struct system_threads *t)
{
	return t->parts.keeping && system_keeping_pins(t->parts.keeping);
}

/* Setting up. */

static size_t stats_bytes(const struct system_threads *t)
{
	return (size_t)t->n_cpus * sizeof(struct stack_record_stats);
}

static int map_stats(struct system_threads *t, struct err *e)
{
	void *stats =
		mmap(NULL, stats_bytes(t), PROT_READ, MAP_SHARED, t->parts.stats_map, 0);

	if (stats == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	t->stats = stats;
	return 0;
}

static int make_sums(struct system_threads *t, struct err *e)
{
	struct system_sums_maps maps = t->parts.sums;
	struct system_keeping *k = t->parts.keeping;

	maps.delivered = k ? system_keeping_more(k, SYSTEM_THREADS_DELIVERED) : -1;
	if (t->parts.is_taken) {
		maps.version = system_keeping_entry(k)->version;
		maps.finished = system_keeping_entry(k)->finished;
	}
	return system_sums_new(&maps, &t->sums, e);
}

static int make_rings(struct system_threads *t, struct err *e)
{
	const struct system_threads_parts *p = &t->parts;
	const struct system_sink *sink = &t->sink.rings;
	int rc;

	if (!p->is_taken)
		return system_rings_new(p->rings_map, p->cpus, SYSTEM_RINGS_BYTES, sink,
					&t->rings, e);
	rc = system_rings_take(p->rings_map, p->cpus, SYSTEM_RINGS_BYTES, sink, &t->rings,
			       e);
	if (rc == 0)
		system_rings_resume(t->rings, system_keeping_places(p->keeping));
	return rc;
}

int system_threads_new(const struct system_threads_parts *parts,
		       const struct system_threads_sink *sink,
		       struct system_threads **ret, struct err *e)
{
	struct system_threads *t = xcalloc(1, sizeof(*t));
	int rc;

	t->parts = *parts;
	t->sink = *sink;
	t->n_cpus = cpus_end(parts->cpus);
	rc = map_stats(t, e);
	if (rc == 0)
		rc = make_sums(t, e);
	if (rc == 0)
		rc = make_rings(t, e);
	if (rc < 0)
		system_threads_free(t);
	else
		*ret = t;
	return rc;
}

void system_threads_tell(struct system_threads *t, const struct system_threads_sink *sink)
{
	t->sink = *sink;
	system_rings_tell(t->rings, &sink->rings);
}

void system_threads_free(struct system_threads *t)
{
	if (!t)
		return;
	system_rings_free(t->rings);
	system_sums_free(t->sums);
	if (t->stats)
		munmap((void *)t->stats, stats_bytes(t));
	free(t);
}

int system_threads_follow(struct system_threads *t, pid_t pid, bool awaits_exec,
			  struct err *e)
{
	uint32_t process = awaits_exec ? BEFORE_EXEC : FOLLOWED;

	if (bpf_map_update_elem(t->parts.processes_map, &pid, &process, BPF_ANY) < 0)
		return err_os(e, "cannot follow process %d", pid);
	return 0;
}

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

int system_threads_foresee(struct system_threads *t, pid_t pid, const uint64_t *at,
			   size_t n, struct err *e)
{
	struct state_record_foreseen *f = t->parts.foreseen;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i += f->n) {
		size_t left = n - i;

		f->pid = (uint32_t)pid;
		f->n = left < STATE_RECORD_FORESEEN_MAX ? (uint32_t)left
							: STATE_RECORD_FORESEEN_MAX;
		memcpy(f->at, at + i, f->n * sizeof(*at));
		rc = for_all_threads(t->parts.foresee, e);
	}
	return rc;
}

static void set_from(struct system_threads *t, uint64_t ns)
{
	__atomic_store_n(t->parts.from_ns, ns, __ATOMIC_SEQ_CST);
}

/* Where another has begun all goes on, unless that had paused. */
int system_threads_begin(struct system_threads *t, struct err *e)
{
	bool goes_on = t->parts.is_taken && *t->parts.from_ns;
	int rc = goes_on ? 0 : for_all_threads(t->parts.begin, e);

	if (rc < 0)
		return rc;
	t->is_started = true;
	if (!t->is_paused && !goes_on)
		set_from(t, clock_monotonic_ns());
	return 0;
}

bool system_threads_has_begun(const struct system_threads *t)
{
	return t->is_started;
}

int system_threads_fd(const struct system_threads *t)
{
	return system_rings_fd(t->rings);
}

void system_threads_fetch(struct system_threads *t)
{
	if (is_kept(t))
		system_rings_fetch(t->rings);
	else
		system_rings_consume(t->rings);
}

bool system_threads_is_filling(const struct system_threads *t)
{
	return system_sums_want_turn(t->sums) ||
	       (is_kept(t) && system_rings_are_filling(t->rings));
}

/* What is under way is charged up to now, and has numbers that are good. */
static void cut(struct system_threads *t, bool is_last, bool is_end)
{
	if (t->parts.is_last_cut)
		*t->parts.is_last_cut = is_last;
	if (t->parts.is_end)
		*t->parts.is_end = is_end;
	t->cut_ns = clock_monotonic_ns();
	if (for_all_threads(t->parts.cut, NULL) == 0)
		t->cut_took_ns = clock_monotonic_ns() - t->cut_ns;
}

static bool is_cut_due(const struct system_threads *t)
{
	return clock_monotonic_ns() - t->cut_ns >= CUT_SHARE * t->cut_took_ns;
}

/* Whatever came to a sum has been told before: the rings are fetched last. */
void system_threads_drain(struct system_threads *t, bool is_whole)
{
	if (system_sums_want_turn(t->sums)) {
		system_sums_begin_turn(t->sums);
		cut(t, false, false);
		system_sums_end_turn(t->sums);
	} else if (t->is_started && !t->is_paused && (is_whole || is_cut_due(t))) {
		cut(t, false, false);
	}
	system_sums_take(t->sums);
	system_threads_fetch(t);
	system_sums_deliver(t->sums, t->sink.rings.ctx, t->sink.sum);
}

void system_threads_commit(struct system_threads *t)
{
	struct system_keeping *k = t->parts.keeping;

	system_sums_put(t->sums);
	if (is_kept(t)) {
		system_keeping_entry(k)->version = system_sums_version(t->sums);
		system_rings_pass(t->rings);
		system_rings_places(t->rings, system_keeping_places(k));
		system_keeping_write(k);
		system_rings_release(t->rings);
	}
	system_sums_commit(t->sums);
}

int system_threads_closing(const struct system_threads *t, uint32_t *ret_generation)
{
	*ret_generation = system_sums_generation(t->sums);
	return system_sums_closing(t->sums);
}

void system_threads_close(struct system_threads *t)
{
	system_sums_close(t->sums);
}

void system_threads_pause(struct system_threads *t, bool is_paused)
{
	/* What has been under way since the last cut would be forgotten. */
	if (is_paused == t->is_paused)
		return;
	t->is_paused = is_paused;
	if (!t->is_started)
		return;
	if (is_paused)
		cut(t, true, false);
	set_from(t, is_paused ? 0 : clock_monotonic_ns());
}

void system_threads_end(struct system_threads *t)
{
	if (!t->is_started)
		return;
	cut(t, true, true);
	set_from(t, 0); /* what was pinned may run for a moment still */
	t->is_started = false;
}

const struct stack_record_stats *system_threads_cpu_stats(const struct system_threads *t)
{
	return t->stats;
}

void system_threads_stats(const struct system_threads *t, struct stack_record_stats *ret)
{
	system_rings_sum_stats(t->stats, t->n_cpus, ret);
}

size_t system_threads_bytes(const struct system_threads *t)
{
	return system_sums_bytes(t->sums) + stats_bytes(t) +
	       (is_kept(t) ? STATE_RECORD_SUMS_MAX * SYSTEM_DELIVERED_BYTES : 0) +
	       t->parts.cpus->ids.n * SYSTEM_RINGS_BYTES;
}
