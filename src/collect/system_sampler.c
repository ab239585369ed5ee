/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "host/clock.h"
#include "unwind/stop.h"
#include "sampler.skel.h"

#define DEFAULT_SETS	   2048
#define DEFAULT_RING_BYTES ((size_t)2 << 20)
/* Longer than any program runs: nobody adds to a table any more that was left before. */
#define GRACE_NS	 1000000
#define JITTER_PER_MILLE 100
#define CHECK_PERIOD_NS	 100000
#define CHECK_NS	 10000000

struct cpu_event {
	uint32_t cpu;
	int fd;
	struct bpf_link *link;
	uint64_t samples; /* when its period was drawn */
};

struct system_sampler {
	struct system_sampler_settings settings;
	struct system_sampler_sink sink;
	struct sampler *skeleton;
	struct ring_buffer *rings;
	uint32_t n_cpus; /* that CPU numbers are below */
	struct stack_record_set *table;
	struct stack_record_stats *stats;
	VEC(struct cpu_event) events;
	uint64_t seed;
	bool is_started, is_paused;
};

/* libbpf's own words go nowhere: what is wrong is in its results. */
static int be_quiet(unused enum libbpf_print_level level, unused const char *format,
		    unused va_list args)
{
	return 0;
}

static size_t table_bytes(const struct system_sampler *s)
{
	return (size_t)s->n_cpus * 2 * s->settings.n_sets *
	       sizeof(struct stack_record_set);
}

static size_t stats_bytes(const struct system_sampler *s)
{
	return (size_t)s->n_cpus * sizeof(struct stack_record_stats);
}

static int handle(void *ctx, void *data, size_t size)
{
	struct system_sampler *s = ctx;
	const struct stack_record_count *c = data;
	const struct stack_record *r = data;

	/* The kernel's side made it: sizes are as they were written. */
	if (size < sizeof(uint64_t))
		return 0;
	if (c->kind == STACK_RECORD_COUNT && size >= sizeof(*c))
		s->sink.count(s->sink.ctx, c->table & 1, c->key, c->count);
	else if (c->kind == STACK_RECORD_STACK &&
		 size >= offsetof(struct stack_record, frames) &&
		 size >= offsetof(struct stack_record, frames) +
				 8 * ((size_t)r->n_kernel + r->n_user))
		s->sink.stack(s->sink.ctx, r);
	else if (c->kind == STACK_RECORD_IMAGE &&
		 size >= sizeof(struct stack_record_image))
		s->sink.image(s->sink.ctx, data);
	return 0;
}

static int add_ring(struct system_sampler *s, uint32_t cpu, struct err *e)
{
	own(closep) int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0,
					    (uint32_t)s->settings.ring_bytes, NULL);
	int rc = 0;

	if (fd < 0)
		return err_os(e, "cannot create a BPF ring");
	if (bpf_map_update_elem(bpf_map__fd(s->skeleton->maps.rings), &cpu, &fd,
				BPF_ANY) < 0)
		return err_os(e, "cannot add a BPF ring");
	if (!s->rings)
		s->rings = ring_buffer__new(fd, handle, s, NULL);
	else
		rc = ring_buffer__add(s->rings, fd, handle, s);
	if (!s->rings || rc < 0)
		return err_os(e, "cannot map a BPF ring");
	return 0;
}

static void configure(struct system_sampler *s)
{
	struct sampler *k = s->skeleton;

	k->rodata->is_flat = s->settings.is_flat;
	k->rodata->is_timed = s->settings.is_timed;
	k->rodata->has_threads = s->settings.has_threads;
	k->rodata->has_processes = s->settings.has_processes;
	k->rodata->n_sets = s->settings.n_sets;
	k->rodata->wake_bytes = (uint32_t)(s->settings.ring_bytes / 2);
	bpf_map__set_max_entries(k->maps.rings, s->n_cpus);
	bpf_map__set_max_entries(k->maps.table, s->n_cpus * 2 * s->settings.n_sets);
	bpf_map__set_max_entries(k->maps.stats, s->n_cpus);
}

static int load(struct system_sampler *s, struct err *e)
{
	libbpf_set_print(be_quiet);
	s->skeleton = sampler__open();
	if (!s->skeleton)
		return err_os(e, "cannot open the BPF programs");
	configure(s);
	if (sampler__load(s->skeleton) != 0)
		return err_os(e, "cannot load the BPF programs");
	s->table = mmap(NULL, table_bytes(s), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(s->skeleton->maps.table), 0);
	s->stats = mmap(NULL, stats_bytes(s), PROT_READ, MAP_SHARED,
			bpf_map__fd(s->skeleton->maps.stats), 0);
	if (s->table == MAP_FAILED || s->stats == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	return 0;
}

int system_sampler_new(const struct system_sampler_settings *settings,
		       const struct system_sampler_sink *sink,
		       struct system_sampler **ret, struct err *e)
{
	own(system_sampler_freep) struct system_sampler *s = xcalloc(1, sizeof(*s));
	const struct cpus *cpus = settings->cpus;
	int rc;

	s->settings = *settings;
	s->sink = *sink;
	s->seed = settings->period_ns;
	s->n_cpus = cpus->ids.at[cpus->ids.n - 1] + 1;
	if (!s->settings.n_sets)
		s->settings.n_sets = DEFAULT_SETS;
	if (!s->settings.ring_bytes)
		s->settings.ring_bytes = DEFAULT_RING_BYTES;
	rc = load(s, e);
	for (size_t i = 0; rc == 0 && i < cpus->ids.n; i++)
		rc = add_ring(s, cpus->ids.at[i], e);
	if (rc < 0)
		return rc;
	*ret = steal(&s);
	return 0;
}

void system_sampler_free(struct system_sampler *s)
{
	if (!s)
		return;
	system_sampler_stop(s);
	vec_fini(&s->events);
	ring_buffer__free(s->rings);
	if (s->table && s->table != MAP_FAILED)
		munmap(s->table, table_bytes(s));
	if (s->stats && s->stats != MAP_FAILED)
		munmap(s->stats, stats_bytes(s));
	sampler__destroy(s->skeleton);
	free(s);
}

void system_sampler_freep(struct system_sampler **s)
{
	system_sampler_free(*s);
}

void system_sampler_maps(const struct system_sampler *s, struct system_rows_maps *ret)
{
	ret->pools = bpf_map__fd(s->skeleton->maps.pools);
	ret->rules = bpf_map__fd(s->skeleton->maps.rules);
	ret->images = bpf_map__fd(s->skeleton->maps.images);
}

static int open_event(struct system_sampler *s, pid_t tid, int cpu, uint64_t period_ns,
		      struct bpf_link **ret, int *ret_fd, struct err *e)
{
	/* Idle time is nobody's, and its samples do not always arrive. */
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = period_ns,
					.exclude_idle = 1 };
	own(closep) int fd = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1,
					  PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return err_os(e, "cannot open an event");
	*ret = bpf_program__attach_perf_event(s->skeleton->progs.sample, fd);
	if (!*ret)
		return err_os(e, "cannot attach a BPF program");
	*ret_fd = steal_fd(&fd); /* the link's now */
	return 0;
}

static uint64_t thread_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int system_sampler_check(struct system_sampler *s, struct err *e)
{
	struct stack_record_stats stats;
	uint64_t begin_ns = thread_cpu_ns(), walked = 0;
	struct bpf_link *link = NULL;
	int fd, rc = open_event(s, 0, -1, CHECK_PERIOD_NS, &link, &fd, e);

	if (rc < 0)
		return rc;
	while (thread_cpu_ns() - begin_ns < CHECK_NS)
		;
	bpf_link__destroy(link);
	system_sampler_stats(s, &stats);
	for (unsigned i = 0; i < UNWIND_N_STOPS; i++)
		walked += stats.stops[i];
	if (!walked)
		return err_set(e, ERR_UNSUPPORTED,
			       "this kernel gives BPF programs no samples");
	if (stats.stops[UNWIND_NO_MAP] == walked)
		return err_set(e, ERR_UNSUPPORTED,
			       "this kernel keeps mappings in a way that dwell does not "
			       "know");
	return 0;
}

static struct cpu_event *find_event(struct system_sampler *s, uint32_t cpu)
{
	vec_each(ev, &s->events)
		if (ev->cpu == cpu)
			return ev;
	return NULL;
}

static int open_cpu(struct system_sampler *s, uint32_t cpu, struct err *e)
{
	struct cpu_event ev = { .cpu = cpu };
	int rc = open_event(s, -1, (int)cpu, s->settings.period_ns, &ev.link, &ev.fd, e);

	if (rc < 0)
		return rc;
	if (s->is_paused) /* attaching has enabled it */
		ioctl(ev.fd, PERF_EVENT_IOC_DISABLE, 0);
	*vec_push(&s->events) = ev;
	return rc;
}

int system_sampler_start(struct system_sampler *s, struct err *e)
{
	const struct cpus *cpus = s->settings.cpus;
	struct cpus online = { 0 };
	int rc = cpus_online(&online, e);

	for (size_t i = 0; rc == 0 && i < cpus->ids.n; i++)
		if (cpus_has(&online, cpus->ids.at[i]))
			rc = open_cpu(s, cpus->ids.at[i], e);
	cpus_fini(&online);
	s->is_started = rc == 0;
	return rc;
}

void system_sampler_follow(struct system_sampler *s)
{
	const struct cpus *cpus = s->settings.cpus;
	struct cpus online = { 0 };

	if (!s->is_started || cpus_online(&online, NULL) < 0)
		return;
	for (size_t i = 0; i < cpus->ids.n; i++) {
		uint32_t cpu = cpus->ids.at[i];
		struct cpu_event *ev = find_event(s, cpu);
		bool is_online = cpus_has(&online, cpu);

		if (ev && !is_online) { /* its event ended with it */
			bpf_link__destroy(ev->link);
			*ev = s->events.at[--s->events.n];
		} else if (!ev && is_online && open_cpu(s, cpu, NULL) < 0) {
			continue; /* the next time */
		}
	}
	cpus_fini(&online);
}

int system_sampler_fd(const struct system_sampler *s)
{
	return ring_buffer__epoll_fd(s->rings);
}

void system_sampler_fetch(struct system_sampler *s)
{
	ring_buffer__consume(s->rings);
}

static void drain_set(struct system_sampler *s, unsigned table,
		      struct stack_record_set *set)
{
	for (unsigned i = 0; i < STACK_RECORD_WAYS; i++) {
		struct stack_record_slot *slot = &set->slots[i];

		if (!slot->count)
			continue;
		s->sink.count(s->sink.ctx, table, slot->key, slot->count);
		*slot = (struct stack_record_slot){ 0 };
	}
}

unsigned system_sampler_drain(struct system_sampler *s)
{
	uint32_t left = s->skeleton->bss->active_table & 1;
	struct timespec grace = { .tv_nsec = GRACE_NS };

	__atomic_store_n(&s->skeleton->bss->active_table, !left, __ATOMIC_SEQ_CST);
	nanosleep(&grace, NULL);
	system_sampler_fetch(s);
	for (size_t c = 0; c < s->settings.cpus->ids.n; c++) {
		size_t first = ((size_t)s->settings.cpus->ids.at[c] * 2 + left) *
			       s->settings.n_sets;

		for (size_t i = 0; i < s->settings.n_sets; i++)
			drain_set(s, left, &s->table[first + i]);
	}
	return left;
}

/* A CPU that took no sample since the last time is idle: leave it alone. */
void system_sampler_jitter(struct system_sampler *s)
{
	uint64_t mean = s->settings.period_ns;
	uint64_t span = mean * JITTER_PER_MILLE / 1000;

	if (s->settings.is_fixed || !span)
		return;
	vec_each(ev, &s->events) {
		uint64_t samples = s->stats[ev->cpu].samples, period;

		if (samples == ev->samples)
			continue;
		ev->samples = samples;
		period = mean - span + hash_u64(++s->seed) % (2 * span + 1);
		ioctl(ev->fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

void system_sampler_pause(struct system_sampler *s, bool is_paused)
{
	s->is_paused = is_paused;
	vec_each(ev, &s->events)
		ioctl(ev->fd, is_paused ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE,
		      0);
}

void system_sampler_stop(struct system_sampler *s)
{
	vec_each(ev, &s->events) {
		bpf_link__destroy(ev->link);
	}
	s->events.n = 0;
	s->is_started = false;
}

void system_sampler_stats(const struct system_sampler *s, struct stack_record_stats *ret)
{
	*ret = (struct stack_record_stats){ 0 };
	for (uint32_t c = 0; c < s->n_cpus; c++) {
		const uint64_t *from = (const uint64_t *)&s->stats[c];
		uint64_t *to = (uint64_t *)ret;

		for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++)
			to[i] += from[i];
	}
}

uint32_t system_sampler_n_unnumbered(const struct system_sampler *s)
{
	uint32_t next = s->skeleton->data->mapping_next_image;

	return next > STACK_ROWS_IMAGES_MAX ? next - STACK_ROWS_IMAGES_MAX : 0;
}

size_t system_sampler_bytes(const struct system_sampler *s)
{
	return table_bytes(s) + stats_bytes(s) +
	       s->settings.cpus->ids.n * s->settings.ring_bytes;
}
