/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/list_file.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/code_places.h"
#include "cmd/command.h"
#include "sym/demangle.h"
#include "sym/function_search.h"
#include "sym/probe_notes.h"
#include "sym/probe_operand.h"

struct listed {
	char path[PATH_MAX], shown[PATH_MAX]; /* shown: to a terminal */
	char *const *patterns;
	int n_patterns;
	struct probe_notes *notes;
	struct function_search *functions;
};

static void free_listed(struct listed *l)
{
	probe_notes_free(l->notes);
	function_search_free(l->functions);
}

static bool fits(const struct listed *l, const char *name)
{
	for (int i = 0; i < l->n_patterns; i++) {
		const char *p = l->patterns[i];

		if (strpbrk(p, "*?[") ? fnmatch(p, name, 0) == 0
				      : strstr(name, p) != NULL)
			return true;
	}
	return !l->n_patterns;
}

/* As people wrote it, where that is known. */
static const char *readable(const char *linkage, struct buf *b)
{
	buf_clear(b);
	return demangle_name(linkage, b) ? buf_str(b) : linkage;
}

static bool function_fits(const struct listed *l, const struct function_search_hit *h,
			  struct buf *b)
{
	return fits(l, h->name) || fits(l, readable(h->name, b));
}

static const char *probe_name(const struct probe_note *n, struct buf *b)
{
	buf_clear(b);
	buf_printf(b, "%s:%s", n->provider, n->name);
	return buf_str(b);
}

/* Probes: each has its places behind each other. */

static size_t n_places(const struct listed *l, size_t first)
{
	const struct probe_note *n = probe_notes_at(l->notes, first);
	size_t i = first + 1;

	while (i < probe_notes_count(l->notes) &&
	       strcmp(probe_notes_at(l->notes, i)->provider, n->provider) == 0 &&
	       strcmp(probe_notes_at(l->notes, i)->name, n->name) == 0)
		i++;
	return i - first;
}

/* "u64", "i32"; NULL: it cannot be summed. */
static const char *type_of(const struct listed *l, const struct probe_note *n, unsigned i,
			   char type[8])
{
	struct probe_operand o;

	if (probe_operand_nth(n->arguments, i, probe_notes_machine(l->notes), &o, NULL) <
	    0)
		return NULL;
	snprintf(type, 8, "%c%u", o.is_signed ? 'i' : 'u', 8 * (o.size & 15));
	return type;
}

/* As they are at the first place: compilers may know one better than another. */
static const char *types_text(const struct listed *l, const struct probe_note *n,
			      struct buf *b)
{
	unsigned count = probe_operand_count(n->arguments);
	char type[8];

	buf_clear(b);
	for (unsigned i = 1; i <= count; i++) {
		const char *is = type_of(l, n, i, type);

		buf_printf(b, "%s%s", i > 1 ? " " : "", is ? is : "?");
	}
	return buf_str(b);
}

static void print_probes(const struct listed *l)
{
	static const struct table_column columns[] = {
		{ .title = "Places", .align = TABLE_RIGHT },
		{ .title = "Arguments" },
		{ .title = "Probe" },
	};
	struct table_style style = { .colour = command_terminal()->colour };
	own(table_freep) struct table *t = table_new(columns, 3);
	own(buf_fini) struct buf b = { 0 };
	size_t n_shown = 0;

	for (size_t i = 0, n; i < probe_notes_count(l->notes); i += n) {
		const struct probe_note *p = probe_notes_at(l->notes, i);

		n = n_places(l, i);
		if (!fits(l, probe_name(p, &b)))
			continue;
		table_row(t);
		table_cellf(t, "%zu", n);
		table_cell(t, types_text(l, p, &b));
		table_cell(t, probe_name(p, &b));
		n_shown++;
	}
	if (!n_shown)
		return;
	printf("Probes of its own (trigger:usdt:%s:PROVIDER:NAME)\n\n", l->shown);
	table_print(t, &style, stdout);
	putchar('\n');
}

static void print_functions(const struct listed *l)
{
	static const struct table_column columns[] = {
		{ .title = "Bytes", .align = TABLE_RIGHT },
		{ .title = "Function" },
	};
	struct table_style style = { .colour = command_terminal()->colour };
	own(table_freep) struct table *t = table_new(columns, 2);
	own(buf_fini) struct buf b = { 0 };
	size_t n_shown = 0;

	for (size_t i = 0; i < function_search_count(l->functions); i++) {
		struct function_search_hit h = function_search_at(l->functions, i);

		if (!function_fits(l, &h, &b))
			continue;
		table_row(t);
		table_cellf(t, "%" PRIu64, h.end - h.address);
		table_cell(t, readable(h.name, &b));
		n_shown++;
	}
	printf("Functions (trigger:uprobe:%s:FUNCTION): %zu of %zu that symbols name\n\n",
	       l->shown, n_shown, function_search_count(l->functions));
	if (n_shown)
		table_print(t, &style, stdout);
}

static void write_place(struct json *j, const struct probe_note *n)
{
	json_object(j);
	json_key_u64(j, "address", n->address);
	json_key_u64(j, "offset", n->offset);
	json_key_u64(j, "semaphore", n->semaphore);
	json_key_str(j, "arguments", n->arguments);
	json_object_end(j);
}

static void write_types(const struct listed *l, struct json *j,
			const struct probe_note *n)
{
	unsigned count = probe_operand_count(n->arguments);
	char type[8];

	json_key(j, "types");
	json_array(j);
	for (unsigned i = 1; i <= count; i++)
		json_str(j, type_of(l, n, i, type));
	json_array_end(j);
}

static void write_probes(const struct listed *l, struct json *j)
{
	own(buf_fini) struct buf b = { 0 };

	json_key(j, "probes");
	json_array(j);
	for (size_t i = 0, n; i < probe_notes_count(l->notes); i += n) {
		const struct probe_note *p = probe_notes_at(l->notes, i);

		n = n_places(l, i);
		if (!fits(l, probe_name(p, &b)))
			continue;
		json_object(j);
		json_key_str(j, "provider", p->provider);
		json_key_str(j, "name", p->name);
		write_types(l, j, p);
		json_key(j, "places");
		json_array(j);
		for (size_t k = 0; k < n; k++)
			write_place(j, p + k);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static void write_functions(const struct listed *l, struct json *j)
{
	own(buf_fini) struct buf b = { 0 };

	json_key(j, "functions");
	json_array(j);
	for (size_t i = 0; i < function_search_count(l->functions); i++) {
		struct function_search_hit h = function_search_at(l->functions, i);

		if (!function_fits(l, &h, &b))
			continue;
		json_object(j);
		json_key_str(j, "name", readable(h.name, &b));
		json_key_str(j, "linkage", h.name);
		json_key_u64(j, "address", h.address);
		json_key_u64(j, "offset", h.offset);
		json_key_u64(j, "bytes", h.end - h.address);
		json_object_end(j);
	}
	json_array_end(j);
}

static void print_json(const struct listed *l)
{
	struct json j;

	json_init(&j, stdout);
	json_object(&j);
	json_key_str(&j, "report", "list");
	json_key_str(&j, "file", l->path);
	write_probes(l, &j);
	write_functions(l, &j);
	json_object_end(&j);
	putchar('\n');
}

int list_file_print(const char *name, char *const *patterns, int n_patterns, bool is_json,
		    struct err *e)
{
	own(free_listed) struct listed l = { .patterns = patterns,
					     .n_patterns = n_patterns };
	int rc = code_places_file(name, l.path, e);

	if (rc == 0)
		rc = probe_notes_open(l.path, &l.notes, e);
	if (rc == 0)
		rc = function_search_open(l.path, &l.functions, e);
	if (rc < 0)
		return rc;
	if (is_json) {
		print_json(&l);
		return 0;
	}
	text_printable(l.shown, sizeof(l.shown), l.path);
	print_probes(&l);
	print_functions(&l);
	return 0;
}
