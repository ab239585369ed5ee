/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_text.h"

#include <string.h>

#include "analyze/names.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/name_to_type.h"
#include "cmd/report_database.h"

#define LABEL	14 /* columns before the text of a quality line */
#define TITLE	"Next: "
#define LONGEST "dwell annotate " /* of the usual commands that a name is behind */

const char *report_text_bold(bool on)
{
	return !command_terminal()->colour ? "" : on ? "\033[1m" : "\033[0m";
}

void report_text_nothing(const struct report *r, FILE *out)
{
	fputs(r->filter ? "No samples that the filter lets pass.\n" : "No samples.\n",
	      out);
}

void report_text_more(size_t n, FILE *out)
{
	char s[TEXT_MAX];

	if (n)
		fprintf(out, "… %s more (--limit 0 shows all)\n", text_count(s, n));
}

void report_text_safe(struct buf *b, const char *s)
{
	char safe[1000];

	buf_puts(b, text_printable(safe, sizeof(safe), s));
}

void report_text_line(FILE *out, const struct report *r, const char *indent,
		      struct buf *b)
{
	const char *s = buf_str(b);
	size_t indent_width = text_width(indent);
	char cut[1200];

	if (text_width(s) + indent_width > r->width)
		s = names_cut_end(cut, sizeof(cut), s, r->width - indent_width);
	fprintf(out, "%s%s\n", indent, s);
	buf_clear(b);
}

/* "instruction:u" of "instructions:u"; a tracepoint's name is no word. */
static void put_singular(struct buf *b, const char *event)
{
	size_t n = strcspn(event, ":");
	const char *modifiers = event + n + (event[n] == ':');
	own(freep) char *many = xstrndup(event, n);
	own(freep) char *one = xcalloc(1, n + 1);

	if (modifiers[strspn(modifiers, "ukhGHpPSDWeI")])
		n = 0;
	report_text_safe(b, n ? text_singular(one, n + 1, many) : "");
	report_text_safe(b, event + n);
}

void report_text_amount(struct buf *b, const struct profile_column *c, uint64_t value)
{
	char text[TEXT_MAX];
	bool is_count = strcmp(c->unit, "count") == 0;

	buf_printf(b, "%s %s", text_value(text, value, c->unit), is_count ? "" : "of ");
	if (is_count && value == 1)
		put_singular(b, c->name);
	else
		report_text_safe(b, c->name);
}

void report_text_source(const struct report *r, size_t source, struct buf *ret)
{
	if (profile_n_sources(r->profile) > 1)
		buf_printf(ret, "[%zu] ", source + 1);
}

void report_text_column(const struct report *r, size_t column, struct buf *ret)
{
	const struct profile_column *c = profile_column(r->profile, column);

	report_text_source(r, c->source, ret);
	report_text_safe(ret, c->name);
}

void report_text_indented(const struct report *r, unsigned indent, struct buf *text,
			  FILE *out)
{
	const char *s = buf_str(text);
	size_t room = r->width > indent + 20 ? r->width - indent : 20;

	for (size_t at = 0; *s;) {
		size_t n = strcspn(s, " ");
		own(freep) char *word = strndup(s, n);
		size_t width = word ? text_width(word) : n;

		if (at && at + 1 + width > room) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = 0;
		}
		at += fprintf(out, "%s", at ? " " : "") > 0;
		fwrite(s, 1, n, out);
		at += width;
		s += n + (s[n] == ' ');
	}
	fputc('\n', out);
	buf_clear(text);
}

void report_text_labelled(const struct report *r, const char *label, struct buf *text,
			  FILE *out)
{
	fprintf(out, "  %-*s", LABEL - 2, label);
	report_text_indented(r, LABEL, text, out);
}

void report_text_wrapped(const struct report *r, struct buf *text, FILE *out)
{
	fputs("  ", out);
	report_text_indented(r, 2, text, out);
}

void report_text_paragraph(const struct report *r, struct buf *text, FILE *out)
{
	report_text_indented(r, 0, text, out);
}

void report_text_apart(const struct report *r, struct buf *text, FILE *out)
{
	fputc('\n', out);
	report_text_paragraph(r, text, out);
}

const char *report_text_image(const struct profile_function *f)
{
	return f->kind == IMAGE_LABEL ? "" : f->image;
}

void report_text_others(const struct report *r, const char *others, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!others[0])
		return;
	buf_printf(&b, "Also matching, not shown: %s", others);
	report_text_paragraph(r, &b, out);
	fputc('\n', out);
}

void report_text_recording(const struct report *r, size_t source, struct buf *ret)
{
	const char *path = r->paths[source];

	if (r->database && r->database->epochs) {
		path = r->database->epochs[source];
	} else if (r->database && r->database->said[source]) {
		buf_puts(ret, r->database->said[source]);
		return;
	}

	own(freep) char *safe = xcalloc(4, strlen(path) + 1);

	text_printable(safe, 4 * (strlen(path) + 1), path);
	buf_puts(ret, " ");
	report_text_quoted(ret, safe);
}

/* Of the newest recording no command needs the name. */
static char *with_recordings(const struct report *r, const char *line)
{
	own(buf_fini) struct buf b = { 0 };

	buf_puts(&b, line);
	for (size_t i = 0; i < r->n_paths && !r->newest; i++) {
		if (r->database && r->database->said[i]) {
			buf_puts(&b, r->database->said[i]);
			continue;
		}
		report_text_recording(r, i, &b);
	}
	return xstrdup(buf_str(&b));
}

/* A command is never cut: it is there to be copied. */
void report_text_next(const struct report *r, const char *const *lines, size_t n,
		      FILE *out)
{
	static const char between[] = "  ·  ";
	size_t at = text_width(TITLE);

	fprintf(out, "\n" TITLE);
	for (size_t i = 0; i < n; i++) {
		own(freep) char *line = with_recordings(r, lines[i]);
		size_t width = strlen("dwell ") + text_width(line);

		if (i && at + text_width(between) + width > r->width) {
			fprintf(out, "\n%*s", (int)text_width(TITLE), "");
			at = text_width(TITLE);
		} else if (i) {
			fputs(between, out);
			at += text_width(between);
		}
		fprintf(out, "%sdwell %s%s", report_text_bold(true), line,
			report_text_bold(false));
		at += width;
	}
	fputc('\n', out);
}

void report_text_next_of(const struct report *r, uint32_t function,
			 const char *const *lines, size_t n, FILE *out)
{
	own(freep) char *name =
		name_to_type(r->profile, function, r->width - strlen(TITLE LONGEST "''"));
	own(freep) const char **of = xcalloc(n + 1, sizeof(*of));
	own(freep) struct buf *all = xcalloc(n + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		buf_puts(&all[i], lines[i]);
		if (*lines[i] && lines[i][strlen(lines[i]) - 1] == ' ')
			report_text_quoted(&all[i], name);
		of[i] = buf_str(&all[i]);
	}
	report_text_next(r, of, n, out);
	for (size_t i = 0; i < n; i++)
		buf_fini(&all[i]);
}

void report_text_quoted(struct buf *to, const char *name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/+-@%,";

	if (name[0] && strspn(name, plain) == strlen(name)) {
		buf_puts(to, name);
		return;
	}
	buf_u8(to, '\'');
	for (; *name; name++) {
		if (*name == '\'')
			buf_puts(to, "'\\''");
		else
			buf_u8(to, (uint8_t)*name);
	}
	buf_u8(to, '\'');
}
