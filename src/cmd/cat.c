/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/blobs.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/database_options.h"
#include "cmd/output_file.h"
#include "store/gauge.h"
#include "store/recording.h"

/* One line per thing: the section's name, the thing's id, then KEY=VALUE. */

static void put_text(const char *key, const char *s)
{
	size_t cap = strlen(s) * 4 + 1;
	own(freep) char *safe = xcalloc(1, cap);

	printf(" %s=\"", key);
	for (s = text_printable(safe, cap, s); *s; s++)
		printf(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	putchar('"');
}

static void put_string(const struct recording *r, const char *key, uint32_t id)
{
	if (id)
		put_text(key, recording_string(r, id));
}

static void put_number(const char *key, uint64_t v)
{
	if (v)
		printf(" %s=%" PRIu64, key, v);
}

static void put_id(const char *key, uint32_t id)
{
	if (id != MODEL_NONE)
		printf(" %s=%" PRIu32, key, id);
}

static const char *word(const char *const *words, size_t n, size_t i)
{
	return i < n ? words[i] : "unknown";
}

#define WORD(words, i) word(words, sizeof(words) / sizeof((words)[0]), i)

/* Each line of the value is one of its own. */
static int cat_info(const struct recording *r, struct err *e unused)
{
	for (size_t i = 0; i < recording_info_count(r); i++) {
		const char *key, *value;
		size_t n;

		recording_info_at(r, i, &key, &value);
		do {
			n = strcspn(value, "\n");

			own(freep) char *line = xstrndup(value, n);

			printf("info");
			put_text(key, line);
			putchar('\n');
			value += n;
		} while (*value++);
	}
	return 0;
}

static int cat_events(const struct recording *r, struct err *e unused)
{
	for (uint32_t i = 0; i < recording_n_events(r); i++) {
		const struct model_event *ev = recording_event(r, i);

		printf("event %u", i);
		put_string(r, "name", ev->name);
		put_string(r, "unit", ev->unit);
		put_string(r, "experiment", ev->experiment);
		put_string(r, "source", ev->source);
		put_string(r, "description", ev->description);
		put_number("period", ev->period);
		printf("%s%s%s%s%s%s%s\n", ev->flags & EVENT_SAMPLED ? " sampled" : "",
		       ev->flags & EVENT_EXACT ? " exact" : "",
		       ev->flags & EVENT_PC_ONLY ? " pc-only" : "",
		       ev->flags & EVENT_ASIDE ? " aside" : "",
		       ev->flags & EVENT_SUMMED ? " summed" : "",
		       ev->flags & EVENT_EACH ? " each" : "",
		       ev->flags & EVENT_BESIDE ? " beside" : "");
	}
	return 0;
}

static int cat_processes(const struct recording *r, struct err *e unused)
{
	for (uint32_t i = 0; i < recording_n_processes(r); i++) {
		const struct model_process *p = recording_process(r, i);

		printf("process %u pid=%u", i, p->pid);
		put_number("ppid", p->ppid);
		put_id("parent", p->parent);
		put_id("exec_of", p->exec_of);
		put_string(r, "comm", p->comm);
		put_string(r, "exe", p->exe);
		put_string(r, "cmdline", p->cmdline);
		put_string(r, "note", p->note);
		put_string(r, "cgroup", p->cgroup);
		put_string(r, "host", p->host);
		put_string(r, "epoch", p->epoch);
		put_number("start_ns", p->start_ns);
		put_number("end_ns", p->end_ns);
		if (p->exit_status != -1)
			printf(" exit_status=%" PRId32, p->exit_status);
		printf("%s\n", p->flags & PROCESS_NOT_FOLLOWED ? " not-followed" : "");
	}
	return 0;
}

static int cat_threads(const struct recording *r, struct err *e unused)
{
	for (uint32_t i = 0; i < recording_n_threads(r); i++) {
		const struct model_thread *t = recording_thread(r, i);

		printf("thread %u tid=%u", i, t->tid);
		put_id("process", t->process);
		put_string(r, "name", t->name);
		put_number("start_ns", t->start_ns);
		put_number("end_ns", t->end_ns);
		putchar('\n');
	}
	return 0;
}

static void put_build_id(const struct model_image *m)
{
	if (!m->build_id_size)
		return;
	printf(" build_id=");
	for (size_t i = 0; i < m->build_id_size && i < MODEL_BUILD_ID_MAX; i++)
		printf("%02x", m->build_id[i]);
}

static int cat_images(const struct recording *r, struct err *e unused)
{
	static const char *const kinds[] = { "elf",	"kernel",    "module",
					     "vdso",	"jit",	     "anonymous",
					     "unknown", "truncated", "label" };

	for (uint32_t i = 0; i < recording_n_images(r); i++) {
		const struct model_image *m = recording_image(r, i);

		printf("image %u kind=%s", i, WORD(kinds, m->kind));
		put_string(r, "path", m->path);
		put_string(r, "host_path", m->host_path);
		put_build_id(m);
		put_number("pid", m->pid);
		if (m->base)
			printf(" base=0x%" PRIx64, m->base);
		put_number("size", m->size_bytes);
		put_number("mtime_s", m->mtime_s);
		printf("%s%s\n", m->flags & IMAGE_DELETED ? " deleted" : "",
		       m->flags & IMAGE_32BIT ? " 32bit" : "");
	}
	return 0;
}

static int cat_mappings(const struct recording *r, struct err *e unused)
{
	for (uint32_t i = 0; i < recording_n_mappings(r); i++) {
		const struct model_mapping *m = recording_mapping(r, i);

		printf("mapping %u process=%u image=%u start=0x%" PRIx64 " end=0x%" PRIx64
		       " file_offset=0x%" PRIx64,
		       i, m->process, m->image, m->start, m->end, m->file_offset);
		put_number("from_ns", m->from_ns);
		put_number("to_ns", m->to_ns);
		putchar('\n');
	}
	return 0;
}

static int cat_locations(const struct recording *r, struct err *e unused)
{
	const struct model_location *l = recording_locations(r);
	static const struct {
		uint32_t flag;
		const char *text;
	} flags[] = {
		{ LOCATION_RETURN, " return" },
		{ LOCATION_UNDER, " under" },
		{ LOCATION_VARIABLE, " variable" },
	};

	for (uint32_t i = 0; i < recording_n_locations(r); i++) {
		printf("location %u image=%u offset=0x%" PRIx64, i, l[i].image,
		       l[i].offset);
		for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++)
			if (l[i].flags & flags[k].flag)
				fputs(flags[k].text, stdout);
		putchar('\n');
	}
	return 0;
}

static int cat_stacks(const struct recording *r, struct err *e unused)
{
	const struct model_stack *s = recording_stacks(r);

	for (uint32_t i = 1; i < recording_n_stacks(r); i++)
		printf("stack %u parent=%u location=%u\n", i, s[i].parent, s[i].location);
	return 0;
}

static int cat_intervals(const struct recording *r, struct err *e unused)
{
	for (uint32_t i = 0; i < recording_n_intervals(r); i++) {
		const struct model_interval *v = recording_interval(r, i);

		printf("interval %u from_ns=%" PRIu64 " to_ns=%" PRIu64, i, v->from_ns,
		       v->to_ns);
		put_string(r, "name", v->name);
		put_string(r, "cause", v->cause);
		putchar('\n');
	}
	return 0;
}

static int cat_facts(const struct recording *r, struct err *e unused)
{
	static const char *const kinds[] = { "target", "self", "rate", "loss" };

	for (uint32_t i = 0; i < recording_n_facts(r); i++) {
		const struct model_fact *f = recording_fact(r, i);

		printf("fact %u kind=%s", i, WORD(kinds, f->kind));
		put_string(r, "name", f->name);
		printf(" value=%" PRIu64, f->value);
		put_string(r, "unit", f->unit);
		put_id("event", f->event);
		put_id("process", f->process);
		putchar('\n');
	}
	return 0;
}

static int cat_blobs(const struct recording *r, struct err *e unused)
{
	for (size_t i = 0; i < recording_n_blobs(r); i++) {
		const struct model_blob *b = recording_blob(r, i);

		printf("blob %zu kind=%s", i, blobs_kind_name(b->kind));
		put_string(r, "name", b->name);
		put_id("image", b->image);
		printf(" size=%" PRIu64 "\n", b->size_bytes);
	}
	return 0;
}

static void put_samples(const struct sample_block *b)
{
	for (size_t i = 0; i < b->n; i++) {
		printf("sample event=%u thread=%u stack=%u weight=%" PRIu64 " count=%u",
		       b->event[i], b->thread[i], b->stack[i], b->weight[i], b->count[i]);
		put_number("time_ns", b->time_ns[i]);
		put_id("cpu", b->cpu[i]);
		putchar('\n');
	}
}

static int cat_samples(const struct recording *r, struct err *e)
{
	own(sample_block_fini) struct sample_block b = { 0 };

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		int rc = recording_read_samples(r, i, SAMPLE_ALL, &b, e);

		if (rc < 0)
			return rc;
		put_samples(&b);
	}
	return 0;
}

static int cat_trace_types(const struct recording *r, struct err *e unused)
{
	static const char *const types[] = { "u64",	"i64",	    "string",
					     "address", "duration", "bytes" };

	for (uint32_t i = 0; i < recording_n_trace_types(r); i++) {
		const struct model_trace_type *t = recording_trace_type(r, i);

		printf("trace-type %u event=%u", i, t->event);
		for (uint32_t c = 0; c < t->n_columns; c++)
			printf(" %s:%s", recording_string(r, t->columns[c].name),
			       WORD(types, t->columns[c].type));
		putchar('\n');
	}
	return 0;
}

static int put_trace(void *ctx, const struct model_trace *t, struct err *e unused)
{
	const struct recording *r = ctx;
	const struct model_trace_type *type = recording_trace_type(r, t->trace_type);

	printf("trace type=%u thread=%u stack=%u time_ns=%" PRIu64, t->trace_type,
	       t->thread, t->stack, t->time_ns);
	put_id("cpu", t->cpu);
	for (uint32_t c = 0; type && c < type->n_columns; c++) {
		const char *name = recording_string(r, type->columns[c].name);

		if (type->columns[c].type == COLUMN_STRING)
			put_text(name, recording_string(r, (uint32_t)t->values[c]));
		else if (type->columns[c].type == COLUMN_I64)
			printf(" %s=%" PRId64, name, (int64_t)t->values[c]);
		else if (type->columns[c].type == COLUMN_ADDRESS)
			printf(" %s=0x%" PRIx64, name, t->values[c]);
		else
			printf(" %s=%" PRIu64, name, t->values[c]);
	}
	putchar('\n');
	return 0;
}

static int cat_traces(const struct recording *r, struct err *e)
{
	return recording_each_trace(r, put_trace, (void *)(uintptr_t)r, e);
}

static int put_basic_block(void *ctx unused, uint32_t id,
			   const struct model_basic_block *b, struct err *e unused)
{
	static const char *const ends[] = { "on",     "branch",	       "jump",
					    "call",   "indirect-jump", "indirect-call",
					    "return", "syscall",       "stop" };

	printf("basic-block %u process=%u location=%u size=%u instructions=%u end=%s "
	       "times=%" PRIu64 "\n",
	       id, b->process, b->location, b->size_bytes, b->n_instructions,
	       WORD(ends, b->end), b->times);
	return 0;
}

static int cat_basic_blocks(const struct recording *r, struct err *e)
{
	return recording_each_basic_block(r, put_basic_block, NULL, e);
}

static int put_edge(void *ctx unused, const struct model_edge *edge, struct err *e unused)
{
	static const char *const kinds[] = {
		"on",	  "taken",    "call",	 "indirect-jump", "indirect-call",
		"return", "returned", "syscall", "entered",	  "left"
	};

	printf("edge block=%u kind=%s", edge->block, WORD(kinds, edge->kind));
	put_id("location", edge->location);
	printf(" times=%" PRIu64 "\n", edge->times);
	return 0;
}

static int cat_edges(const struct recording *r, struct err *e)
{
	return recording_each_edge(r, put_edge, NULL, e);
}

static int put_direction(void *ctx unused, const struct model_direction *d,
			 struct err *e unused)
{
	printf("direction process=%u location=%u", d->process, d->location);
	put_id("to", d->to);
	printf(" times=%" PRIu64 " samples=%" PRIu64, d->times, d->samples);
	if (d->missed || d->foreseen)
		printf(" missed=%" PRIu64 " foreseen=%" PRIu64, d->missed, d->foreseen);
	printf("\n");
	return 0;
}

static int cat_directions(const struct recording *r, struct err *e)
{
	return recording_each_direction(r, put_direction, NULL, e);
}

static int put_access(void *ctx unused, const struct model_access *a,
		      struct err *e unused)
{
	static const char *const whats[] = { "met",	   "unknown",	 "line",
					     "page",	   "stride",	 "again",
					     "other-line", "other-page", "last",
					     "lowest",	   "highest" };

	printf("access process=%u location=%u what=%s value=%" PRIu64 " times=%" PRIu64
	       "\n",
	       a->process, a->location, WORD(whats, a->what), a->value, a->times);
	return 0;
}

static int cat_accesses(const struct recording *r, struct err *e)
{
	return recording_each_access(r, put_access, NULL, e);
}

static int put_anchor(void *ctx unused, const struct model_anchor *a,
		      struct err *e unused)
{
	printf("anchor process=%u window=%u", a->process, a->window);
	put_id("location", a->location);
	printf(" size=%u times=%" PRIu64 " cpu=%" PRIu64 "%s\n", a->size_bytes, a->times,
	       a->cpu_ns, a->is_near ? " near" : "");
	return 0;
}

static int cat_anchors(const struct recording *r, struct err *e)
{
	return recording_each_anchor(r, put_anchor, NULL, e);
}

static int put_anchor_way(void *ctx unused, const struct model_anchor_way *w,
			  struct err *e unused)
{
	printf("anchor-way process=%u window=%u behind=%u", w->process, w->window,
	       w->behind);
	put_id("to", w->to);
	printf(" times=%" PRIu64 "\n", w->times);
	return 0;
}

static int cat_anchor_ways(const struct recording *r, struct err *e)
{
	return recording_each_anchor_way(r, put_anchor_way, NULL, e);
}

static int put_gauge(void *ctx unused, const struct gauge *g, struct err *e unused)
{
	const char *name = gauge_name(g->what);

	printf("gauge what=%s value=%" PRIu64 " pid=%u", name ? name : "?", g->value,
	       g->pid);
	put_number("time_ns", g->time_ns);
	putchar('\n');
	return 0;
}

static int cat_gauges(const struct recording *r, struct err *e)
{
	return recording_each_gauge(r, put_gauge, NULL, e);
}

static const struct section {
	const char *name;
	int (*cat)(const struct recording *r, struct err *e);
} sections[] = {
	{ "info", cat_info },
	{ "events", cat_events },
	{ "processes", cat_processes },
	{ "threads", cat_threads },
	{ "images", cat_images },
	{ "mappings", cat_mappings },
	{ "locations", cat_locations },
	{ "stacks", cat_stacks },
	{ "intervals", cat_intervals },
	{ "facts", cat_facts },
	{ "blobs", cat_blobs },
	{ "samples", cat_samples },
	{ "trace-types", cat_trace_types },
	{ "traces", cat_traces },
	{ "basic-blocks", cat_basic_blocks },
	{ "edges", cat_edges },
	{ "directions", cat_directions },
	{ "accesses", cat_accesses },
	{ "anchors", cat_anchors },
	{ "anchor-ways", cat_anchor_ways },
	{ "gauges", cat_gauges },
};

#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static const struct option_spec own_options[] = {
	{ .name = "section",
	  .kind = OPTION_LIST,
	  .arg = "NAME",
	  .text = "Only this section: info, events, processes, threads, images, "
		  "mappings, "
		  "locations, stacks, intervals, facts, blobs, samples, trace-types, "
		  "traces, basic-blocks, edges, directions, accesses, anchors, "
		  "anchor-ways or gauges" },
	{ .name = "db",
	  .kind = OPTION_STRING,
	  .arg = "PATH",
	  .text = "Read this database instead of a recording" },
	DATABASE_OPTIONS_SELECT,
	OPTION_END,
};

static bool is_wanted(const struct options *o, const char *name)
{
	size_t n = options_count(o, "section");

	for (size_t i = 0; i < n; i++)
		if (strcmp(options_at(o, "section", i), name) == 0)
			return true;
	return n == 0;
}

static int check_sections(const struct options *o, struct err *e)
{
	for (size_t i = 0; i < options_count(o, "section"); i++) {
		const char *name = options_at(o, "section", i);
		bool known = false;

		for (size_t k = 0; k < N_SECTIONS; k++)
			known = known || strcmp(sections[k].name, name) == 0;
		if (!known)
			return err_set(e, ERR_USAGE, "no section '%.40s'", name);
	}
	return 0;
}

/* A directory is a database, or a part of one. */
static int open_input(const struct options *o, struct database_answer *a,
		      struct recording **ret, struct err *e)
{
	own(database_options_fini) struct database_options d = { 0 };
	const char *path = options_argv(o)[0];
	struct stat st;
	int rc;

	if (options_argc(o) != (options_has(o, "db") ? 0 : 1))
		return err_set(e, ERR_USAGE, "name one recording: dwell cat FILE.dwell");
	if (path && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))) {
		rc = database_options_take(o, NULL, &d, e);
		return rc < 0 ? rc : recording_open(path, ret, e);
	}
	rc = database_options_take(o, path, &d, e);
	if (rc == 0)
		rc = database_query_load(&d.query, a, e);
	if (rc < 0)
		return rc;
	database_options_tell_range(a);
	database_options_tell_damage(a);
	return recording_open(a->path, ret, e);
}

static int run(struct options *o, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	int rc = check_sections(o, e);

	output_file_allow_failure();
	if (rc == 0)
		rc = open_input(o, &a, &r, e);
	for (size_t i = 0; i < N_SECTIONS && rc == 0; i++)
		if (is_wanted(o, sections[i].name))
			rc = sections[i].cat(r, e);
	if (rc == 0 && recording_damage(r))
		rc = err_set(e, ERR_FORMAT, "%s", recording_damage(r));
	if (rc == 0 && a.problems.n)
		rc = EXIT_ERROR;
	return rc;
}

static const struct option_spec *const tables[] = { own_options, NULL };

static const struct command_example examples[] = {
	{ "dwell cat a.dwell | grep ^sample | wc -l", "count the samples" },
	{ "dwell cat --section images,facts a.dwell", "what was loaded, what it cost" },
	{ NULL, NULL },
};

const struct command cmd_cat = {
	.name = "cat",
	.usage = "[--section NAME] RECORDING|--db PATH",
	.summary = "Print a recording's raw contents as text",
	.description =
		"One line per thing: its section, its id, then KEY=VALUE, texts in "
		"quotes. "
		"Nothing is resolved or summed; ids refer to other lines. The format is "
		"meant for grep and scripts and only grows.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
