/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_threads.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
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

int system_threads_new(const struct system_threads_parts *parts,
		       const struct system_threads_sink *sink,
		       struct system_threads **ret, struct err *e)
{
	struct system_threads *t = xcalloc(1, sizeof(*t));
	const struct cpus *cpus = parts->cpus;
	int rc;

	t->parts = *parts;
	t->sink = *sink;
	t->n_cpus = cpus_end(cpus);
	rc = map_stats(t, e);
	if (rc == 0)
		rc = system_sums_new(&parts->sums, &t->sums, e);
	if (rc == 0)
		rc = system_rings_new(parts->rings_map, cpus, SYSTEM_RINGS_BYTES,
				      &sink->rings, &t->rings, e);
	if (rc < 0)
		system_threads_free(t);
	else
		*ret = t;
	return rc;
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

static void set_from(struct system_threads *t, uint64_t ns)
{
	__atomic_store_n(t->parts.from_ns, ns, __ATOMIC_SEQ_CST);
}

int system_threads_begin(struct system_threads *t, struct err *e)
{
	int rc = for_all_threads(t->parts.begin, e);

	if (rc < 0)
		return rc;
	t->is_started = true;
	if (!t->is_paused)
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
	system_rings_consume(t->rings);
}

bool system_threads_is_filling(const struct system_threads *t)
{
	return system_sums_want_turn(t->sums);
}

/* What is under way is charged up to now, and has numbers that are good. */
static void cut(struct system_threads *t, bool is_last)
{
	if (t->parts.is_last_cut)
		*t->parts.is_last_cut = is_last;
	t->cut_ns = clock_monotonic_ns();
	if (for_all_threads(t->parts.cut, NULL) == 0)
		t->cut_took_ns = clock_monotonic_ns() - t->cut_ns;
}

static bool is_cut_due(const struct system_threads *t)
{
	return clock_monotonic_ns() - t->cut_ns >= CUT_SHARE * t->cut_took_ns;
}

/* Whatever came to a sum has been told before: the rings are fetched last. */
int system_threads_drain(struct system_threads *t, bool is_whole)
{
	if (system_sums_want_turn(t->sums)) {
		system_sums_begin_turn(t->sums);
		cut(t, false);
		system_sums_end_turn(t->sums);
	} else if (t->is_started && !t->is_paused && (is_whole || is_cut_due(t))) {
		cut(t, false);
	}
	system_sums_take(t->sums);
	system_threads_fetch(t);
	system_sums_deliver(t->sums, t->sink.rings.ctx, t->sink.sum);
	return system_sums_close(t->sums);
}

void system_threads_pause(struct system_threads *t, bool is_paused)
{
	t->is_paused = is_paused;
	if (!t->is_started)
		return;
	if (is_paused)
		cut(t, true);
	set_from(t, is_paused ? 0 : clock_monotonic_ns());
}

void system_threads_end(struct system_threads *t)
{
	if (t->is_started && !t->is_paused)
		cut(t, true);
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
	       t->parts.cpus->ids.n * SYSTEM_RINGS_BYTES;
}
