/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/database_options.h"
#include "cmd/db_verb.h"
#include "store/recording.h"

struct epoch_row {
	const struct database_epoch *epoch;
	size_t n_segments, n_damaged;
	uint64_t bytes, samples;
	int64_t from_s, to_s;
};

static uint64_t count_samples(const char *path, bool *ret_is_damaged)
{
	own(recording_freep) struct recording *r = NULL;
	own(sample_block_fini) struct sample_block b = { 0 };
	uint64_t n = 0;

	*ret_is_damaged = recording_open(path, &r, NULL) < 0 || recording_damage(r);
	for (size_t i = 0; r && i < recording_n_sample_blocks(r); i++) {
		if (recording_read_samples(r, i, SAMPLE_COUNT, &b, NULL) < 0)
			*ret_is_damaged = true;
		for (size_t k = 0; k < b.n; k++)
			n += b.count[k];
	}
	return n;
}

/* The chosen segments come epoch by epoch. */
static size_t gather(const struct database_answer *a, struct epoch_row *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_chosen; i++) {
		const struct database_segment *s =
			&a->database->segments.at[a->chosen[i]];
		const struct database_epoch *ep = &a->database->epochs.at[s->epoch];
		struct epoch_row *row;
		bool is_damaged;

		if (!n || rows[n - 1].epoch != ep)
			rows[n++] = (struct epoch_row){ .epoch = ep,
							.from_s = s->name.from_s };
		row = &rows[n - 1];
		row->samples += count_samples(s->path, &is_damaged);
		row->n_damaged += is_damaged;
		row->n_segments++;
		row->bytes += s->bytes;
		row->from_s = s->name.from_s < row->from_s ? s->name.from_s : row->from_s;
		row->to_s = s->name.to_s > row->to_s ? s->name.to_s : row->to_s;
	}
	return n;
}

static void put_note(struct table *t, const struct epoch_row *row)
{
	char label[MANIFEST_TEXT_MAX * 4];
	const char *end =
		row->epoch->has_manifest && !row->epoch->manifest.end_s ? "goes on" : "";

	text_printable(label, sizeof(label), row->epoch->manifest.label);
	if (row->n_damaged)
		table_cellf(t, "%s%s%zu damaged", label, *label ? ", " : "",
			    row->n_damaged);
	else if (!row->epoch->has_manifest)
		table_cell(t, "no MANIFEST");
	else
		table_cellf(t, "%s%s%s", label, *label && *end ? ", " : "", end);
}

static void print_text(const struct options *o, const struct epoch_row *rows, size_t n)
{
	static const struct table_column columns[] = {
		{ .title = "host" },
		{ .title = "epoch", .align = TABLE_RIGHT },
		{ .title = "from" },
		{ .title = "to" },
		{ .title = "samples", .align = TABLE_RIGHT },
		{ .title = "size", .align = TABLE_RIGHT },
		{ .title = "files", .align = TABLE_RIGHT },
		{ .title = "label", .is_elastic = true },
	};
	const struct terminal *terminal = command_terminal();
	const struct table_style style = {
		.width = (unsigned)options_u64(o, "width", terminal->width),
		.colour = terminal->colour,
	};
	own(table_freep) struct table *t =
		table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char a[MOMENT_MAX], b[MOMENT_MAX], count[TEXT_MAX], size[TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		/* The end of the same day is the time alone. */
		const char *to = moment_text(b, rows[i].to_s);
		bool is_same_day = strncmp(moment_text(a, rows[i].from_s), to, 10) == 0;

		table_row(t);
		table_cell(t, rows[i].epoch->host);
		table_cellf(t, "%" PRIu32, rows[i].epoch->number);
		table_cellf(t, "%.16s", a);
		table_cellf(t, "%.16s", is_same_day ? to + 11 : to);
		table_cell(t, text_count(count, rows[i].samples));
		table_cell(t, text_size(size, rows[i].bytes));
		table_cellf(t, "%zu", rows[i].n_segments);
		put_note(t, &rows[i]);
	}
	table_print(t, &style, stdout);
}

static void print_json(const struct database_answer *a, const struct epoch_row *rows,
		       size_t n)
{
	struct json j;

	json_init(&j, stdout);
	json_object(&j);
	json_key_str(&j, "report", "db ls");
	json_key_str(&j, "database", a->database->path);
	json_key(&j, "epochs");
	json_array(&j);
	for (size_t i = 0; i < n; i++) {
		const struct database_epoch *ep = rows[i].epoch;

		json_object(&j);
		json_key_str(&j, "host", ep->host);
		json_key_u64(&j, "epoch", ep->number);
		json_key_str(&j, "label", ep->manifest.label);
		json_key_u64(&j, "from_s", (uint64_t)rows[i].from_s);
		json_key_u64(&j, "to_s", (uint64_t)rows[i].to_s);
		json_key_bool(&j, "goes_on", ep->has_manifest && !ep->manifest.end_s);
		json_key_u64(&j, "samples", rows[i].samples);
		json_key_u64(&j, "bytes", rows[i].bytes);
		json_key_u64(&j, "segments", rows[i].n_segments);
		json_key_u64(&j, "damaged", rows[i].n_damaged);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	putchar('\n');
}

static int run(struct options *o, char *const *operands, struct err *e)
{
	own(database_options_fini) struct database_options d = { 0 };
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	int rc = database_options_take(o, operands[0], &d, e);

	if (rc == 0)
		rc = database_query_choose(&d.query, &a, e);
	if (rc < 0)
		return rc;

	own(freep) struct epoch_row *rows =
		xcalloc(a.database->epochs.n + 1, sizeof(*rows));
	size_t n = gather(&a, rows);

	if (options_has(o, "json"))
		print_json(&a, rows, n);
	else
		print_text(o, rows, n);
	return EXIT_OK;
}

const struct db_verb db_ls = {
	.name = "ls",
	.operands = "DATABASE",
	.summary = "list the epochs",
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
