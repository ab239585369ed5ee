/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path_choice.h"
#include "collect/row_pack.h"
#include "collect/system_apart.h"
#include "collect/system_grace.h"
#include "collect/system_keeping.h"
#include "collect/system_types.h"
#include "host/kernel.h"
#include "unwind/stop.h"
#include "sampler.skel.h"

#define DEFAULT_SETS 2048
/* CPU time in which a sample is expected, and in which there must be one. */
#define TRY_NS	   UINT64_C(10000000)
#define TRY_MAX_NS UINT64_C(320000000)
/* Of a CPU, that are taken while nobody asks for them: some minutes of its time. */
#define UNASKED_MAX UINT64_C(1500000)

struct system_sampler {
	struct system_sampler_settings settings;
	struct system_sink sink;
	struct sampler *skeleton;
	struct system_rings *rings;
	struct system_events *events;
	uint32_t n_cpus; /* that CPU numbers are below */
	struct stack_record_set *table;
	struct stack_record_stats *stats;
	struct stack_record_late *late;
	struct system_keeping *keeping;	  /* or NULL */
	struct system_ledger_entry taken; /* by the one before, if is_taken */
	bool is_taken, is_stopped, has_ended;
	/* It had begun to empty a table. */
	bool is_half_drained;
};

static size_t table_bytes(const struct system_sampler *s)
{
	return (size_t)s->n_cpus * 2 * s->settings.n_sets *
	       sizeof(struct stack_record_set);
}

static size_t stats_bytes(const struct system_sampler *s)
{
	return (size_t)s->n_cpus * sizeof(struct stack_record_stats);
}

static size_t late_bytes(const struct system_sampler *s)
{
	return (size_t)s->n_cpus * sizeof(struct stack_record_late);
}

/* Those that tell how late their samples are. */
static uint32_t clock_events(const struct system_sampler_settings *s)
{
	uint32_t clocks = s->n_events ? 0 : 1;

	for (size_t i = 0; i < s->n_events; i++)
		if (counter_is_clock(s->events[i].counter))
			clocks |= UINT32_C(1) << i;
	return clocks;
}

static void configure(struct system_sampler *s)
{
	struct sampler *k = s->skeleton;

	k->rodata->is_flat = s->settings.is_flat;
	if (s->settings.depth)
		k->rodata->depth = s->settings.depth;
	k->rodata->is_timed = s->settings.is_timed;
	k->rodata->page_shift = kernel_page_shift();
	k->rodata->has_threads = s->settings.apart.threads;
	k->rodata->has_processes = s->settings.apart.processes;
	k->rodata->has_choice = s->settings.apart.chosen != NULL;
	k->rodata->has_cpus = s->settings.apart.cpus;
	k->rodata->has_events = s->settings.n_events > 1;
	k->rodata->clocks = clock_events(&s->settings);
	k->rodata->n_sets = s->settings.n_sets;
	k->rodata->wake_bytes = (uint32_t)(s->settings.ring_bytes / 2);
	bpf_map__set_max_entries(k->maps.rings, s->n_cpus);
	bpf_map__set_max_entries(k->maps.table, s->n_cpus * 2 * s->settings.n_sets);
	bpf_map__set_max_entries(k->maps.stats, s->n_cpus);
	bpf_map__set_max_entries(k->maps.late, s->n_cpus);
	bpf_map__set_max_entries(k->maps.apart_images,
				 system_apart_n_entries(s->settings.apart.chosen));
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	return hash_pair(hash, hash_bytes(data, size));
}

static const char *chosen_text(const struct system_sampler_settings *s)
{
	return path_choice_text(s->apart.chosen);
}

/* Of what is in the maps, and what it means: of the programs and all that they are set
 * to. */
static uint64_t layout_of(const struct system_sampler *s)
{
	const struct system_sampler_settings *x = &s->settings;
	const uint64_t numbers[] = { s->n_cpus, x->cpus->ids.n, x->ring_bytes,
				     x->period_ns, x->n_at_once };
	uint64_t hash;
	size_t size;
	const void *programs = sampler__elf_bytes(&size);

	hash = mix(hash_bytes(programs, size), s->skeleton->rodata,
		   sizeof(*s->skeleton->rodata));
	hash = mix(hash, numbers, sizeof(numbers));
	hash = hash_pair(hash, row_pack_maker());
	if (x->apart.chosen)
		hash = mix(hash, chosen_text(x), strlen(chosen_text(x)));
	for (size_t i = 0; i < x->n_events; i++) {
		const struct system_event *ev = &x->events[i];

		hash = mix(hash, ev->counter->name, strlen(ev->counter->name));
		hash = hash_pair(hash, ev->period);
		hash = hash_pair(hash, ev->hz);
	}
	return hash;
}

/* With the maps of the one before, if there was one and it may. */
static int load_programs(struct system_sampler *s, bool may_take, struct err *e)
{
	own(system_types_fini) struct system_types types = SYSTEM_TYPES_NONE;
	LIBBPF_OPTS(bpf_object_open_opts, o);
	uint64_t layout;
	int rc;

	sampler__destroy(s->skeleton);
	system_types_init(&types);
	o.btf_custom_path = system_types_path(&types);
	s->skeleton = sampler__open_opts(&o);
	if (!s->skeleton)
		return err_os(e, "cannot open the BPF programs");
	configure(s);
	layout = layout_of(s);
	s->is_taken = s->keeping && may_take &&
		      system_keeping_take(s->keeping, s->skeleton->obj, layout);
	if (s->is_taken) {
		s->taken = *system_keeping_entry(s->keeping);
		s->skeleton->rodata->turn = s->taken.turn + 1;
	}
	rc = system_types_pick(&types, s->skeleton->obj, e);
	if (rc < 0)
		return rc;
	if (sampler__load(s->skeleton) != 0)
		return err_os(e, "cannot load the BPF programs");
	if (s->keeping && !s->is_taken)
		system_keeping_begin(s->keeping, s->skeleton->obj, layout);
	return 0;
}

static int load(struct system_sampler *s, struct err *e)
{
	int rc;

	system_rings_silence_libbpf();
	rc = load_programs(s, true, e);
	if (rc < 0 && s->is_taken)
		rc = load_programs(s, false, e);
	if (rc < 0)
		return rc;
	s->table = mmap(NULL, table_bytes(s), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(s->skeleton->maps.table), 0);
	s->stats = mmap(NULL, stats_bytes(s), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(s->skeleton->maps.stats), 0);
	s->late = mmap(NULL, late_bytes(s), PROT_READ, MAP_SHARED,
		       bpf_map__fd(s->skeleton->maps.late), 0);
	if (s->table == MAP_FAILED || s->stats == MAP_FAILED || s->late == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	return 0;
}

static int make_events(struct system_sampler *s, struct err *e)
{
	struct system_events_settings settings = { .cpus = s->settings.cpus,
						   .events = s->settings.events,
						   .n_events = s->settings.n_events,
						   .period_ns = s->settings.period_ns,
						   .is_fixed = s->settings.is_fixed,
						   .n_at_once = s->settings.n_at_once };

	return system_events_new(&settings, &s->events, e);
}

static bool is_kept(const struct system_sampler *s)
{
	return s->keeping && system_keeping_pins(s->keeping);
}

/* Somebody is there. */
static void go_on(struct system_sampler *s)
{
	for (uint32_t c = 0; c < s->n_cpus; c++)
		s->stats[c].until =
			is_kept(s) ? s->stats[c].samples + UNASKED_MAX : UINT64_MAX;
}

static int make_rings(struct system_sampler *s, struct err *e)
{
	int fd = bpf_map__fd(s->skeleton->maps.rings);
	const struct system_sampler_settings *x = &s->settings;

	if (s->is_taken)
		return system_rings_take(fd, x->cpus, x->ring_bytes, &s->sink, &s->rings,
					 e);
	return system_rings_new(fd, x->cpus, x->ring_bytes, &s->sink, &s->rings, e);
}

static struct stack_record_set *sets_of(const struct system_sampler *s, uint32_t cpu,
					unsigned table)
{
	return &s->table[((size_t)cpu * 2 + table) * s->settings.n_sets];
}

static void clear_counts(struct system_sampler *s, uint32_t cpu, unsigned table)
{
	struct stack_record_set *sets = sets_of(s, cpu, table);

	for (size_t i = 0; i < s->settings.n_sets; i++)
		for (unsigned k = 0; k < STACK_RECORD_WAYS; k++)
			if (sets[i].slots[k].count)
				sets[i].slots[k] = (struct stack_record_slot){ 0 };
}

static void clear_table(struct system_sampler *s, unsigned table)
{
	for (size_t c = 0; c < s->settings.cpus->ids.n; c++)
		clear_counts(s, s->settings.cpus->ids.at[c], table);
}

/* Where the one before was killed. */
static void resume(struct system_sampler *s)
{
	uint32_t written = s->taken.table & 1;

	for (uint32_t c = 0; c < s->n_cpus; c++)
		s->has_ended |= s->stats[c].samples >= s->stats[c].until;
	system_rings_resume(s->rings, system_keeping_places(s->keeping));
	s->is_half_drained = (s->skeleton->bss->active_table & 1) == written;
	if (!s->is_half_drained)
		clear_table(s, written);
}

int system_sampler_new(const struct system_sampler_settings *settings,
		       const struct system_sink *sink, struct system_sampler **ret,
		       struct err *e)
{
	own(system_sampler_freep) struct system_sampler *s = xcalloc(1, sizeof(*s));
	const struct cpus *cpus = settings->cpus;
	int rc;

	s->settings = *settings;
	s->sink = *sink;
	s->n_cpus = cpus_end(cpus);
	if (!s->settings.n_sets)
		s->settings.n_sets = DEFAULT_SETS;
	if (!s->settings.ring_bytes)
		s->settings.ring_bytes = SYSTEM_RINGS_BYTES;
	if (settings->pins)
		s->keeping = system_keeping_new(&system_keeping_samples, settings->pins,
						cpus->ids.n);
	rc = make_events(s, e);
	if (rc == 0)
		rc = load(s, e);
	if (rc == 0)
		rc = make_rings(s, e);
	if (rc < 0)
		return rc;
	if (s->is_taken)
		resume(s);
	go_on(s);
	*ret = steal(&s);
	return 0;
}

void system_sampler_free(struct system_sampler *s)
{
	if (!s)
		return;
	/* What was taken and not gone on with is the next one's. */
	if (s->keeping && (s->is_stopped || !s->is_taken))
		system_keeping_end(s->keeping, &(struct err){ 0 });
	system_keeping_free(s->keeping);
	system_events_free(s->events);
	system_rings_free(s->rings);
	if (s->table && s->table != MAP_FAILED)
		munmap(s->table, table_bytes(s));
	if (s->stats && s->stats != MAP_FAILED)
		munmap(s->stats, stats_bytes(s));
	if (s->late && s->late != MAP_FAILED)
		munmap(s->late, late_bytes(s));
	sampler__destroy(s->skeleton);
	free(s);
}

void system_sampler_freep(struct system_sampler **s)
{
	system_sampler_free(*s);
}

struct system_code_maps system_sampler_maps(const struct system_sampler *s)
{
	return SYSTEM_CODE_MAPS(s->skeleton);
}

static uint64_t n_walked(const struct stack_record_stats *stats)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < UNWIND_N_STOPS; i++)
		n += stats->stops[i];
	return n;
}

int system_sampler_check(struct system_sampler *s, struct err *e)
{
	struct stack_record_stats stats = { 0 };
	uint64_t walked = 0;

	/* Where a hypervisor takes the CPU away, a short time may pass without any. */
	for (uint64_t ns = TRY_NS; !walked && ns <= TRY_MAX_NS; ns *= 2) {
		int rc = system_events_try(s->skeleton->progs.sample, ns, e);

		if (rc < 0)
			return rc;
		system_sampler_stats(s, &stats);
		walked = n_walked(&stats);
	}
	if (!walked)
		return err_set(e, ERR_UNSUPPORTED,
			       "this kernel gives BPF programs no samples");
	if (stats.stops[UNWIND_NO_MAP] == walked)
		return err_set(e, ERR_UNSUPPORTED,
			       "this kernel keeps mappings in a way that dwell does not "
			       "know");
	return 0;
}

static void stop_keeping(struct system_sampler *s, const struct err *why)
{
	system_events_forget_pins(s->events);
	system_keeping_end(s->keeping, why);
	go_on(s);
}

/* Until here the programs of the one before have counted, if there are any.  Each step is
 * so that who is killed behind it leaves something that counts. */
static int begin_turn(struct system_sampler *s, struct err *e)
{
	uint32_t turn = s->skeleton->rodata->turn;
	int rc;

	system_keeping_entry(s->keeping)->turn = turn;
	system_keeping_write(s->keeping);
	rc = system_events_keep(s->events, system_keeping_pins(s->keeping), turn, e);
	__atomic_store_n(&s->skeleton->data->current_turn, turn, __ATOMIC_SEQ_CST);
	return rc < 0 ? rc : system_events_limit(s->events, e);
}

int system_sampler_start(struct system_sampler *s, struct err *e)
{
	int rc = system_events_start(s->events, s->skeleton->progs.sample, e);
	struct err why = { 0 };

	if (rc == 0 && is_kept(s) && begin_turn(s, &why) < 0)
		stop_keeping(s, &why);
	return rc;
}

void system_sampler_follow(struct system_sampler *s, uint64_t now_ns)
{
	system_events_follow(s->events, now_ns);
}

int system_sampler_fd(const struct system_sampler *s)
{
	return system_rings_fd(s->rings);
}

void system_sampler_fetch(struct system_sampler *s)
{
	system_rings_fetch(s->rings);
}

static void read_counts(struct system_sampler *s, uint32_t cpu, unsigned table)
{
	const struct stack_record_set *sets = sets_of(s, cpu, table);

	for (size_t i = 0; i < s->settings.n_sets; i++)
		for (unsigned k = 0; k < STACK_RECORD_WAYS; k++)
			if (sets[i].slots[k].count)
				s->sink.count(s->sink.ctx, table, sets[i].slots[k].key,
					      sets[i].slots[k].count);
}

unsigned system_sampler_drain(struct system_sampler *s)
{
	uint32_t left = s->skeleton->bss->active_table & 1;

	if (s->is_half_drained) {
		left = !left;
		s->is_half_drained = false;
	} else {
		system_rings_mark(s->rings);
		__atomic_store_n(&s->skeleton->bss->active_table, !left,
				 __ATOMIC_SEQ_CST);
		/* So that all that is in a table had the same periods. */
		system_events_tune(s->events, s->stats);
	}
	system_grace_wait(); /* nobody adds to the table any more */
	system_sampler_fetch(s);
	for (size_t c = 0; c < s->settings.cpus->ids.n; c++)
		read_counts(s, s->settings.cpus->ids.at[c], left);
	return left;
}

void system_sampler_note(struct system_sampler *s,
			 const struct system_sampler_written *written)
{
	struct system_ledger_entry *entry;
	struct stack_record_stats stats;

	if (!is_kept(s))
		return;
	system_sampler_stats(s, &stats);
	entry = system_keeping_entry(s->keeping);
	entry->recording = written->recording;
	entry->bytes = written->bytes;
	entry->unwritten = written->unwritten;
	entry->told_lost = written->told_lost;
	entry->told_late = written->told_late;
	entry->samples = stats.samples;
	entry->lost = stats.lost;
	system_rings_places(s->rings, system_keeping_places(s->keeping));
	system_keeping_write(s->keeping);
}

void system_sampler_done(struct system_sampler *s, unsigned table,
			 const struct system_sampler_written *written)
{
	system_rings_done(s->rings, table);
	if (s->keeping)
		system_keeping_entry(s->keeping)->table = table;
	system_sampler_note(s, written);
	/* Who is killed from here on: the next one does the same. */
	clear_table(s, table);
	system_rings_release(s->rings);
	go_on(s);
}

bool system_sampler_is_filling(const struct system_sampler *s)
{
	return system_rings_are_filling(s->rings);
}

void system_sampler_jitter(struct system_sampler *s)
{
	system_events_jitter(s->events, s->stats);
}

bool system_sampler_is_exceeding(const struct system_sampler *s)
{
	return system_events_exceed(s->events, s->stats);
}

uint64_t system_sampler_counted(const struct system_sampler *s, size_t event)
{
	return system_events_counted(s->events, event);
}

void system_sampler_pause(struct system_sampler *s, bool is_paused)
{
	system_events_pause(s->events, is_paused);
}

void system_sampler_stop(struct system_sampler *s)
{
	s->is_stopped = true;
	system_events_stop(s->events);
}

const char *system_sampler_refusal(const struct system_sampler *s)
{
	return s->keeping ? system_keeping_refusal(s->keeping) : "it was not asked for";
}

const char *system_sampler_removed(const struct system_sampler *s, uint64_t *ret_samples)
{
	*ret_samples = 0;
	return s->keeping ? system_keeping_removed(s->keeping, ret_samples) : "";
}

const struct system_ledger_entry *system_sampler_taken(const struct system_sampler *s)
{
	return s->is_taken ? &s->taken : NULL;
}

bool system_sampler_has_ended(const struct system_sampler *s)
{
	return s->has_ended;
}

struct system_notes *system_sampler_notes(struct system_sampler *s)
{
	return s->keeping ? system_keeping_notes(s->keeping) : NULL;
}

bool system_sampler_takes_turns(const struct system_sampler *s)
{
	return system_events_take_turns(s->events);
}

void system_sampler_shares(struct system_sampler *s,
			   struct system_events_share ret[SYSTEM_EVENTS_MAX])
{
	system_events_shares(s->events, ret);
}

void system_sampler_stats(const struct system_sampler *s, struct stack_record_stats *ret)
{
	system_rings_sum_stats(s->stats, s->n_cpus, ret);
}

void system_sampler_late(const struct system_sampler *s, struct system_late *ret)
{
	system_late_sum(s->late, s->n_cpus, ret);
}

size_t system_sampler_bytes(const struct system_sampler *s)
{
	return table_bytes(s) + stats_bytes(s) + late_bytes(s) +
	       s->settings.cpus->ids.n * s->settings.ring_bytes;
}
