/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/sync_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile_data.h"
#include "analyze/wait_kinds.h"
#include "analyze/waits.h"
#include "base/mem.h"
#include "base/text.h"

/* A sample: its frames up to the label of the kind, and what is inside of that. */
struct place {
	const struct profile_sample *sample;
	size_t n_code;	   /* frames of code */
	const char *what;  /* of the kind's label, behind its bracket, or a better word */
	uint32_t lock;	   /* function: which thing, or the kind where there is but one */
	size_t holder;	   /* where the holder's frames begin; 0: there are none */
	const char *inner; /* the last label */
	bool is_lock;
};

struct making {
	const struct profile *p;
	struct sync_rows *rows;
	struct map by_key;
	enum sync_rows_by by;
	bool has_unseen;	  /* rows of waits for which no holder was seen */
	struct map unseen_by_key; /* of these their paths */
};

static const struct {
	const char *label;
	bool is_lock;
} whats[] = {
	{ "[mutex]", true },
	{ "[rwlock, to read]", true },
	{ "[rwlock, to write]", true },
	{ "[spin lock]", true },
	{ "[condition]", false },
	{ "[semaphore]", false },
	{ "[barrier]", false },
	{ "[thread's end]", false },
	{ "[futex]", false },
	{ "[futex, of several]", false },
	{ "[futex, with priority]", true },
	{ "[futex, requeued]", false },
};

static const char *name_of(const struct making *m, uint32_t function)
{
	return profile_function(m->p, function)->name;
}

static const struct profile_function *
function_at(const struct making *m, const struct profile_sample *s, size_t i)
{
	return profile_function(m->p, s->frames[i].function);
}

static const char begun_before[] = "[begun before]";

static bool is_inner(const char *name)
{
	return strcmp(name, "[held by]") == 0 || strcmp(name, "[woken by]") == 0;
}

static int what_of(const struct profile_function *f)
{
	for (size_t i = 0; f->kind == IMAGE_LABEL && i < sizeof(whats) / sizeof(whats[0]);
	     i++)
		if (strcmp(f->name, whats[i].label) == 0)
			return (int)i;
	return -1;
}

/* The kernel knows no more than that it waits. */
static void guess_kind(const struct making *m, struct place *at)
{
	const char *names[WAIT_KINDS_FRAMES];
	const struct wait_kind *kind;
	size_t n = 0;

	while (n < WAIT_KINDS_FRAMES && n < at->n_code) {
		names[n] = function_at(m, at->sample, at->n_code - 1 - n)->name;
		n++;
	}
	kind = wait_kinds_find(names, n);
	if (!kind)
		return;
	at->what = kind->what;
	at->is_lock = kind->is_lock;
}

static bool find_place(const struct making *m, const struct profile_sample *s,
		       struct place *ret)
{
	*ret = (struct place){ .sample = s };
	for (size_t i = 0; i < s->n_frames; i++) {
		const struct profile_function *f = function_at(m, s, i);
		int what = ret->what ? -1 : what_of(f);

		if (what >= 0) {
			ret->n_code = i;
			ret->what = whats[what].label + 1;
			ret->is_lock = whats[what].is_lock;
			ret->lock = s->frames[i].function;
		} else if (ret->what && is_inner(f->name)) {
			ret->holder = i + 1;
			break;
		} else if (ret->what && !text_starts(f->name, "[from ") &&
			   strcmp(f->name, begun_before) != 0) {
			ret->lock = s->frames[i].function;
		}
		ret->inner = f->name;
	}
	if (ret->what && text_starts(ret->what, "futex"))
		guess_kind(m, ret);
	return ret->what;
}

/* What a column is, by its event. */

static void add_ns(struct sync_sums *s, const struct place *at)
{
	s->ns += at->sample->weight;
}

static void add_n(struct sync_sums *s, const struct place *at)
{
	s->n += at->sample->weight;
}

static void add_step(struct sync_sums *s, const struct place *at)
{
	power_steps_add(&s->steps, at->inner, at->sample->weight);
}

static void add_holder(struct sync_sums *s, const struct place *at)
{
	s->ns += at->sample->weight;
	s->n += at->sample->count;
}

struct column {
	const char *event;
	/* NULL: each sample is a wait without an end. */
	void (*add)(struct sync_sums *s, const struct place *at);
	bool is_holder;
	const char *of_lock; /* event of the same of a lock; NULL: this one */
};

static const struct column columns[] = {
	{ "lock-wait-time", add_ns, false, NULL },
	{ "lock-waits", add_n, false, NULL },
	{ "sync-wait-time", add_ns, false, "lock-wait-time" },
	{ "sync-waits", add_n, false, "lock-waits" },
	{ "wait-durations", add_step, false, NULL },
	{ "holder-time", add_holder, true, NULL },
	{ "unfinished-wait-time", NULL, false, NULL },
};

static const struct column *column_of(const struct profile *p, size_t i)
{
	const struct profile_column *c = profile_column(p, i);

	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
		if (strcmp(c->experiment, "sync") == 0 &&
		    strcmp(c->name, columns[k].event) == 0)
			return &columns[k];
	return NULL;
}

static size_t column_beside(const struct profile *p, size_t i, const char *event)
{
	const struct profile_column *beside = profile_column(p, i);

	for (size_t k = 0; k < profile_n_columns(p); k++) {
		const struct profile_column *c = profile_column(p, k);

		if (c->source == beside->source &&
		    strcmp(c->experiment, beside->experiment) == 0 &&
		    strcmp(c->name, event) == 0)
			return k;
	}
	return i;
}

/* What turned out to be a lock's is so in the totals, too. */
static void move_total(const struct making *m, const struct column *c,
		       const struct place *at)
{
	size_t from = at->sample->column;

	if (!c->of_lock || !at->is_lock)
		return;
	m->rows->totals[from] -= at->sample->weight;
	m->rows->totals[column_beside(m->p, from, c->of_lock)] += at->sample->weight;
}

/* Rows. */

static uint64_t path_key(const struct place *at, size_t from, size_t to)
{
	uint64_t key = to - from;

	for (size_t i = from; i < to; i++)
		key = hash_pair(key, at->sample->frames[i].function);
	return key;
}

static bool is_address(const char *name)
{
	return text_starts(name, "[0x");
}

/* An address says something in its own process only. */
static uint64_t lock_key(const struct making *m, const struct place *at)
{
	return hash_pair(at->lock, is_address(name_of(m, at->lock))
					   ? at->sample->process->pid
					   : UINT64_MAX);
}

static uint64_t stack_key(unused const struct making *m, const struct place *at)
{
	return path_key(at, 0, at->n_code);
}

static uint64_t holder_key(unused const struct making *m, const struct place *at)
{
	return path_key(at, at->holder, at->sample->n_frames);
}

static uint64_t thread_key(unused const struct making *m, const struct place *at)
{
	return hash_pair(at->sample->process->pid, at->sample->thread->tid);
}

static char *lock_name(const struct making *m, const struct place *at)
{
	return xstrdup(name_of(m, at->lock));
}

/* Functions, the innermost first. */
static uint32_t *copy_frames(const struct place *at, size_t from, size_t to)
{
	uint32_t *frames = xcalloc(to - from + 1, sizeof(*frames));

	for (size_t i = 0; i < to - from; i++)
		frames[i] = at->sample->frames[to - 1 - i].function;
	return frames;
}

/* Who calls to wait, as wrappers have it, also where the kernel saw it below the call. */
static char *innermost_name(const struct making *m, const struct place *at, size_t from,
			    size_t to)
{
	own(freep) uint32_t *frames = copy_frames(at, from, to);
	size_t n = to - from;

	return xstrdup(n ? name_of(m, frames[waits_layers(m->p, frames, n)])
			 : "[no stack]");
}

static char *stack_name(const struct making *m, const struct place *at)
{
	return innermost_name(m, at, 0, at->n_code);
}

static char *holder_name(const struct making *m, const struct place *at)
{
	return innermost_name(m, at, at->holder, at->sample->n_frames);
}

static char *thread_name(const struct making *m, const struct place *at)
{
	const struct model_thread *t = at->sample->thread;
	const struct recording *r =
		profile_source(m->p, profile_column(m->p, at->sample->column)->source);

	return xasprintf("%s (%u)", recording_string(r, t->name), t->tid);
}

static const struct {
	uint64_t (*key)(const struct making *m, const struct place *at);
	char *(*name)(const struct making *m, const struct place *at);
} bys[SYNC_ROWS_N_BYS] = {
	[SYNC_ROWS_BY_LOCK] = { lock_key, lock_name },
	[SYNC_ROWS_BY_STACK] = { stack_key, stack_name },
	[SYNC_ROWS_BY_HOLDER] = { holder_key, holder_name },
	[SYNC_ROWS_BY_THREAD] = { thread_key, thread_name },
};

/* A lock is one, to read or to write. */
static char *copy_what(const struct place *at)
{
	return xasprintf("%.*s", (int)strcspn(at->what, ",]"), at->what);
}

/* Who waits, or lets wait, does so for things of several kinds; a thing is of one. */
static uint64_t row_key(const struct making *m, const struct place *at)
{
	uint64_t key = hash_pair(bys[m->by].key(m, at), at->is_lock);

	return m->by == SYNC_ROWS_BY_LOCK
		       ? key
		       : hash_pair(key, hash_bytes(at->what, strcspn(at->what, ",]")));
}

/* Where one stack tells what it is, it is that for all. */
static void know_better(struct sync_row *row, const struct place *at)
{
	if (!text_starts(row->what, "futex") || text_starts(at->what, "futex"))
		return;
	free(row->what);
	row->what = copy_what(at);
}

/* Borrows the name, NULL: it is that of the place. */
static struct sync_row *row_named(struct making *m, const struct place *at, uint64_t key,
				  const char *name)
{
	bool is_new;
	uint64_t *i = map_slot(&m->by_key, key, &is_new);
	struct sync_row *row;

	if (!is_new) {
		row = &m->rows->rows.at[*i];
		know_better(row, at);
		return row;
	}
	*i = m->rows->rows.n;
	row = vec_push(&m->rows->rows);
	*row = (struct sync_row){
		.name = name ? xstrdup(name) : bys[m->by].name(m, at),
		.what = copy_what(at),
		.is_lock = at->is_lock,
		.has_name =
			m->by != SYNC_ROWS_BY_LOCK || !is_address(name_of(m, at->lock)),
	};
	return row;
}

static struct sync_row *row_of(struct making *m, const struct place *at)
{
	return row_named(m, at, row_key(m, at), NULL);
}

static struct sync_path *new_path(sync_paths *paths, uint64_t key, const struct place *at,
				  size_t from, size_t to)
{
	struct sync_path *path = vec_push(paths);

	*path = (struct sync_path){ .key = key,
				    .frames = copy_frames(at, from, to),
				    .n_frames = to - from };
	return path;
}

static struct sync_path *path_of(sync_paths *paths, const struct place *at, size_t from,
				 size_t to)
{
	uint64_t key = path_key(at, from, to);

	vec_each(x, paths)
		if (x->key == key)
			return x;
	return new_path(paths, key, at, from, to);
}

static void add_path(sync_paths *paths, const struct column *c, const struct place *at,
		     size_t from, size_t to)
{
	struct sync_sums s = { 0 };
	struct sync_path *path = path_of(paths, at, from, to);

	c->add(&s, at);
	path->n += s.n;
	path->ns += s.ns;
}

static void add_paths(struct sync_row *row, const struct column *c,
		      const struct place *at, bool is_by_holder)
{
	if (!c->is_holder || is_by_holder)
		add_path(&row->waiters, c, at, 0, at->n_code);
	if (c->is_holder)
		add_path(&row->holders, c, at, at->holder, at->sample->n_frames);
}

static void free_paths(sync_paths *paths)
{
	vec_each(path, paths)
		free(path->frames);
	vec_fini(paths);
}

static void free_row(struct sync_row *row)
{
	free(row->name);
	free(row->what);
	free_paths(&row->waiters);
	free_paths(&row->holders);
}

/* What nobody was seen to let pass.  A holder's time is part of the wait's, and is told
 * with the same stack of who waits: what it leaves of waits.  It is less than nothing as
 * long as not all waits were met. */

static const char unseen_name[] = "[nobody seen]";

static uint64_t unseen_key(const struct place *at)
{
	uint64_t what = hash_bytes(at->what, strcspn(at->what, ",]"));

	return hash_pair(hash_pair(what, at->is_lock), UINT64_MAX);
}

/* A row's paths are many, as it is of all locks. */
static struct sync_path *unseen_path(struct making *m, struct sync_row *row,
				     const struct place *at)
{
	bool is_new;
	uint64_t key = path_key(at, 0, at->n_code);
	uint64_t *i =
		map_slot(&m->unseen_by_key, hash_pair(unseen_key(at), key), &is_new);

	if (!is_new)
		return &row->waiters.at[*i];
	*i = row->waiters.n;
	return new_path(&row->waiters, key, at, 0, at->n_code);
}

static void add_unseen(struct making *m, const struct column *c, const struct place *at)
{
	struct sync_row *row = row_named(m, at, unseen_key(at), unseen_name);
	struct sync_path *path = unseen_path(m, row, at);
	struct sync_sums s = { 0 };

	c->add(&s, at);
	path->ns += c->is_holder ? -s.ns : s.ns;
	path->n += c->is_holder ? -s.n : s.n;
	row->sums.ns += c->is_holder ? -s.ns : s.ns;
	row->sums.n += c->is_holder ? -s.n : s.n;
}

static void keep_positive(uint64_t *n)
{
	if ((int64_t)*n < 0)
		*n = 0;
}

static void keep_unseen(sync_paths *paths)
{
	size_t n = 0;

	vec_each(path, paths) {
		keep_positive(&path->ns);
		keep_positive(&path->n);
		if (path->ns)
			paths->at[n++] = *path;
		else
			free(path->frames);
	}
	paths->n = n;
}

/* Those of which nothing is left, go. */
static void finish_unseen(struct sync_rows *rows)
{
	size_t n = 0;

	vec_each(row, &rows->rows) {
		bool is_unseen = strcmp(row->name, unseen_name) == 0;

		if (is_unseen) {
			keep_positive(&row->sums.ns);
			keep_positive(&row->sums.n);
			keep_unseen(&row->waiters);
		}
		if (is_unseen && !row->sums.ns)
			free_row(row);
		else
			rows->rows.at[n++] = *row;
	}
	rows->rows.n = n;
}

/* "[thread 17]", without its brackets; NULL: it is not known. */
static char *copy_holder(const struct making *m, const struct place *at)
{
	const struct profile_sample *s = at->sample;
	const char *name = at->holder && at->holder < s->n_frames
				   ? name_of(m, s->frames[at->holder].function)
				   : NULL;

	return name && *name == '['
		       ? xasprintf("%.*s", (int)strcspn(name + 1, "]"), name + 1)
		       : NULL;
}

static void add_unfinished(struct making *m, const struct place *at)
{
	const struct profile_sample *s = at->sample;
	uint64_t start_ns =
		profile_start_ns(m->p, profile_column(m->p, s->column)->source);
	uint64_t end_ns = profile_sample_end_ns(s);
	uint64_t since_ns = end_ns > s->weight ? end_ns - s->weight : 0;
	bool is_known = s->count <= 1 && since_ns >= start_ns &&
			strcmp(at->inner, begun_before) != 0;
	sync_paths paths = { 0 };

	*vec_push(&m->rows->unfinished) = (struct sync_unfinished){
		.thread = thread_name(m, at),
		.name = lock_name(m, at),
		.what = copy_what(at),
		.holder = copy_holder(m, at),
		.pid = s->process->pid,
		.tid = s->thread->tid,
		.is_lock = at->is_lock,
		.n = s->count ? s->count : 1,
		.ns = s->weight,
		.since_ns = is_known ? since_ns - start_ns : UINT64_MAX,
		.path = *path_of(&paths, at, 0, at->n_code),
	};
	vec_fini(&paths);
}

static int compare_unfinished(const void *a, const void *b)
{
	const struct sync_unfinished *x = a, *y = b;

	if (x->is_lock != y->is_lock)
		return y->is_lock - x->is_lock;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int add_sample(void *ctx, const struct profile_sample *s, unused struct err *e)
{
	struct making *m = ctx;
	const struct column *c = column_of(m->p, s->column);
	bool is_by_holder = m->by == SYNC_ROWS_BY_HOLDER;
	struct place at;
	struct sync_row *row;

	if (!c || !find_place(m, s, &at) || (c->is_holder && !at.holder))
		return 0;
	if (!c->add) {
		add_unfinished(m, &at);
		return 0;
	}
	move_total(m, c, &at);
	if (!c->is_holder)
		c->add(at.is_lock ? &m->rows->locks.sums : &m->rows->others.sums, &at);
	if (m->has_unseen && (c->is_holder || c->add != add_step))
		add_unseen(m, c, &at);
	if (is_by_holder && !c->is_holder)
		return 0;
	row = row_of(m, &at);
	if (c->is_holder == is_by_holder)
		c->add(&row->sums, &at);
	add_paths(row, c, &at, is_by_holder);
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const struct sync_path *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

static void sort(sync_paths *paths)
{
	if (paths->n)
		qsort(paths->at, paths->n, sizeof(*paths->at), by_ns);
}

/* Both waits and holders: a filter may choose of them by what they have not in common. */
static bool has_all(const struct profile *p)
{
	static const char *const apart[] = { "event", "weight" };
	bool has_holders = false;

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
		if (p->filter && filter_asks_for(p->filter, apart[i]))
			return false;
	for (size_t i = 0; i < profile_n_columns(p); i++) {
		const struct column *c = column_of(p, i);

		has_holders |= c && c->is_holder;
	}
	return has_holders && !(p->filter && filter_needs_frames(p->filter));
}

int sync_rows_make(const struct profile *p, enum sync_rows_by by, struct sync_rows *ret,
		   struct err *e)
{
	struct making m = { .p = p, .rows = ret, .by = by };
	int rc;

	m.has_unseen = by == SYNC_ROWS_BY_HOLDER && has_all(p);
	ret->totals = xcalloc(profile_n_columns(p) + 1, sizeof(*ret->totals));
	for (size_t i = 0; i < profile_n_columns(p); i++)
		ret->totals[i] = profile_column(p, i)->total_weight;
	rc = profile_each_sample(p, add_sample, &m, e);
	map_fini(&m.by_key);
	map_fini(&m.unseen_by_key);
	if (m.has_unseen)
		finish_unseen(ret);
	for (size_t i = 0; i < profile_n_columns(p); i++)
		ret->has_sync |= column_of(p, i) != NULL;
	if (ret->unfinished.n)
		qsort(ret->unfinished.at, ret->unfinished.n, sizeof(*ret->unfinished.at),
		      compare_unfinished);
	vec_each(row, &ret->rows) {
		sort(&row->waiters);
		sort(&row->holders);
	}
	return rc;
}

void sync_rows_fini(struct sync_rows *r)
{
	vec_each(row, &r->rows)
		free_row(row);
	vec_each(u, &r->unfinished) {
		free(u->thread);
		free(u->name);
		free(u->what);
		free(u->holder);
		free(u->path.frames);
	}
	vec_fini(&r->unfinished);
	vec_fini(&r->rows);
	free(r->totals);
}

struct sync_short sync_rows_short(const struct profile *p)
{
	struct sync_short s = { 0 };

	for (size_t k = 0; k < profile_n_sources(p); k++) {
		const struct recording *r = profile_source(p, k);

		for (uint32_t i = 0; i < recording_n_facts(r); i++) {
			const struct model_fact *f = recording_fact(r, i);
			const char *name = recording_string(r, f->name);

			if (strcmp(name, "short-waits") == 0)
				s.n += f->value;
			else if (strcmp(name, "short-wait-time") == 0)
				s.ns += f->value;
			else if (strcmp(name, "wait-threshold") == 0 &&
				 f->value > s.threshold_ns)
				s.threshold_ns = f->value;
		}
	}
	return s;
}

const char *sync_rows_note(const struct profile *p, enum sync_rows_note note)
{
	static const char *const keys[] = {
		[SYNC_ROWS_UNSEEN] = "unseen-waits",
		[SYNC_ROWS_WRAPPED] = "wrapped-waits",
		[SYNC_ROWS_UNWRAPPED] = "unwrapped-waits",
	};
	const char *text = NULL;

	for (size_t k = 0; k < profile_n_sources(p) && !text; k++)
		text = recording_info(profile_source(p, k), keys[note]);
	return text;
}
