/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/io_view.h"

#include <string.h>

#include "analyze/io_rows.h"
#include "base/text.h"
#include "cmd/report_options.h"
#include "cmd/report_text.h"
#include "cmd/rows_path.h"
#include "cmd/rows_unfinished.h"

#define STACK_FRAMES 12 /* below a row; the innermost */
#define PATH_FRAMES  4	/* of a call that has not returned */
#define INDENT	     10 /* of what is told of it, behind how long it is */

/* By what io_rows_make() knows, in its order. */
static const struct rows_by bys[] = {
	[IO_ROWS_BY_FILE] = { "file", "File", 0 },
	[IO_ROWS_BY_CONNECTION] = { "connection", "File", 0 },
	[IO_ROWS_BY_CALL] = { "call", "Call", 0 },
	[IO_ROWS_BY_STACK] = { "stack", "Stack", 0 },
	[IO_ROWS_BY_PROCESS] = { "process", "Process", 0 },
	[IO_ROWS_BY_THREAD] = { "thread", "Thread", 0 },
	[IO_ROWS_N_BYS] = { NULL, NULL, 0 },
};

static uint64_t bytes_of(const struct io_rows_sums *s)
{
	return s->read_bytes + s->written_bytes;
}

static uint64_t moved(unused const struct rows_view *v, const void *row)
{
	return bytes_of(&((const struct io_row *)row)->sums);
}

/* What a call moved that did not fail. */
static uint64_t average(unused const struct rows_view *v, const void *row)
{
	const struct io_rows_sums *s = &((const struct io_row *)row)->sums;

	return s->sizes.sum ? bytes_of(s) / s->sizes.sum : 0;
}

static uint64_t longest(unused const struct rows_view *v, const void *row)
{
	return power_steps_below(&((const struct io_row *)row)->sums.times);
}

static const struct rows_key keys[] = {
	{ "time", offsetof(struct io_row, sums.ns), NULL },
	{ "bytes", 0, moved },
	{ "calls", offsetof(struct io_row, sums.calls), NULL },
	{ "errors", offsetof(struct io_row, sums.errors), NULL },
	{ NULL, 0, NULL },
};

static const char *name_of(unused const struct rows_view *v, const void *row)
{
	return ((const struct io_row *)row)->name;
}

static void put_name(const struct rows_view *v, const void *row, struct rows_word *ret)
{
	buf_puts(&ret->text, name_of(v, row));
}

static struct rows_path path_of(const struct io_row *row)
{
	return (struct rows_path){ row->frames, row->n_frames };
}

static void put_frames(const struct rows_view *v, const void *row, struct json *j)
{
	const struct rows_path path = path_of(row);

	if (v->by == IO_ROWS_BY_STACK)
		rows_path_json(j, &v->report, &path);
}

static void put_connections(unused const struct rows_view *v, const void *row,
			    struct json *j)
{
	const struct io_row *r = row;

	if (r->n_connections > 1)
		json_key_u64(j, "connections", r->n_connections);
}

/* Who called the function of the row, and so on; of how many connections it is. */
static void put_note(const struct rows_view *v, const void *row, struct buf *b)
{
	const struct rows_path path = path_of(row);
	uint32_t n = ((const struct io_row *)row)->n_connections;
	char count[TEXT_MAX];

	if (n > 1)
		buf_printf(b, "%s connections", text_count(count, n));

	if (path.n_frames > 1)
		rows_path_text(b, &v->report, &path, "", true, STACK_FRAMES, 1);
}

static const struct rows_column columns[] = {
	{ .json = put_frames },
	{ .json = put_connections },
	{ .title = "Time",
	  .key = "ns",
	  .unit = "ns",
	  .at = offsetof(struct io_row, sums.ns) },
	{ .title = "Longest\nbelow", .unit = "ns", .number = longest },
	{ .title = "Calls",
	  .key = "calls",
	  .unit = "count",
	  .at = offsetof(struct io_row, sums.calls) },
	{ .title = "Errors",
	  .key = "errors",
	  .unit = "count",
	  .at = offsetof(struct io_row, sums.errors) },
	{ .key = "asked_bytes",
	  .unit = "bytes",
	  .at = offsetof(struct io_row, sums.asked_bytes) },
	{ .title = "Read",
	  .key = "read_bytes",
	  .unit = "bytes",
	  .at = offsetof(struct io_row, sums.read_bytes) },
	{ .title = "Written",
	  .key = "written_bytes",
	  .unit = "bytes",
	  .at = offsetof(struct io_row, sums.written_bytes) },
	{ .title = "Average", .unit = "bytes", .number = average },
	{ .key = "name", .title = "File", .share = 1, .is_name = true, .word = put_name },
	{ .title = "Bytes that a call moved",
	  .key = "sizes",
	  .unit = "bytes",
	  .is_steps = true,
	  .at = offsetof(struct io_row, sums.sizes) },
	{ .title = "Time that a call took",
	  .key = "durations_ns",
	  .unit = "ns",
	  .is_steps = true,
	  .at = offsetof(struct io_row, sums.times) },
	{ .title = NULL },
};

static int load(struct rows_view *v, struct err *e)
{
	struct io_rows *io = v->of;
	int rc = io_rows_make(v->report.profile, (enum io_rows_by)v->by, io, e);

	if (rc < 0)
		return rc;
	if (!io->has_io)
		return rows_view_missing(v, e);
	rows_view_take(v, io->rows.at, io->rows.n, sizeof(*io->rows.at));
	if (io->rows.n)
		rows_view_part(v, NULL, &io->total, io->rows.n);
	return 0;
}

/* Of calls that moved something at all. */
static uint64_t piece_of(const struct io_rows_sums *s)
{
	return bytes_of(s) / (s->sizes.sum - s->sizes.n[0]);
}

/* What could be done by fewer calls. */
static void print_small(const struct rows_view *v, FILE *out)
{
	const struct io_rows *io = v->of;
	const struct profile *p = v->report.profile;

	vec_each(pair, &io->pairs) {
		uint64_t blocks = io_rows_blocks_instead(p, pair);
		char n[TEXT_MAX], each[TEXT_MAX], size[TEXT_MAX], few[TEXT_MAX];
		char call[128], file[512];
		own(buf_fini) struct buf b = { 0 };

		if (!blocks)
			continue;
		io_rows_call_name(profile_function(p, pair->call)->name, call,
				  sizeof(call));
		text_printable(file, sizeof(file), profile_function(p, pair->file)->name);
		buf_printf(&b,
			   "%s of %s moved %s each of %s: with a buffer of %s it would "
			   "take %s",
			   text_number(n, pair->sums.calls, "calls"), call,
			   text_size(each, piece_of(&pair->sums)), file,
			   text_size(size, IO_ROWS_BLOCK_BYTES), text_count(few, blocks));
		report_text_apart(&v->report, &b, out);
	}
}

/* What the calls of an io_uring hand over is no call, and may not be here. */
static void print_unseen(const struct rows_view *v, FILE *out)
{
	const struct io_rows *io = v->of;
	const struct profile *p = v->report.profile;
	own(buf_fini) struct buf b = { 0 };
	uint64_t calls = 0;
	char n[TEXT_MAX];

	vec_each(pair, &io->pairs)
		if (strcmp(profile_function(p, pair->call)->name,
			   "[syscall io_uring_enter]") == 0)
			calls += pair->sums.calls;
	if (!calls || io->sees_requests)
		return;
	buf_printf(&b, "%s of io_uring_enter: the requests that %s over are not seen",
		   text_number(n, calls, "calls"), calls == 1 ? "it hands" : "they hand");
	report_text_apart(&v->report, &b, out);
}

static struct rows_path path_of_unfinished(const struct io_rows_unfinished *u)
{
	return (struct rows_path){ u->frames, u->n_frames };
}

/* "12.0 s  worker (18), read of pipe:[17], since 3.20 ms" and its stack. */
static void print_one_unfinished(const struct rows_view *v,
				 const struct io_rows_unfinished *u, FILE *out)
{
	const struct profile *p = v->report.profile;
	own(buf_fini) struct buf b = { 0 }, path = { 0 };
	char ns[TEXT_MAX], call[128];
	const struct rows_path frames = path_of_unfinished(u);

	io_rows_call_name(profile_function(p, u->call)->name, call, sizeof(call));
	rows_unfinished_who(&b, u->thread, u->n);
	buf_printf(&b, ", %s of ", call);
	report_text_safe(&b, profile_function(p, u->file)->name);
	rows_unfinished_since(&b, u->since_ns, u->n);
	fprintf(out, "%*s  ", INDENT - 2, text_duration(ns, u->ns));
	report_text_indented(&v->report, INDENT, &b, out);
	if (!u->n_frames)
		return;
	rows_path_text(&path, &v->report, &frames, "in ", false, PATH_FRAMES, 1);
	fprintf(out, "%*s", INDENT, "");
	report_text_indented(&v->report, INDENT, &path, out);
}

static void print_unfinished(const struct rows_view *v, FILE *out)
{
	const struct io_rows *io = v->of;
	size_t n = io->unfinished.n, shown = report_options_shown(v->limit, n);

	if (!n)
		return;
	fprintf(out, "\nCalls that had not returned\n\n");
	for (size_t i = 0; i < shown; i++)
		print_one_unfinished(v, &io->unfinished.at[i], out);
	report_text_more(n - shown, out);
}

static void put_one_unfinished(const struct rows_view *v,
			       const struct io_rows_unfinished *u, struct json *j)
{
	const struct profile *p = v->report.profile;
	const struct rows_path path = path_of_unfinished(u);
	char call[128];

	io_rows_call_name(profile_function(p, u->call)->name, call, sizeof(call));
	json_object(j);
	json_key_str(j, "thread", u->thread);
	json_key_u64(j, "pid", u->pid);
	json_key_u64(j, "tid", u->tid);
	json_key_str(j, "call", call);
	json_key_str(j, "file", profile_function(p, u->file)->name);
	json_key_u64(j, "calls", u->n);
	json_key_u64(j, "ns", u->ns);
	if (u->since_ns != UINT64_MAX)
		json_key_u64(j, "since_ns", u->since_ns);
	rows_path_json(j, &v->report, &path);
	json_object_end(j);
}

/* It closes the list before, and the end of the report its own. */
static void put_behind(const struct rows_view *v, struct json *j)
{
	const struct io_rows *io = v->of;

	json_array_end(j);
	json_key(j, "unfinished_calls");
	json_array(j);
	vec_each(u, &io->unfinished)
		put_one_unfinished(v, u, j);
}

/* Whoever has not read of it takes it for all that there was. */
static void print_wrapped(const struct rows_view *v, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!((const struct io_rows *)v->of)->is_wrapped)
		return;
	buf_puts(&b, "Seen by wrappers in the programs: calls of their own and of their "
		     "libraries, not those that the C library makes itself (stdio, "
		     "readdir, getaddrinfo), nor those of the dynamic linker, static "
		     "programs and Go; as root all are seen");
	report_text_apart(&v->report, &b, out);
}

static void print_joined(const struct rows_view *v, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!((const struct io_rows *)v->of)->n_joined)
		return;
	buf_puts(&b,
		 "* is the port of each of several connections: --by connection tells "
		 "them apart");
	report_text_apart(&v->report, &b, out);
}

static void print_below(const struct rows_view *v, FILE *out)
{
	print_unfinished(v, out);
	print_joined(v, out);
	print_small(v, out);
	print_unseen(v, out);
	print_wrapped(v, out);
}

const struct rows_kind io_view = {
	.name = "io",
	.subject = "I/O",
	.bys = bys,
	.keys = keys,
	.columns = columns,
	.counted = "calls",
	.has_total = true,
	.load = load,
	.row_name = name_of,
	.note = put_note,
	.text_below = print_below,
	.json_behind = put_behind,
};
