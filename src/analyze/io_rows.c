/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/io_rows.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define SMALL_STEP  9 /* sizes in steps up to it are below 512 bytes */
#define SMALL_CALLS 1000
#define SMALL_SHARE 0.9

/* What a column is, by its event: a number, or steps by the label that is innermost. */
struct column {
	const char *event;
	size_t at;	   /* in the sums */
	unsigned n_labels; /* behind the call's: what is the innermost frame */
	bool is_steps;
};

/* Of a call in which a thread was when the recording began. */
static const char begun_before[] = "[begun before]";

static const struct column columns[] = {
	{ "io-calls", offsetof(struct io_rows_sums, calls), 1, false },
	{ "io-errors", offsetof(struct io_rows_sums, errors), 2, false },
	{ "read-bytes", offsetof(struct io_rows_sums, read_bytes), 1, false },
	{ "written-bytes", offsetof(struct io_rows_sums, written_bytes), 1, false },
	{ "asked-bytes", offsetof(struct io_rows_sums, asked_bytes), 1, false },
	{ "io-time", offsetof(struct io_rows_sums, ns), 1, false },
	{ "io-sizes", offsetof(struct io_rows_sums, sizes), 2, true },
	{ "io-durations", offsetof(struct io_rows_sums, times), 2, true },
};

/* Which is no sum: each sample is a call. */
static const struct column unfinished = { "unfinished-io-time", 0, 1, false };

static const struct column *column_of(const struct profile *p, uint32_t i)
{
	const struct profile_column *c = profile_column(p, i);

	if (strcmp(c->experiment, "io") != 0)
		return NULL;
	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
		if (strcmp(c->name, columns[k].event) == 0)
			return &columns[k];
	return strcmp(c->name, unfinished.event) == 0 ? &unfinished : NULL;
}

/* Rows. */

struct making {
	const struct profile *p;
	struct io_rows *rows;
	struct map by_key, by_pair, connections;
	enum io_rows_by by;
};

/* A sample: its frames up to the call's, and where its labels are. */
struct place {
	const struct profile_sample *sample;
	size_t n_code; /* frames of code */
	uint32_t call, file;
	uint32_t connection; /* the file's own function, if it was joined with others */
	const char *step;    /* the last label */
};

static const char *name_of(const struct making *m, uint32_t function)
{
	return profile_function(m->p, function)->name;
}

void io_rows_call_name(const char *label, char *ret, size_t cap)
{
	static const struct {
		const char *prefix;
		size_t n_left_out; /* of it */
	} kinds[] = {
		{ "[syscall ", sizeof("[syscall ") - 1 },
		{ "[io_uring ", 1 },
	};
	size_t n = strlen(label);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (text_starts(label, kinds[i].prefix) &&
		    n > strlen(kinds[i].prefix) + 1) {
			snprintf(ret, cap, "%.*s", (int)(n - kinds[i].n_left_out - 1),
				 label + kinds[i].n_left_out);
			return;
		}
	snprintf(ret, cap, "%s", label);
}

static uint64_t stack_key(const struct place *at)
{
	uint64_t key = 0;

	for (size_t i = 0; i < at->n_code; i++)
		key = hash_pair(key, at->sample->frames[i].function);
	return key;
}

static uint64_t file_key(const struct place *at)
{
	return at->file;
}

static uint64_t connection_key(const struct place *at)
{
	return at->connection;
}

static uint64_t call_key(const struct place *at)
{
	return at->call;
}

static uint64_t process_key(const struct place *at)
{
	return at->sample->process->pid;
}

static uint64_t thread_key(const struct place *at)
{
	return hash_pair(at->sample->process->pid, at->sample->thread->tid);
}

static char *file_name(const struct making *m, const struct place *at)
{
	return xstrdup(name_of(m, at->file));
}

static char *connection_name(const struct making *m, const struct place *at)
{
	return xstrdup(name_of(m, at->connection));
}

static char *call_name(const struct making *m, const struct place *at)
{
	char call[256];

	io_rows_call_name(name_of(m, at->call), call, sizeof(call));
	return xstrdup(call);
}

static char *stack_name(const struct making *m, const struct place *at)
{
	return xstrdup(at->n_code
			       ? name_of(m, at->sample->frames[at->n_code - 1].function)
			       : "[no stack]");
}

static const struct recording *recording_of(const struct making *m,
					    const struct place *at)
{
	return profile_source(m->p, profile_column(m->p, at->sample->column)->source);
}

static char *process_name(const struct making *m, const struct place *at)
{
	const struct model_process *p = at->sample->process;

	return xasprintf("%s (%u)", recording_string(recording_of(m, at), p->comm),
			 p->pid);
}

static char *thread_name(const struct making *m, const struct place *at)
{
	const struct model_thread *t = at->sample->thread;

	return xasprintf("%s (%u)", recording_string(recording_of(m, at), t->name),
			 t->tid);
}

static const struct {
	uint64_t (*key)(const struct place *at);
	char *(*name)(const struct making *m, const struct place *at);
} bys[IO_ROWS_N_BYS] = {
	[IO_ROWS_BY_FILE] = { file_key, file_name },
	[IO_ROWS_BY_CONNECTION] = { connection_key, connection_name },
	[IO_ROWS_BY_CALL] = { call_key, call_name },
	[IO_ROWS_BY_STACK] = { stack_key, stack_name },
	[IO_ROWS_BY_PROCESS] = { process_key, process_name },
	[IO_ROWS_BY_THREAD] = { thread_key, thread_name },
};

/* One more that is joined, if it is. */
static void count_connection(struct making *m, struct io_row *row, const struct place *at)
{
	bool is_new = false;

	if (m->by == IO_ROWS_BY_FILE && at->connection != at->file)
		map_slot(&m->connections, at->connection, &is_new);
	row->n_connections += is_new;
	m->rows->n_joined += is_new && row->n_connections == 2;
}

/* The innermost first. */
static uint32_t *copy_code(const struct place *at)
{
	uint32_t *frames = xcalloc(at->n_code + 1, sizeof(*frames));

	for (size_t k = 0; k < at->n_code; k++)
		frames[k] = at->sample->frames[at->n_code - 1 - k].function;
	return frames;
}

static struct io_rows_sums *row_of(struct making *m, const struct place *at)
{
	bool is_new;
	uint64_t *i = map_slot(&m->by_key, bys[m->by].key(at), &is_new);
	struct io_row *row;

	if (is_new) {
		*i = m->rows->rows.n;
		*vec_push(&m->rows->rows) =
			(struct io_row){ .name = bys[m->by].name(m, at) };
	}
	row = &m->rows->rows.at[*i];
	count_connection(m, row, at);
	if (!is_new || m->by != IO_ROWS_BY_STACK)
		return &row->sums;
	row->n_frames = at->n_code;
	row->frames = copy_code(at);
	return &row->sums;
}

static struct io_rows_sums *pair_of(struct making *m, const struct place *at)
{
	bool is_new;
	uint64_t *i = map_slot(&m->by_pair, hash_pair(at->file, at->call), &is_new);

	if (is_new) {
		*i = m->rows->pairs.n;
		*vec_push(&m->rows->pairs) =
			(struct io_rows_pair){ .file = at->file, .call = at->call };
	}
	return &m->rows->pairs.at[*i].sums;
}

static void add(const struct column *c, struct io_rows_sums *s, const struct place *at)
{
	void *to = (char *)s + c->at;

	if (c->is_steps)
		power_steps_add(to, at->step, at->sample->weight);
	else
		*(uint64_t *)to += at->sample->weight;
}

static void add_unfinished(struct making *m, const struct place *at, bool is_old)
{
	const struct profile_sample *s = at->sample;
	uint64_t start_ns =
		profile_start_ns(m->p, profile_column(m->p, s->column)->source);
	uint64_t end_ns = profile_sample_end_ns(s);
	uint64_t since_ns = end_ns > s->weight ? end_ns - s->weight : 0;
	bool is_known = s->count <= 1 && since_ns >= start_ns && !is_old;

	*vec_push(&m->rows->unfinished) = (struct io_rows_unfinished){
		.thread = thread_name(m, at),
		.file = at->file,
		.call = at->call,
		.pid = s->process->pid,
		.tid = s->thread->tid,
		.n = s->count ? s->count : 1,
		.ns = s->weight,
		.since_ns = is_known ? since_ns - start_ns : UINT64_MAX,
		.frames = copy_code(at),
		.n_frames = at->n_code,
	};
}

static int compare_unfinished(const void *a, const void *b)
{
	const struct io_rows_unfinished *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int add_sample(void *ctx, const struct profile_sample *s, unused struct err *e)
{
	struct making *m = ctx;
	const struct column *c = column_of(m->p, s->column);
	struct place at = { .sample = s };
	uint32_t n_labels = c ? c->n_labels : 0;
	bool is_old;

	if (!c)
		return 0;
	m->rows->has_io = true;
	is_old = c == &unfinished && s->n_frames &&
		 strcmp(name_of(m, s->frames[s->n_frames - 1].function), begun_before) ==
			 0;
	n_labels += is_old;
	if (s->n_frames < n_labels + 1)
		return 0;
	at.n_code = s->n_frames - n_labels - 1;
	at.call = s->frames[at.n_code].function;
	at.file = s->frames[at.n_code + 1].function;
	at.connection = s->frames[at.n_code + 1].own_function;
	at.step = name_of(m, s->frames[s->n_frames - 1].function);
	if (c == &unfinished) {
		add_unfinished(m, &at, is_old);
		return 0;
	}
	add(c, &m->rows->total.sums, &at);
	add(c, row_of(m, &at), &at);
	add(c, pair_of(m, &at), &at);
	return 0;
}

/* Does the recording of a column of I/O say that? */
static bool says(const struct profile *p, uint32_t column, const char *fact)
{
	uint64_t value;

	return recording_find_fact(profile_source(p, profile_column(p, column)->source),
				   FACT_RATE, fact, MODEL_NONE, MODEL_NONE, &value);
}

/* What saw it: recorders before there was the fact saw no requests. */
static void find_eyes(const struct profile *p, struct io_rows *ret)
{
	ret->sees_requests = true;
	for (uint32_t i = 0; i < profile_n_columns(p); i++) {
		if (!column_of(p, i))
			continue;
		ret->has_io = true;
		ret->sees_requests &= says(p, i, "sees-requests");
		ret->is_wrapped |= says(p, i, "wrapped-io");
	}
}

int io_rows_make(const struct profile *p, enum io_rows_by by, struct io_rows *ret,
		 struct err *e)
{
	struct making m = { .p = p, .rows = ret, .by = by };
	int rc = profile_each_sample(p, add_sample, &m, e);

	map_fini(&m.by_key);
	map_fini(&m.by_pair);
	map_fini(&m.connections);
	find_eyes(p, ret);
	if (ret->unfinished.n)
		qsort(ret->unfinished.at, ret->unfinished.n, sizeof(*ret->unfinished.at),
		      compare_unfinished);
	return rc;
}

void io_rows_fini(struct io_rows *r)
{
	vec_each(row, &r->rows) {
		free(row->name);
		free(row->frames);
	}
	vec_each(u, &r->unfinished) {
		free(u->thread);
		free(u->frames);
	}
	vec_fini(&r->rows);
	vec_fini(&r->pairs);
	vec_fini(&r->unfinished);
}

/* Not a device, nor what the kernel makes up as it is read: they give what they have. */
static bool is_ordinary(const char *file)
{
	return *file == '/' && !text_starts(file, "/dev/") &&
	       !text_starts(file, "/proc/") && !text_starts(file, "/sys/");
}

uint64_t io_rows_blocks_instead(const struct profile *p, const struct io_rows_pair *pair)
{
	const struct io_rows_sums *s = &pair->sums;
	uint64_t bytes = s->read_bytes + s->written_bytes, n_small = 0, blocks;

	for (unsigned i = 1; i <= SMALL_STEP; i++)
		n_small += s->sizes.n[i];
	if (n_small < SMALL_CALLS ||
	    (double)n_small < SMALL_SHARE * (double)s->sizes.sum ||
	    !is_ordinary(profile_function(p, pair->file)->name))
		return 0;
	blocks = (bytes + IO_ROWS_BLOCK_BYTES - 1) / IO_ROWS_BLOCK_BYTES;
	return blocks < n_small ? blocks : 0;
}
