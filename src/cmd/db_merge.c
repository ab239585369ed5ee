/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings, databases and parts of databases made into one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/database_options.h"
#include "cmd/db_verb.h"
#include "store/database_writer.h"
#include "store/recording.h"

#define MERGE_LEVEL 12
#define SECOND_NS   UINT64_C(1000000000)

struct merging {
	struct options *o;
	const char *output;
	struct tally *all; /* into one recording; NULL: into a database */
	struct database_writer *w;
	char *host; /* that w writes */
	struct tally_fold fold;
	uint64_t n_samples, n_epochs, n_damaged;
};

static void merging_fini(struct merging *m)
{
	database_writer_close(m->w);
	tally_free(m->all);
	free(m->host);
}

static bool ends_with_dwell(const char *path)
{
	size_t n = strlen(path);

	return n > 6 && strcmp(path + n - 6, ".dwell") == 0;
}

static int take_fold(struct merging *m, struct err *e)
{
	m->fold = (struct tally_fold){ .processes = true, .threads = true, .cpus = true };
	for (size_t i = 0; i < options_count(m->o, "keep"); i++) {
		const char *what = options_at(m->o, "keep", i);

		if (strcmp(what, "processes") == 0)
			m->fold.processes = false;
		else if (strcmp(what, "threads") == 0)
			m->fold.threads = false;
		else if (strcmp(what, "cpus") == 0)
			m->fold.cpus = false;
		else
			return err_set(e, ERR_USAGE,
				       "--keep %.40s: processes, threads or cpus", what);
	}
	return 0;
}

/* A writer for that host; the one of the input before, mostly. */
static int choose_writer(struct merging *m, const char *host, struct err *e)
{
	if (m->w && strcmp(m->host, host) == 0)
		return 0;
	database_writer_close(m->w);
	m->w = NULL;
	free(m->host);
	m->host = xstrdup(host);
	return database_writer_open(m->output, host, &m->w, e);
}

static void tell_damage(struct merging *m, const char *path, const char *what)
{
	char safe[300];

	m->n_damaged++;
	fprintf(stderr, "dwell db: %s: %s\n", text_printable(safe, sizeof(safe), path),
		what);
}

static uint64_t info_number(const struct recording *r, const char *key)
{
	const char *value = recording_info(r, key);
	uint64_t n = 0;

	return value && text_parse_u64(value, &n, NULL) == 0 ? n : 0;
}

/* When a recording was made, to the second. */
static void span_of(const struct recording *r, int64_t *ret_from, int64_t *ret_to)
{
	uint64_t from = info_number(r, "start-realtime-ns");
	uint64_t to = info_number(r, "end-realtime-ns");
	uint64_t wall = 0, asleep = 0;

	if (!to && recording_find_fact(r, FACT_TARGET, "wall-time", MODEL_NONE,
				       MODEL_NONE, &wall)) {
		recording_find_fact(r, FACT_TARGET, "asleep-time", MODEL_NONE, MODEL_NONE,
				    &asleep);
		to = from + wall + asleep;
	}
	*ret_from = (int64_t)(from / SECOND_NS);
	*ret_to = (int64_t)((to + SECOND_NS - 1) / SECOND_NS);
	if (*ret_to <= *ret_from)
		*ret_to = *ret_from + 1;
}

/* The file's name without its suffix. */
static void label_after(char label[MANIFEST_TEXT_MAX], const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = strlen(name) - (ends_with_dwell(name) ? strlen(".dwell") : 0);
	own(freep) char *stem = xstrndup(name, n);

	manifest_set(label, stem);
}

static int add_epoch(struct merging *m, const char *host, const struct manifest *like,
		     struct tally *t, int64_t from_s, int64_t to_s, struct err *e)
{
	struct manifest begin = *like;
	int rc = choose_writer(m, host, e);

	begin.start_s = from_s;
	if (rc == 0)
		rc = database_writer_begin(m->w, &begin, e);
	if (rc == 0)
		rc = database_writer_add(m->w, t, from_s, to_s, e);
	if (rc == 0)
		rc = database_writer_end(m->w, to_s, e);
	m->n_epochs += rc == 0;
	return rc;
}

static int merge_recording(struct merging *m, const char *path, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	own(tally_freep) struct tally *t = tally_new();
	struct manifest like = { 0 };
	struct tally *to = m->all ? m->all : t;
	const char *host;
	int64_t from_s, to_s;
	uint64_t was = tally_n_samples(to);
	int rc = recording_open(path, &r, e);

	if (rc == 0)
		rc = tally_add_recording(to, r, &m->fold, e);
	if (rc < 0)
		return rc;
	m->n_samples += tally_n_samples(to) - was;
	if (recording_damage(r))
		tell_damage(m, path, recording_damage(r));
	if (m->all)
		return 0;
	host = recording_info(r, "host");
	span_of(r, &from_s, &to_s);
	label_after(like.label, path);
	return add_epoch(m, host ? host : "unknown", &like, t, from_s, to_s, e);
}

/* One epoch of a database, all of it that is selected. */
static int merge_epoch(struct merging *m, const struct database_query *q,
		       const struct database_epoch *ep, struct err *e)
{
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	own(tally_freep) struct tally *t = tally_new();
	struct database_query one = *q;
	const char *host = ep->has_manifest ? ep->manifest.host : ep->host;
	int rc;

	one.path = ep->path;
	one.hosts = one.epochs = NULL;
	rc = database_query_tally(&one, t, &a, e);
	if (rc < 0)
		return rc;
	m->n_samples += tally_n_samples(t);
	for (size_t i = 0; i < a.problems.n; i++)
		tell_damage(m, m->output, a.problems.at[i]);
	return add_epoch(m, host, &ep->manifest, t, a.from_s, a.to_s, e);
}

static int merge_epochs(struct merging *m, const struct database_query *q, struct err *e)
{
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	size_t done = SIZE_MAX;
	int rc = database_query_choose(q, &a, e);

	for (size_t i = 0; i < a.n_chosen && rc == 0; i++) {
		size_t epoch = a.database->segments.at[a.chosen[i]].epoch;

		if (epoch != done)
			rc = merge_epoch(m, q, &a.database->epochs.at[epoch], e);
		done = epoch;
	}
	return rc;
}

/* Added by way of a tally of its own, as looking again begins with an empty one. */
static int add_all(struct merging *m, const struct database_query *q, struct err *e)
{
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	own(recording_freep) struct recording *r = NULL;
	int rc = database_query_load(q, &a, e);

	if (rc == 0)
		rc = recording_open(a.path, &r, e);
	if (rc == 0)
		rc = tally_add_recording(m->all, r, NULL, e);
	for (size_t i = 0; i < a.problems.n; i++)
		tell_damage(m, q->path, a.problems.at[i]);
	m->n_samples = tally_n_samples(m->all);
	return rc;
}

static int merge_input(struct merging *m, const char *path, struct err *e)
{
	own(database_options_fini) struct database_options d = { 0 };
	struct stat st;
	int rc;

	if (stat(path, &st) != 0)
		return err_os(e, "cannot open '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return merge_recording(m, path, e);
	rc = database_options_take(m->o, path, &d, e);
	if (rc < 0)
		return rc;
	return m->all ? add_all(m, &d.query, e) : merge_epochs(m, &d.query, e);
}

static int run(struct options *o, char *const *operands, struct err *e)
{
	own(merging_fini) struct merging m = { .o = o,
					       .output = options_str(o, "output") };
	const struct tally_write_options how = { .level = MERGE_LEVEL };
	char count[TEXT_MAX], safe[500];
	int rc = take_fold(&m, e);

	if (!m.output)
		return err_set(e, ERR_USAGE,
			       "say where to: -o FILE.dwell or -o DATABASE");
	if (ends_with_dwell(m.output))
		m.all = tally_new();
	for (size_t i = 0; operands[i] && rc == 0; i++)
		rc = merge_input(&m, operands[i], e);
	if (rc == 0 && m.all)
		rc = tally_write(m.all, m.output, &how, e);
	if (rc < 0)
		return rc;
	printf("%s: %s", text_printable(safe, sizeof(safe), m.output),
	       text_number(count, m.n_samples, "samples"));
	if (!m.all)
		printf(", %s", text_number(count, m.n_epochs, "epochs"));
	putchar('\n');
	return m.n_damaged ? EXIT_ERROR : EXIT_OK;
}

const struct db_verb db_merge = {
	.name = "merge",
	.operands = "-o DATABASE|FILE.dwell DATABASE|RECORDING…",
	.summary = "make one of many",
	.min_operands = 1,
	.max_operands = 10000,
	.run = run,
};
