/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/summing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/foreseen.h"
#include "collect/system_keeping.h"
#include "collect/system_told.h"
#include "host/clock.h"
#include "host/privilege.h"
#include "host/procfs.h"

#define JITTER_NS UINT64_C(100000000)
#define DRAIN_NS  UINT64_C(1000000000)
/* The program waits for rules of its files to be compiled no longer than that. */
#define FORESEEN_WAIT_NS   UINT64_C(1000000000)
#define FORESEEN_PROCESSES 64 /* more of them have hardly other files */
/* Files that stacks stand for are looked through that often, so that they keep their
 * numbers; sooner than a number is taken for idle. */
#define MEET_NS UINT64_C(16000000000)
/* For a program and what it runs: rows of a compiler, an assembler and a linker. */
#define FIRST_BYTES ((size_t)8 << 20)

/* Joins the programs, the rows they walk by, the images they met and the sums. */
struct summing {
	struct recorder base;
	const struct summing_kind *kind;
	void *programs;
	const struct system_programs *loaded; /* of these */
	struct system_code code;
	const struct path_choice *chosen;
	const char *program; /* that will be run, NULL: none */
	const char *preload; /* and what into it, or NULL */
	const pid_t *pids;   /* that run already */
	size_t n_pids;
	bool has_descendants; /* of these */
	struct system_counts *counts;
	uint64_t drain_ns;
	bool is_kept; /* what was taken, also when this is killed */
	bool is_by_thread;
	struct system_classes *classes; /* or NULL */
	uint64_t jittered_ns, drained_ns, met_ns;
	uint64_t fetched_ns, longest_gap_ns;
	uint64_t untold; /* times of what the kernel could not tell */
	/* The recording, and of the sums what earlier ones told. */
	struct writer *writer;
	uint64_t lost_before;
	uint32_t unnumbered_before;
	/* What is kept in the kernel of what is told there, or NULL; and of what is in
	 * the recording. */
	struct system_told *told;
	uint64_t recording, bytes, written; /* counted, that waits no more */
	bool is_behind;
	/* Of the one that was killed. */
	struct recorder_left left;
	bool has_left;
	uint64_t lost_base; /* that it has told */
	uint64_t lost_told; /* by anyone */
};

static void on_image(void *ctx, const struct stack_record_image *r)
{
	system_code_meet(&((struct summing *)ctx)->code, r);
}

static void on_stack(void *ctx, const struct stack_record *r)
{
	system_counts_stack(((struct summing *)ctx)->counts, r);
}

static void on_pair(void *ctx, const struct stack_record_pair *r)
{
	system_counts_pair(((struct summing *)ctx)->counts, r);
}

static void on_again(void *ctx, const struct stack_record_again *r)
{
	system_counts_again(((struct summing *)ctx)->counts, r);
}

static void on_each(void *ctx, const struct stack_record_each *r)
{
	system_counts_each(((struct summing *)ctx)->counts, r);
}

static void on_file(void *ctx, const struct io_record_file *r)
{
	struct summing *s = ctx;

	if (s->kind->file)
		s->kind->file(s->programs, r);
}

static void on_sum(void *ctx, uint32_t number, const struct state_record_sum *more)
{
	struct summing *s = ctx;

	if (number)
		system_counts_time(s->counts, number, more);
	else
		s->untold += more->count + more->n_waits;
}

static void on_kept_image(void *ctx, uint32_t number)
{
	system_numbers_meet(((struct summing *)ctx)->code.numbers, number);
}

/* Whether it can be done. */

static int try_any(const struct summing_kind *kind, struct err *e)
{
	struct system_threads_sink nobody = { 0 };
	struct cpus cpus = { 0 };
	int rc = cpus_online(&cpus, e);

	if (rc == 0)
		rc = kind->try(&cpus, &nobody, e);
	cpus_fini(&cpus);
	return rc;
}

/* As a recording will most likely want them. */
static int try_those(const struct summing_kind *kind, const struct scope *scope,
		     struct err *e)
{
	struct summing_trial *t = kind->trial;
	struct system_threads_sink nobody = { 0 };
	const struct plan any = { 0 }, *plan = scope->wanted ? scope->wanted : &any;
	const struct recorder_settings settings = {
		.cpus = &t->cpus,
		.plans = plan,
		.n_plans = 1,
		.scope = scope,
		.is_flat = plan->is_flat,
		.apart = source_apart(scope),
		.cookie = summing_cookie(),
	};
	int rc = cpus_present(&t->cpus, e);

	return rc < 0 ? rc : kind->load(&settings, &nobody, &t->programs, e);
}

static int try(const struct summing_kind *kind, const struct scope *scope, struct err *e)
{
	struct privilege p;

	privilege_read(&p);
	if (!p.is_root && !p.may_perfmon)
		return err_set(e, ERR_UNSUPPORTED, "only root may load BPF programs");
	/* Nobody is to be recorded who is not known. */
	return kind->go_on && (scope->program || scope->n_pids)
		       ? try_those(kind, scope, e)
		       : try_any(kind, e);
}

int summing_probe(const struct summing_kind *kind, const struct scope *scope,
		  struct err *e)
{
	struct summing_trial *t = kind->trial;
	int rc;

	if (scope->kind == SCOPE_THREADS)
		return err_set(e, ERR_UNSUPPORTED,
			       "it follows whole processes: give their pids (-p)");
	if (scope->kind == SCOPE_CPUS && scope->n_cpus)
		return err_set(e, ERR_UNSUPPORTED,
			       "it follows threads over all CPUs: 'dwell attach -a'");
	rc = t->is_known ? 0 : try(kind, scope, e);
	t->is_known = rc == 0;
	return rc;
}

uint64_t summing_cookie(void)
{
	static uint64_t cookie;

	if (!cookie)
		cookie = clock_monotonic_ns();
	return cookie;
}

/* Setting up. */

struct system_threads_whom summing_whom(const struct recorder_settings *x)
{
	return (struct system_threads_whom){
		.cpus = x->cpus,
		.is_everybody = !x->scope || x->scope->kind == SCOPE_CPUS,
		.follows_children = x->scope && x->scope->follow_children,
		.apart = x->apart,
		.depth = x->depth,
	};
}

bool summing_tells_each(const struct recorder_settings *x)
{
	return x->plans[0].trace && x->apart.threads;
}

bool summing_is_same_whom(const struct system_threads_whom *a,
			  const struct system_threads_whom *b)
{
	return a->is_everybody == b->is_everybody &&
	       a->follows_children == b->follows_children &&
	       a->apart.processes == b->apart.processes &&
	       a->apart.threads == b->apart.threads && a->apart.cpus == b->apart.cpus &&
	       a->apart.chosen == b->apart.chosen && a->depth == b->depth;
}

void summing_free(struct recorder *r)
{
	struct summing *s = (struct summing *)r;

	system_told_free(s->told);
	if (s->programs)
		s->kind->free(s->programs);
	system_counts_free(s->counts);
	system_code_fini(&s->code);
	free(s);
}

/* What was loaded to try, if there is such and it will do. */
static void take_trial(struct summing *s, const struct recorder_settings *x,
		       const struct system_threads_sink *sink)
{
	void *programs = s->kind->trial->programs;

	if (!programs)
		return;
	s->kind->trial->programs = NULL;
	if (s->kind->go_on(programs, x)) {
		s->programs = programs;
		system_threads_tell(s->kind->loaded(programs)->threads, sink);
	} else {
		s->kind->free(programs);
	}
}

static int load(struct summing *s, const struct recorder_settings *x, struct err *e)
{
	struct system_threads_sink sink = {
		.rings = { .ctx = s,
			   .image = on_image,
			   .stack = on_stack,
			   .pair = on_pair,
			   .again = on_again,
			   .each = on_each,
			   .file = on_file },
		.sum = on_sum,
	};
	int rc;

	take_trial(s, x, &sink);
	rc = s->programs ? 0 : s->kind->load(x, &sink, &s->programs, e);
	if (rc == 0)
		s->loaded = s->kind->loaded(s->programs);
	return rc;
}

/* What is kept. */

static uint64_t lost_of(const struct summing *s)
{
	struct stack_record_stats stats;

	system_threads_stats(s->loaded->threads, &stats);
	return stats.lost + s->untold + system_counts_stats(s->counts)->strays;
}

/* What is in the recording for sure; without one nothing more is. */
static void describe_written(struct summing *s, struct system_ledger_entry *entry)
{
	uint64_t samples = system_counts_stats(s->counts)->samples;

	if (s->writer)
		s->bytes = writer_bytes(s->writer);
	if (s->writer && !s->is_behind && !writer_waiting_bytes(s->writer))
		s->written = samples;
	entry->recording = s->recording;
	entry->bytes = s->bytes;
	entry->unwritten = samples - s->written;
	entry->lost = s->untold + system_counts_stats(s->counts)->strays;
	entry->told_lost = s->lost_told;
}

/* All that was drained is in the recording, also for who comes when this is killed. */
static void commit(struct summing *s, uint32_t finished)
{
	struct system_ledger_entry *entry =
		s->told ? system_keeping_entry(s->loaded->keeping) : NULL;

	for (unsigned table = 0; entry && table < 2; table++) {
		size_t size;
		const void *records = system_counts_records(s->counts, table, &size);

		entry->told_bytes[table] = system_told_put(s->told, table, records, size);
	}
	if (entry) {
		describe_written(s, entry);
		entry->finished = finished;
	}
	system_threads_commit(s->loaded->threads);
	if (s->told)
		system_told_trim(s->told);
}

/* Who is killed meanwhile: the next one does the same. */
static void close_turn(struct summing *s)
{
	uint32_t generation;
	int closed = system_threads_closing(s->loaded->threads, &generation);

	if (closed < 0)
		return;
	system_counts_forget(s->counts, (unsigned)closed);
	system_threads_close(s->loaded->threads);
	commit(s, 0);
}

/* What the numbers of sums stand for, by the one before. */
static void load_told(struct summing *s)
{
	own(buf_fini) struct buf records = { 0 };

	for (unsigned table = 0; table < 2; table++) {
		system_told_read(s->told, table, &records);
		system_counts_load(s->counts, table, records.data, records.size);
	}
}

/* Losses are of what is taken from now on, and since the last that the one before told.
 */
static void take_over(struct summing *s)
{
	const struct system_ledger_entry last = *system_keeping_entry(s->loaded->keeping);

	load_told(s);
	/* What waited for the disk went with it. */
	s->untold = last.lost + last.unwritten;
	s->lost_base = s->lost_told = last.told_lost;
	s->unnumbered_before = *s->code.n_unnumbered;
	s->recording = last.recording;
	s->bytes = last.bytes;
	s->has_left = true;
	s->left = (struct recorder_left){
		.since_ns = last.written_ns,
		.gap_ns = clock_read_ns(CLOCK_BOOTTIME) - last.written_ns,
		.lost = lost_of(s) - s->lost_base,
		.is_summed = true,
	};
	if (last.finished)
		close_turn(s);
}

static void make_kept(struct summing *s)
{
	struct system_keeping *k = s->loaded->keeping;
	int fd = k && system_keeping_pins(k) ? system_keeping_more(k, SYSTEM_THREADS_TOLD)
					     : -1;

	if (fd < 0)
		return;
	s->told = system_told_new(fd, system_keeping_entry(k)->told_bytes);
	system_images_keep_notes(s->code.images, system_keeping_notes(k));
	if (s->loaded->is_taken)
		take_over(s);
}

static int make(struct summing *s, const struct recorder_settings *x, struct err *e)
{
	struct system_code_settings code = { .chosen = s->chosen, .symbols = x->symbols };
	int rc = load(s, x, e);

	if (rc < 0)
		return rc;
	code.maps = s->loaded->maps;
	code.is_taken = s->loaded->is_taken;
	code.first_bytes = s->program ? FIRST_BYTES : 0;
	rc = system_code_open(&s->code, &code, e);
	if (rc < 0)
		return rc;
	s->counts = system_counts_new(s->code.images);
	make_kept(s);
	return 0;
}

int summing_open(const struct recorder_ops *ops, const struct summing_kind *kind,
		 const struct recorder_settings *x, struct recorder **ret, struct err *e)
{
	struct summing *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = ops;
	s->kind = kind;
	s->drain_ns = x->drain_ns ? x->drain_ns : DRAIN_NS;
	s->is_kept = x->keep != NULL;
	s->is_by_thread = x->scope && x->apart.threads;
	s->chosen = x->apart.chosen;
	s->program = x->scope ? x->scope->program : NULL;
	s->preload = x->scope ? x->scope->preload : NULL;
	s->pids = x->scope ? x->scope->pids : NULL;
	s->n_pids = x->scope ? x->scope->n_pids : 0;
	s->has_descendants = x->scope && x->scope->follow_children;
	s->classes = x->classes;
	rc = make(s, x, e);
	if (rc < 0) {
		summing_free(&s->base);
		return err_in(e, rc, x->plans[0].choice.name);
	}
	*ret = &s->base;
	return 0;
}

int summing_follow(struct recorder *r, pid_t pid, bool awaits_exec, struct err *e)
{
	struct summing *s = (struct summing *)r;

	return system_threads_follow(s->loaded->threads, pid, awaits_exec, e);
}

/* The rings were emptied. */
static void note_fetch(struct summing *s)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (s->fetched_ns && now_ns - s->fetched_ns > s->longest_gap_ns)
		s->longest_gap_ns = now_ns - s->fetched_ns;
	s->fetched_ns = now_ns;
}

/* Rings seldom overflow while sums become samples; nobody fetches while these go to the
 * disk, where they are kept. */
static void fetch_meanwhile(void *ctx)
{
	struct summing *s = ctx;

	system_threads_fetch(s->loaded->threads);
	note_fetch(s);
}

void summing_begin(struct recorder *r, struct writer *w, const struct plan *plans)
{
	struct summing *s = (struct summing *)r;
	struct system_counts_events events = { .is_kept = true,
					       .is_by_thread = s->is_by_thread,
					       .chosen = s->chosen,
					       .classes = s->classes,
					       .meanwhile = fetch_meanwhile,
					       .meanwhile_ctx = s };

	s->kind->events(s->programs, plans, &events);
	s->writer = w;
	system_counts_begin(s->counts, w, &events);
}

/* Running. */

size_t summing_fds(const struct recorder *r, struct pollfd *fds, size_t max)
{
	const struct summing *s = (const struct summing *)r;

	if (max < 2)
		return 0;
	fds[0] = (struct pollfd){ .fd = system_threads_fd(s->loaded->threads),
				  .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = system_images_fd(s->code.images),
				  .events = POLLIN };
	return 2;
}

static void tick(struct summing *s, uint64_t now_ns)
{
	if (now_ns - s->met_ns >= MEET_NS) {
		s->met_ns = now_ns;
		system_counts_each_image(s->counts, s, on_kept_image);
	}
	system_code_tick(&s->code, now_ns);
}

/* What is forgotten behind this, or is the last, does not wait. */
static void write_sums(struct summing *s, uint64_t now_ns, bool is_last)
{
	uint32_t generation;
	int closing = system_threads_closing(s->loaded->threads, &generation);

	for (int table = 0; table < 2; table++)
		if (is_last || table == closing)
			system_counts_write(s->counts, (unsigned)table, now_ns);
		else
			system_counts_write_known(s->counts, (unsigned)table, now_ns);
}

/* is_whole: what goes on is charged up to now. */
static void drain(struct summing *s, uint64_t now_ns, bool is_whole, bool is_last)
{
	uint64_t since_ns = s->drained_ns;
	uint32_t generation;
	int closing, rc;

	s->drained_ns = now_ns;
	system_threads_drain(s->loaded->threads, is_whole);
	note_fetch(s);
	write_sums(s, now_ns, is_last);
	if (s->writer && since_ns)
		writer_date(s->writer, since_ns);
	/* That it could not be written is the writer's to tell. */
	rc = s->is_kept && s->writer ? writer_flush(s->writer, NULL) : 0;
	(void)rc;
	closing = system_threads_closing(s->loaded->threads, &generation);
	commit(s, closing < 0 ? 0 : generation);
	close_turn(s);
	tick(s, now_ns);
}

/* What is large is compiled beside. */
static void load_foreseen(struct summing *s)
{
	uint64_t until_ns = clock_monotonic_ns() + FORESEEN_WAIT_NS;

	system_threads_fetch(s->loaded->threads);
	while (system_images_load(s->code.images) ||
	       (system_images_wants_rows(s->code.images) &&
		clock_monotonic_ns() < until_ns)) {
		struct pollfd compiled = { .fd = system_images_fd(s->code.images),
					   .events = POLLIN };

		if (!system_images_load(s->code.images) && poll(&compiled, 1, 10) < 0)
			return;
	}
}

/* A short program has ended before what it maps could be loaded when it is met. */
static int foresee_program(struct summing *s, struct err *e)
{
	own(foreseen_fini) struct foreseen f = { 0 };

	foreseen_preload(&f, s->preload);
	foreseen_map(&f, s->program, getenv("PATH"));
	return system_threads_foresee(s->loaded->threads, getpid(), f.at.at, f.at.n, e);
}

static int foresee_process(struct summing *s, pid_t pid, struct err *e)
{
	own(foreseen_fini) struct foreseen f = { 0 };
	int rc;

	foreseen_take(&f, pid);
	rc = system_threads_foresee(s->loaded->threads, pid, f.at.at, f.at.n, e);
	system_threads_fetch(s->loaded->threads);
	return rc;
}

/* Those that run already, and what they have begun: of what calls rarely, the first call
 * may be half of all. */
static int foresee_processes(struct summing *s, struct err *e)
{
	size_t left = FORESEEN_PROCESSES;
	int rc = 0;

	for (size_t i = 0; i < s->n_pids && left && rc == 0; i++, left--) {
		own(procfs_ids_fini) struct procfs_ids below = { 0 };

		rc = foresee_process(s, s->pids[i], e);
		/* Those that cannot be told are met when they call. */
		if (!s->has_descendants ||
		    procfs_descendants(s->pids[i], &below, NULL) < 0)
			continue;
		for (size_t k = 0; k < below.ids.n && left > 1 && rc == 0; k++, left--)
			rc = foresee_process(s, below.ids.at[k], e);
	}
	return rc;
}

static int foresee(struct summing *s, struct err *e)
{
	int rc = s->program ? foresee_program(s, e) : foresee_processes(s, e);

	if (rc == 0)
		load_foreseen(s);
	return rc;
}

int summing_start(struct recorder *r, struct err *e)
{
	struct summing *s = (struct summing *)r;
	int rc = s->program || s->n_pids ? foresee(s, e) : 0;

	if (rc == 0)
		rc = s->kind->start(s->programs, e);
	/* What came while nobody was there has filled the rings. */
	if (rc == 0 && s->has_left)
		drain(s, clock_monotonic_ns(), false, false);
	return rc;
}

void summing_keep(struct recorder *r, uint64_t recording, bool is_behind)
{
	struct summing *s = (struct summing *)r;

	s->recording = recording;
	s->is_behind = is_behind;
	s->bytes = 0;
	commit(s, 0);
}

bool summing_left(const struct recorder *r, struct recorder_left *ret)
{
	const struct summing *s = (const struct summing *)r;

	*ret = s->left;
	return s->has_left;
}

void summing_drain(struct recorder *r, uint64_t now_ns)
{
	drain((struct summing *)r, now_ns, true, false);
}

void summing_work(struct recorder *r, uint64_t now_ns)
{
	struct summing *s = (struct summing *)r;

	/* Rings are not to overflow while a large file is read. */
	do {
		system_threads_fetch(s->loaded->threads);
		note_fetch(s);
		if (system_threads_is_filling(s->loaded->threads))
			drain(s, now_ns, false, false);
	} while (system_images_load(s->code.images));
	if (now_ns - s->jittered_ns >= JITTER_NS) {
		s->jittered_ns = now_ns;
		if (s->kind->follow_cpus)
			s->kind->follow_cpus(s->programs, now_ns);
		if (s->kind->jitter)
			s->kind->jitter(s->programs);
	}
	if (now_ns - s->drained_ns >= s->drain_ns)
		drain(s, now_ns, false, false);
}

void summing_pause(struct recorder *r, bool is_paused)
{
	system_threads_pause(((struct summing *)r)->loaded->threads, is_paused);
}

void summing_stop(struct recorder *r)
{
	struct summing *s = (struct summing *)r;

	s->kind->stop(s->programs);
}

void summing_status(const struct recorder *r, struct recorder_status *ret)
{
	const struct summing *s = (const struct summing *)r;
	const struct system_counts_stats *counts = system_counts_stats(s->counts);
	const struct system_keeping *k = s->loaded->keeping;
	uint64_t removed = 0;

	*ret = (struct recorder_status){ .is_counted = true };
	ret->unkept = k ? system_keeping_refusal(k) : "it was not asked for";
	ret->removed = k ? system_keeping_removed(k, &removed) : "";
	system_threads_stats(s->loaded->threads, &ret->counted.kernel);
	system_code_status(&s->code, &ret->counted);
	s->kind->status(s->programs, counts, ret);
	ret->lost = lost_of(s) - s->lost_base + removed;
	memcpy(ret->stops, counts->stops, sizeof(ret->stops));
	ret->longest_gap_ns = s->longest_gap_ns;
	ret->kernel_bytes = system_rows_bytes(s->code.rows) +
			    system_threads_bytes(s->loaded->threads);
}

int summing_end(struct recorder *r, uint64_t now_ns, bool has_symbols, struct err *e)
{
	struct summing *s = (struct summing *)r;
	struct recorder_status st;

	drain(s, now_ns, true, true);
	summing_status(r, &st);
	if (s->kind->note)
		s->kind->note(s->programs, s->writer);
	facts_loss(s->writer, "lost-samples", st.lost - s->lost_before);
	s->lost_before = st.lost;
	s->lost_told = lost_of(s);
	if (st.counted.n_unnumbered > s->unnumbered_before)
		facts_loss(s->writer, "unnumbered-files",
			   st.counted.n_unnumbered - s->unnumbered_before);
	s->unnumbered_before = st.counted.n_unnumbered;
	s->writer = NULL;
	return system_counts_end(s->counts, has_symbols, e);
}
