/* SPDX-License-Identifier: Apache-2.0 */
#include "recording_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "code_lines.h"
#include "recording_builder_data.h"
#include "store/gauge.h"

#define DEFAULT_STEP_NS 1000000
#define DEFAULT_PID	1000

static const char *const image_kinds[] = {
	[IMAGE_ELF] = "elf",	     [IMAGE_KERNEL] = "kernel",
	[IMAGE_MODULE] = "module",   [IMAGE_VDSO] = "vdso",
	[IMAGE_JIT] = "jit",	     [IMAGE_ANON] = "anon",
	[IMAGE_UNKNOWN] = "unknown", [IMAGE_TRUNCATED] = "truncated",
	[IMAGE_LABEL] = "label",
};
static const char *const column_types[] = {
	[COLUMN_U64] = "u64",		[COLUMN_I64] = "i64",
	[COLUMN_STRING] = "string",	[COLUMN_ADDRESS] = "address",
	[COLUMN_DURATION] = "duration", [COLUMN_BYTES] = "bytes",
};
static const char *const fact_kinds[] = {
	[FACT_TARGET] = "target",
	[FACT_SELF] = "self",
	[FACT_RATE] = "rate",
	[FACT_LOSS] = "loss",
};
static const char *const blob_kinds[] = {
	[BLOB_KALLSYMS] = "kallsyms", [BLOB_JIT_MAP] = "jit-map",
	[BLOB_JIT_DUMP] = "jit-dump", [BLOB_ELF] = "elf",
	[BLOB_DEBUG] = "debug",	      [BLOB_SOURCE] = "source",
	[BLOB_MODULES] = "modules",   [BLOB_ALTERNATE] = "alternate",
	[BLOB_SPLIT] = "split",	      [BLOB_PACKAGE] = "package",
};
static const char *const event_flags[] = { "sampled", "exact", "pc-only", "aside",
					   "summed",  "each",  "beside" };

#define N(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t string(struct recording_builder *b, const char *s)
{
	return writer_string(b->writer, s);
}

/* Things by their names, made when the test did not care to. */

static uint32_t add_process(struct recording_builder *b, uint32_t pid,
			    struct model_process p)
{
	uint32_t id = writer_process(b->writer, &p);

	*vec_push(&b->processes) = (struct task){ pid, 0, id };
	*vec_push(&b->threads) = (struct task){
		pid, pid,
		writer_thread(b->writer, &(struct model_thread){ .process = id,
								 .tid = pid,
								 .name = p.comm,
								 .start_ns = p.start_ns,
								 .end_ns = p.end_ns })
	};
	b->pid = b->tid = pid;
	return id;
}

uint32_t recording_builder_process(struct recording_builder *b, uint32_t pid)
{
	for (size_t i = b->processes.n; i-- > 0;)
		if (b->processes.at[i].pid == pid)
			return b->processes.at[i].id;
	return add_process(b, pid,
			   (struct model_process){ .pid = pid,
						   .ppid = 1,
						   .parent = MODEL_NONE,
						   .exec_of = MODEL_NONE,
						   .comm = string(b, "test"),
						   .exit_status = -1 });
}

static uint32_t find_thread(struct recording_builder *b, uint32_t pid, uint32_t tid)
{
	uint32_t process = recording_builder_process(b, pid);

	for (size_t i = b->threads.n; i-- > 0;)
		if (b->threads.at[i].pid == pid && b->threads.at[i].tid == tid)
			return b->threads.at[i].id;

	uint32_t id = writer_thread(
		b->writer, &(struct model_thread){ .process = process, .tid = tid });

	*vec_push(&b->threads) = (struct task){ pid, tid, id };
	return id;
}

static uint32_t add_event(struct recording_builder *b, const struct words *w,
			  const char *name, uint32_t flags)
{
	struct model_event event = {
		.name = string(b, name),
		.unit = string(b, words_text(w, "unit", "ns")),
		.experiment = string(b, words_text(w, "experiment", "usertime")),
		.source = string(b, words_text(w, "source", "test")),
		.description = string(b, words_text(w, "description", "")),
		.flags = flags,
		.period = words_number(w, "period", 1000000),
	};

	*vec_push(&b->events) = (struct event){ xstrdup(name), event.period };
	b->event = writer_event(b->writer, &event);
	return b->event;
}

static int find_event(struct recording_builder *b, const char *name, uint32_t *ret,
		      struct err *e)
{
	const struct words nothing = { 0 };

	if (!b->events.n)
		add_event(b, &nothing, name ? name : "cpu-time", EVENT_SAMPLED);
	*ret = b->event;
	if (!name)
		return 0;
	for (size_t i = 0; i < b->events.n; i++) {
		if (strcmp(b->events.at[i].name, name) == 0) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	return err_set(e, ERR_USAGE, "no event is called '%s'", name);
}

/* Lines. */

struct context {
	uint64_t time_ns;
	uint32_t pid, thread, cpu;
};

static struct context parse_context(struct recording_builder *b, const struct words *w)
{
	struct context c = {
		.pid = (uint32_t)words_number(w, "pid", b->pid),
		.cpu = (uint32_t)words_number(w, "cpu", b->cpu),
		.time_ns = words_number(w, "time", b->time_ns),
	};
	uint64_t tid = words_value(w, "pid") ? c.pid : b->tid;

	c.thread = find_thread(b, c.pid, (uint32_t)words_number(w, "tid", tid));
	b->time_ns = c.time_ns + b->step_ns;
	return c;
}

static int sample_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	uint32_t event;
	int rc = find_event(b, words_value(w, "event"), &event, e);
	const char *count = words_plain(w, 1);
	char *end;

	if (rc < 0)
		return rc;

	struct context c = parse_context(b, w);
	struct model_sample s = {
		.time_ns = c.time_ns,
		.event = event,
		.thread = c.thread,
		.cpu = c.cpu,
		.stack = named_images_stack(&b->images, w->at[0], c.pid),
		.count = *count ? (uint32_t)strtoul(count, &end, 10) : 1,
	};

	if ((*count && *end) || !s.count || *words_plain(w, 2))
		return err_set(e, ERR_USAGE, "'%s' is neither a directive nor a sample",
			       w->at[0]);
	s.weight = words_number(w, "weight", s.count * b->events.at[event].period);
	writer_sample(b->writer, &s);
	return 0;
}

static int use_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	uint32_t event;
	int rc = words_value(w, "event")
			 ? find_event(b, words_value(w, "event"), &event, e)
			 : 0;

	if (rc < 0)
		return rc;
	if (words_value(w, "event"))
		b->event = event;
	b->pid = (uint32_t)words_number(w, "pid", b->pid);
	b->tid =
		(uint32_t)words_number(w, "tid", words_value(w, "pid") ? b->pid : b->tid);
	b->cpu = (uint32_t)words_number(w, "cpu", b->cpu);
	b->time_ns = words_number(w, "time", b->time_ns);
	b->step_ns = words_number(w, "step", b->step_ns);
	return 0;
}

static int event_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	own(freep) char *flags = xstrdup(words_text(w, "flags", "sampled"));
	uint32_t bits = 0, bit = 0;
	char *save = NULL;

	for (char *s = strtok_r(flags, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		if (words_pick(event_flags, N(event_flags), "event flag", s, &bit, e) < 0)
			return ERR_USAGE;
		bits |= 1u << bit;
	}
	add_event(b, w, words_plain(w, 1), bits);
	return 0;
}

static int process_line(struct recording_builder *b, const struct words *w,
			struct err *e unused)
{
	uint32_t pid = (uint32_t)strtoul(words_plain(w, 1), NULL, 10);
	uint64_t parent = words_number(w, "parent", 0);
	uint64_t exec_of = words_number(w, "exec-of", 0);

	add_process(
		b, pid,
		(struct model_process){
			.pid = pid,
			.ppid = (uint32_t)words_number(w, "ppid", parent ? parent : 1),
			.parent = parent ? recording_builder_process(b, (uint32_t)parent)
					 : MODEL_NONE,
			.exec_of =
				exec_of ? recording_builder_process(b, (uint32_t)exec_of)
					: MODEL_NONE,
			.comm = string(b, words_plain(w, 2)),
			.exe = string(b, words_text(w, "exe", "")),
			.cmdline = string(b, words_text(w, "cmdline", "")),
			.note = string(b, words_text(w, "note", "")),
			.cgroup = string(b, words_text(w, "cgroup", "")),
			.host = string(b, words_text(w, "host", "")),
			.epoch = string(b, words_text(w, "epoch", "")),
			.flags = words_has(w, "not-followed") ? PROCESS_NOT_FOLLOWED : 0,
			.exit_status = (int32_t)words_number(w, "exit", UINT64_MAX),
			.start_ns = words_number(w, "start", 0),
			.end_ns = words_number(w, "end", 0),
		});
	return 0;
}

static int thread_line(struct recording_builder *b, const struct words *w,
		       struct err *e unused)
{
	uint32_t pid = (uint32_t)strtoul(words_plain(w, 1), NULL, 10);
	uint32_t tid = (uint32_t)strtoul(words_plain(w, 2), NULL, 10);
	uint32_t id = find_thread(b, pid, tid);
	struct model_thread t = *writer_thread_get(b->writer, id);

	t.name = string(b, words_plain(w, 3));
	t.start_ns = words_number(w, "start", t.start_ns);
	t.end_ns = words_number(w, "end", t.end_ns);
	writer_thread_update(b->writer, id, &t);
	b->pid = pid;
	b->tid = tid;
	return 0;
}

static int parse_build_id(const char *hex, struct model_image *m, struct err *e)
{
	size_t n = strlen(hex);

	if (n % 2 || n / 2 > sizeof(m->build_id) || strspn(hex, "0123456789abcdef") != n)
		return err_set(e, ERR_USAGE, "'%s' is no build-id", hex);
	m->build_id_size = (uint8_t)(n / 2);
	for (size_t i = 0; i < n / 2; i++) {
		const char byte[] = { hex[2 * i], hex[2 * i + 1], '\0' };

		m->build_id[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return 0;
}

static int image_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	struct model_image m = {
		.path = string(b, words_plain(w, 2)),
		.host_path = string(b, words_text(w, "host", "")),
		.flags = (uint8_t)((words_has(w, "deleted") ? IMAGE_DELETED : 0) |
				   (words_has(w, "32bit") ? IMAGE_32BIT : 0)),
		.pid = (uint32_t)words_number(w, "pid", 0),
		.base = words_number(w, "base", 0),
		.size_bytes = words_number(w, "size", 0),
		.mtime_s = words_number(w, "mtime", 0),
	};
	uint32_t kind = 0;
	int rc = words_pick(image_kinds, N(image_kinds), "image kind",
			    words_text(w, "kind", "elf"), &kind, e);

	if (rc == 0)
		rc = parse_build_id(words_text(w, "build-id", ""), &m, e);
	if (rc < 0)
		return rc;
	m.kind = (uint8_t)kind;
	if (kind == IMAGE_JIT && !m.pid)
		m.pid = b->pid;
	named_images_add(&b->images, words_plain(w, 1), &m);
	return 0;
}

static int need_image(struct recording_builder *b, const char *name,
		      struct named_image **ret, struct err *e)
{
	*ret = named_images_find(&b->images, name);
	return *ret ? 0 : err_set(e, ERR_USAGE, "no image is called '%s'", name);
}

static int function_line(struct recording_builder *b, const struct words *w,
			 struct err *e)
{
	struct named_image *m;
	int rc = need_image(b, words_plain(w, 1), &m, e);

	if (rc == 0)
		named_images_add_function(m, words_plain(w, 2),
					  strtoull(words_plain(w, 3), NULL, 0),
					  strtoull(words_plain(w, 4), NULL, 0));
	return rc;
}

static int map_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	struct named_image *m;
	int rc = need_image(b, words_plain(w, 2), &m, e);

	if (rc < 0)
		return rc;
	writer_mapping(b->writer,
		       &(struct model_mapping){
			       .process = recording_builder_process(
				       b, (uint32_t)strtoul(words_plain(w, 1), NULL, 10)),
			       .image = m->id,
			       .start = strtoull(words_plain(w, 3), NULL, 0),
			       .end = strtoull(words_plain(w, 4), NULL, 0),
			       .file_offset = strtoull(words_plain(w, 5), NULL, 0),
			       .from_ns = words_number(w, "from", 0),
			       .to_ns = words_number(w, "to", 0),
		       });
	return 0;
}

static int trace_type_line(struct recording_builder *b, const struct words *w,
			   struct err *e)
{
	struct model_trace_type t = { 0 };
	int rc = find_event(b, words_value(w, "event"), &t.event, e);
	struct trace_type *known = vec_push(&b->trace_types);

	known->name = xstrdup(words_plain(w, 1));
	for (unsigned i = 2; rc == 0 && *words_plain(w, i); i++) {
		own(freep) char *name = xstrdup(words_plain(w, i));
		char *colon = strchr(name, ':');
		uint32_t n = known->n_columns;

		if (!colon || n == MODEL_TRACE_COLUMNS_MAX)
			return err_set(e, ERR_USAGE, "'%s' is no column", name);
		*colon = '\0';
		rc = words_pick(column_types, N(column_types), "column type", colon + 1,
				&t.columns[n].type, e);
		t.columns[n].name = string(b, name);
		known->columns[n] = (struct column){ xstrdup(name), t.columns[n].type };
		t.n_columns = ++known->n_columns;
	}
	if (rc == 0)
		writer_trace_type(b->writer, &t);
	return rc;
}

static uint64_t column_value(struct recording_builder *b, const struct words *w,
			     const struct column *c)
{
	if (c->type == COLUMN_STRING)
		return string(b, words_text(w, c->name, ""));
	if (c->type == COLUMN_I64)
		return (uint64_t)strtoll(words_text(w, c->name, "0"), NULL, 0);
	return words_number(w, c->name, 0);
}

static int trace_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	const char *frames = words_plain(w, 2);
	size_t type = 0;

	while (type < b->trace_types.n &&
	       strcmp(b->trace_types.at[type].name, words_plain(w, 1)) != 0)
		type++;
	if (type == b->trace_types.n)
		return err_set(e, ERR_USAGE, "no trace type is called '%s'",
			       words_plain(w, 1));

	const struct trace_type *known = &b->trace_types.at[type];
	struct context c = parse_context(b, w);
	struct model_trace t = {
		.time_ns = c.time_ns,
		.trace_type = (uint32_t)type,
		.thread = c.thread,
		.cpu = c.cpu,
		.stack = *frames ? named_images_stack(&b->images, frames, c.pid) : 0,
	};

	for (uint32_t i = 0; i < known->n_columns; i++)
		t.values[i] = column_value(b, w, &known->columns[i]);
	writer_trace(b->writer, &t);
	return 0;
}

static int gauge_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	uint32_t what = 0;
	int rc = words_pick(gauge_names, GAUGE_N_WHATS, "gauge", words_plain(w, 1), &what,
			    e);

	writer_gauge(b->writer, &(struct gauge){
					.what = what,
					.time_ns = strtoull(words_plain(w, 2), NULL, 0),
					.value = strtoull(words_plain(w, 3), NULL, 0),
					.pid = (uint32_t)words_number(w, "pid", 0),
				});
	return rc;
}

static int interval_line(struct recording_builder *b, const struct words *w,
			 struct err *e unused)
{
	writer_interval(b->writer,
			&(struct model_interval){
				.from_ns = strtoull(words_plain(w, 1), NULL, 0),
				.to_ns = strtoull(words_plain(w, 2), NULL, 0),
				.name = string(b, words_plain(w, 3)),
				.cause = string(b, words_text(w, "cause", "")),
			});
	return 0;
}

static int fact_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	struct model_fact f = {
		.name = string(b, words_plain(w, 2)),
		.unit = string(b, words_text(w, "unit", "count")),
		.event = MODEL_NONE,
		.process = MODEL_NONE,
		.value = strtoull(words_plain(w, 3), NULL, 0),
	};
	int rc = words_pick(fact_kinds, N(fact_kinds), "fact kind", words_plain(w, 1),
			    &f.kind, e);

	if (rc == 0 && words_value(w, "event"))
		rc = find_event(b, words_value(w, "event"), &f.event, e);
	if (words_value(w, "pid"))
		f.process =
			recording_builder_process(b, (uint32_t)words_number(w, "pid", 0));
	if (rc == 0)
		writer_fact(b->writer, &f);
	return rc;
}

static int read_file(const char *path, struct buf *ret, struct err *e)
{
	own(fclosep) FILE *f = fopen(path, "r");
	size_t n = 1;

	if (!f)
		return err_os(e, "cannot open '%s'", path);
	while (n) {
		n = fread(buf_reserve(ret, 65536), 1, 65536, f);
		ret->size += n;
	}
	return ferror(f) ? err_os(e, "cannot read '%s'", path) : 0;
}

static int blob_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	own(buf_fini) struct buf content = { 0 };
	struct model_blob blob = { .name = string(b, words_plain(w, 2)),
				   .image = MODEL_NONE };
	const char *image = words_value(w, "image");
	const char *path = words_value(w, "file");
	struct named_image *m;
	int rc = words_pick(blob_kinds, N(blob_kinds), "kind of file", words_plain(w, 1),
			    &blob.kind, e);

	if (rc == 0 && image) {
		rc = need_image(b, image, &m, e);
		if (rc == 0)
			blob.image = m->id;
	}
	buf_puts(&content, words_text(w, "text", ""));
	if (rc == 0 && path)
		rc = read_file(path, &content, e);
	blob.size_bytes = content.size;
	return rc < 0 ? rc : writer_blob(b->writer, &blob, content.data, e);
}

static int flush_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	(void)w;
	return writer_flush(b->writer, e);
}

static int unfinished_line(struct recording_builder *b, const struct words *w unused,
			   struct err *e unused)
{
	b->is_unfinished = true;
	return 0;
}

static const struct recording_builder_line lines[] = {
	{ "blob", blob_line },
	{ "event", event_line },
	{ "fact", fact_line },
	{ "flush", flush_line },
	{ "function", function_line },
	{ "image", image_line },
	{ "gauge", gauge_line },
	{ "interval", interval_line },
	{ "map", map_line },
	{ "process", process_line },
	{ "thread", thread_line },
	{ "trace", trace_line },
	{ "trace-type", trace_type_line },
	{ "unfinished", unfinished_line },
	{ "use", use_line },
	{ NULL },
};

static const struct recording_builder_line *find_line(const char *name)
{
	const struct recording_builder_line *const tables[] = { lines, code_lines };

	for (size_t i = 0; i < N(tables); i++)
		for (const struct recording_builder_line *l = tables[i]; l->name; l++)
			if (strcmp(l->name, name) == 0)
				return l;
	return NULL;
}

static int run_line(struct recording_builder *b, const char *line, struct err *e)
{
	own(words_fini) struct words w = words_split(line);
	const struct recording_builder_line *l;

	if (!w.n || *w.at[0] == '#')
		return 0;
	if (strcmp(w.at[0], "info") == 0) {
		writer_info(b->writer, words_plain(&w, 1), words_rest(line, 2));
		return 0;
	}
	l = find_line(w.at[0]);
	return l ? l->run(b, &w, e) : sample_line(b, &w, e);
}

/* Life. */

int recording_builder_create(const char *path, const struct writer_options *options,
			     struct recording_builder **ret, struct err *e)
{
	struct writer *w;
	int rc = writer_create(path, options, &w, e);

	if (rc < 0)
		return rc;

	struct recording_builder *b = xcalloc(1, sizeof(*b));

	b->writer = b->images.writer = w;
	b->step_ns = DEFAULT_STEP_NS;
	b->pid = b->tid = DEFAULT_PID;
	*ret = b;
	return 0;
}

void recording_builder_free(struct recording_builder *b)
{
	if (!b)
		return;
	writer_free(b->writer);
	vec_each(event, &b->events)
		free(event->name);
	vec_each(t, &b->trace_types) {
		free(t->name);
		for (uint32_t i = 0; i < t->n_columns; i++)
			free(t->columns[i].name);
	}
	named_images_fini(&b->images);
	vec_fini(&b->events);
	vec_fini(&b->trace_types);
	vec_fini(&b->processes);
	vec_fini(&b->threads);
	free(b);
}

void recording_builder_freep(struct recording_builder **b)
{
	recording_builder_free(*b);
}

int recording_builder_text(struct recording_builder *b, const char *text, struct err *e)
{
	unsigned number = 1;

	for (const char *at = text; *at; number++) {
		size_t n = strcspn(at, "\n");
		own(freep) char *line = xstrndup(at, n);
		int rc = run_line(b, line, e);
		char where[32];

		snprintf(where, sizeof(where), "line %u", number);
		if (rc < 0)
			return err_in(e, rc, where);
		at += n + (at[n] == '\n');
	}
	return 0;
}

struct writer *recording_builder_writer(struct recording_builder *b)
{
	return b->writer;
}

int recording_builder_close(struct recording_builder *b, struct err *e)
{
	own(recording_builder_freep) unused struct recording_builder *owned = b;
	int rc = named_images_keep(&b->images, e);

	if (rc == 0 && b->is_unfinished)
		return writer_flush(b->writer, e);
	return rc < 0 ? rc : writer_close(steal(&b->writer), e);
}

void recording_builder_write(const char *path, const char *text)
{
	struct recording_builder *b = NULL;
	struct err e = { 0 };
	int rc = recording_builder_create(path, NULL, &b, &e);

	if (rc == 0)
		rc = recording_builder_text(b, text, &e);
	if (rc == 0)
		rc = recording_builder_close(b, &e);
	if (rc == 0)
		return;
	fprintf(stderr, "recording_builder: %s\n", e.text);
	abort();
}
