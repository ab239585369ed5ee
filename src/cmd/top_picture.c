/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/top_picture.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/report_text.h"
#include "cmd/top_head.h"

#define KEYS_WIDTH    11
#define ROW_TITLES    2 /* lines of the table above its rows */
#define DETAIL_TITLES 3 /* and its own title above these */

void top_picture_fini(struct top_picture *p)
{
	free(p->selected);
	free(p->detail_of);
}

/* Rows. */

size_t top_picture_n_rows(const struct top_picture *p)
{
	return p->has_view ? p->view->rows.n_shown : 0;
}

void top_picture_unselect(struct top_picture *p)
{
	free(p->selected);
	p->selected = NULL;
	p->at = p->first = 0;
}

void top_picture_select(struct top_picture *p, size_t i)
{
	size_t n = top_picture_n_rows(p);

	if (!n)
		return;
	p->at = i < n ? i : n - 1;
	free(p->selected);
	p->selected = top_view_row_key(p->view, p->at);
}

void top_picture_find_selected(struct top_picture *p)
{
	size_t n = top_picture_n_rows(p);

	if (!p->selected || !n)
		return;
	for (size_t i = 0; i < n; i++) {
		own(freep) char *key = top_view_row_key(p->view, i);

		if (strcmp(key, p->selected) != 0)
			continue;
		p->at = i;
		return;
	}
	/* It has nothing now: what is in its place. */
	top_picture_select(p, p->at);
}

/* Lines. */

struct lines {
	VEC(char *) at;
	char *text;
	size_t size;
	FILE *out;
};

static void lines_begin(struct lines *l)
{
	*l = (struct lines){ 0 };
	l->out = open_memstream(&l->text, &l->size);
}

static size_t lines_so_far(struct lines *l)
{
	size_t n = 0;

	fflush(l->out);
	for (size_t i = 0; i < l->size; i++)
		n += l->text[i] == '\n';
	return n;
}

static void lines_end(struct lines *l)
{
	fclose(l->out);
	for (char *at = l->text; *at;) {
		char *end = strchr(at, '\n');

		*vec_push(&l->at) = at;
		if (!end)
			break;
		*end = '\0';
		at = end + 1;
	}
}

static void lines_fini(struct lines *l)
{
	vec_fini(&l->at);
	free(l->text);
}

/* Of a text that is longer than what is left of the screen: what never moves, and the
 * part of the rest that is looked at. */
static void put_part(struct top_picture *p, const struct lines *text, size_t n_fixed,
		     size_t room, FILE *out)
{
	size_t n = text->at.n > n_fixed ? text->at.n - n_fixed : 0;

	p->n_lines = n;
	p->n_rows = room > n_fixed ? room - n_fixed : 1;
	if (p->first + p->n_rows > n)
		p->first = n > p->n_rows ? n - p->n_rows : 0;
	for (size_t i = 0; i < n_fixed && i < text->at.n; i++)
		fprintf(out, "%s\n", text->at.at[i]);
	for (size_t i = 0; i < p->n_rows && p->first + i < n; i++)
		fprintf(out, "%s\n", text->at.at[n_fixed + p->first + i]);
}

/* Pictures. */

static const char hints[] = "q quit  h help  / filter  f p t i l rows by …  c callers  a "
			    "code  s sort  w time";

static const struct {
	const char *keys, *text;
} help[] = {
	{ "q", "quit" },
	{ "space", "hold still; go on" },
	{ "f i F l x", "by function, image, file, line, instruction" },
	{ "p t m g u", "by process, thread, command, cgroup, mode" },
	{ "↑ ↓ j k", "select a row; also page up, down, home, end" },
	{ "enter +", "open it: callers of a function; what a" },
	{ "", "process, an image … does" },
	{ "escape -", "back" },
	{ "c", "callers and callees of the selected function" },
	{ "a", "its source, or its instructions" },
	{ "s", "sort by exclusive, by inclusive, by name" },
	{ "w", "since the last look, 10 s, 1 min, all there is" },
	{ "[ ]", "look twice as often, half as often" },
	{ "/", "filter as with --filter; empty: all samples" },
	{ "Self", "spent in the function itself, of all samples" },
	{ "Incl.", "spent in it and in what it called" },
	{ "CPU", "spent in it, of the time of one CPU" },
};

static void put_help(struct top_picture *p, size_t room, FILE *out)
{
	struct lines text;

	lines_begin(&text);
	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++)
		fprintf(text.out, " %s%*s%s\n", help[i].keys,
			(int)(KEYS_WIDTH - text_width(help[i].keys)), "", help[i].text);
	lines_end(&text);
	put_part(p, &text, 0, room, out);
	lines_fini(&text);
}

static void put_detail(struct top_picture *p, size_t room, FILE *out)
{
	struct lines text;

	lines_begin(&text);
	top_detail_print(p->view, p->detail, p->detail_of, text.out);
	lines_end(&text);
	put_part(p, &text, DETAIL_TITLES, room, out);
	lines_fini(&text);
}

static void keep_selected_in_sight(struct top_picture *p)
{
	size_t n = top_picture_n_rows(p), most = n > p->n_rows ? n - p->n_rows : 0;

	if (p->selected && p->at < p->first)
		p->first = p->at;
	if (p->selected && p->at >= p->first + p->n_rows)
		p->first = p->at + 1 - p->n_rows;
	if (p->first > most)
		p->first = most;
}

/* The line of the selected row, or SIZE_MAX. */
static size_t put_rows(struct top_picture *p, size_t above, size_t room, FILE *out)
{
	p->n_lines = top_picture_n_rows(p);
	p->n_rows = room > ROW_TITLES ? room - ROW_TITLES : 1;
	keep_selected_in_sight(p);
	if (!p->n_lines)
		fputs(p->view->choice.filter[0]
			      ? "\nNo samples that the filter lets pass.\n"
			      : "\nNo samples.\n",
		      out);
	else
		top_view_print_rows(p->view, p->first, p->n_rows, out);
	return p->selected && p->n_lines ? above + ROW_TITLES + p->at - p->first
					 : SIZE_MAX;
}

void top_picture_say(struct top_picture *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->message, sizeof(p->message), fmt, ap);
	va_end(ap);
}

static void put_last_line(const struct top_picture *p, FILE *out)
{
	struct buf b = { 0 };

	if (p->is_prompt) {
		fprintf(out, "filter: %s", p->prompt);
		return;
	}
	if (p->message[0]) {
		report_text_safe(&b, p->message);
		fprintf(out, "%s%s%s", report_text_bold(true), buf_str(&b),
			report_text_bold(false));
		buf_fini(&b);
		return;
	}
	fputs(p->detail || p->is_help ? "escape back  q quit  h help" : hints, out);
}

void top_picture_draw(struct top_picture *p, struct screen *s)
{
	struct screen_picture picture = { .selected = SIZE_MAX, .prompt = SIZE_MAX };
	unsigned columns, rows;
	struct lines frame;
	size_t above, room;

	screen_size(s, &columns, &rows);
	lines_begin(&frame);
	if (p->has_view)
		top_head_print(p->view, p->is_paused, frame.out);
	else
		fputs("dwell top\n", frame.out);
	above = lines_so_far(&frame);
	room = rows > above + 1 ? rows - above - 1 : 1;
	if (p->is_help)
		put_help(p, room, frame.out);
	else if (p->has_view && p->detail)
		put_detail(p, room, frame.out);
	else if (p->has_view)
		picture.selected = put_rows(p, above, room, frame.out);
	for (size_t n = lines_so_far(&frame); n + 1 < rows; n++)
		fputc('\n', frame.out);
	put_last_line(p, frame.out);
	lines_end(&frame);
	picture.lines = (const char *const *)frame.at.at;
	picture.n = frame.at.n;
	if (p->is_prompt)
		picture.prompt = frame.at.n - 1;
	screen_draw(s, &picture);
	lines_fini(&frame);
}
