/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/code_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "insn/disasm.h"
#include "sym/function_search.h"
#include "sym/probe_notes.h"
#include "sym/probe_operand.h"

/* Along $PATH. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)n, dirs, name) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

int code_places_file(const char *name, char ret[PATH_MAX], struct err *e)
{
	char path[PATH_MAX];

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else if (!find_program(name, path))
		return err_set(e, ERR_USAGE,
			       "there is no program '%.60s': give a file's path", name);
	if (!realpath(path, ret))
		return err_os(e, "cannot open '%.200s'", path);
	return 0;
}

static const enum probe_record_where where_of[] = {
	[PROBE_OPERAND_CONSTANT] = PROBE_RECORD_CONSTANT,
	[PROBE_OPERAND_REGISTER] = PROBE_RECORD_REGISTER,
	[PROBE_OPERAND_MEMORY] = PROBE_RECORD_MEMORY,
};

static struct probe_record_value value_of(const struct probe_operand *o)
{
	return (struct probe_record_value){ .offset = o->offset,
					    .where = where_of[o->kind],
					    .size = o->size,
					    .is_signed = o->is_signed,
					    .base = o->base,
					    .index = o->index,
					    .factor = o->factor,
					    .is_narrow = o->is_narrow };
}

/* Functions. */

/* "readline+0x4" → "readline", 4 */
static int split_offset(const struct trigger_wish *w, char name[TRIGGER_TEXT_MAX],
			uint64_t *ret, struct err *e)
{
	const char *plus = strrchr(w->name, '+');
	bool has_offset = plus && plus != w->name && plus[1] >= '0' && plus[1] <= '9';
	size_t n = has_offset ? (size_t)(plus - w->name) : strlen(w->name);

	*ret = 0;
	snprintf(name, TRIGGER_TEXT_MAX, "%.*s", (int)n, w->name);
	if (!has_offset)
		return 0;
	if (w->kind == TRIGGER_RETURN)
		return err_set(e, ERR_USAGE,
			       "'%.60s': a function returns, not a place in it", w->name);
	if (*w->value)
		return err_set(e, ERR_USAGE,
			       "'%.60s': arguments are known where a function begins",
			       w->name);
	return text_parse_u64(plus + 1, ret, e);
}

static int refuse_name(const struct function_search *s, const struct trigger_wish *w,
		       const char *name, struct err *e)
{
	const char *best = function_search_nearest(s, name);

	if (!function_search_count(s))
		return err_set(e, ERR_USAGE,
			       "'%.200s' has no symbols, nor is there a debug file of it",
			       w->file);
	if (best)
		return err_set(e, ERR_USAGE,
			       "no function '%.60s' in '%.200s'; did you mean '%.60s'?",
			       name, w->file, best);
	return err_set(e, ERR_USAGE,
		       "no function '%.60s' among the %zu of '%.200s' that its symbols "
		       "name",
		       name, function_search_count(s), w->file);
}

/* A breakpoint inside of an instruction would make it another one. */
static int check_instruction(struct function_search *s,
			     const struct function_search_hit *hit, uint64_t offset,
			     struct err *e)
{
	struct disasm_options options = { .machine = function_search_machine(s) };
	own(disasm_freep) struct disasm *d = NULL;
	own(buf_fini) struct buf code = { 0 };
	struct disasm_instruction insn;
	uint64_t at = 0;
	int rc = disasm_new(&options, &d, e);

	if (rc < 0)
		return rc;
	function_search_code(s, hit, &code);
	while (at < offset && at < code.size) {
		size_t n = disasm_decode(d, code.data + at, code.size - at,
					 hit->address + at, &insn);

		if (!n)
			break;
		at += n;
	}
	if (at != offset || at >= code.size)
		return err_set(e, ERR_USAGE, "no instruction begins at %.60s+0x%llx",
			       hit->name, (unsigned long long)offset);
	return 0;
}

static int function_value(const struct trigger_wish *w, unsigned machine,
			  struct probe_record_value *ret, struct err *e)
{
	bool is_result = strcmp(w->value, "return") == 0;
	struct probe_operand o;
	const char *text;
	int rc;

	if (!*w->value)
		return 0;
	if (is_result != (w->kind == TRIGGER_RETURN))
		return err_set(
			e, ERR_USAGE,
			"a function has arguments ('uprobe:…:%.40s.arg1') and, where "
			"it returns, a value ('uretprobe:…:%.40s.return')",
			w->name, w->name);
	text = probe_operand_of_call(is_result ? 0 : (unsigned)atoi(w->value + 3),
				     machine);
	if (!text || (!is_result && strcmp(w->value, "arg0") == 0))
		return err_set(e, ERR_USAGE,
			       "'%.40s' of a function is not in one known place",
			       w->value);
	rc = probe_operand_parse(text, machine, &o, e);
	if (rc == 0)
		*ret = value_of(&o);
	return rc;
}

static int take_hits(struct function_search *s, const struct function_search_hit *hits,
		     size_t n, uint64_t offset, const struct probe_record_value *value,
		     struct trigger_code *ret, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (offset)
			rc = check_instruction(s, &hits[i], offset, e);
		ret->places[ret->n_places++] =
			(struct trigger_place){ .offset = hits[i].offset + offset,
						.size = hits[i].end - hits[i].address -
							offset,
						.value = *value };
	}
	return rc;
}

static int find_function(const struct trigger_wish *w, struct trigger_code *ret,
			 struct err *e)
{
	own(function_search_freep) struct function_search *s = NULL;
	struct function_search_hit hits[PROBE_RECORD_PLACES_MAX];
	struct probe_record_value value = { 0 };
	char name[TRIGGER_TEXT_MAX];
	uint64_t offset;
	size_t n;
	int rc = split_offset(w, name, &offset, e);

	if (rc == 0)
		rc = function_search_open(ret->path, &s, e);
	if (rc == 0)
		rc = function_value(w, function_search_machine(s), &value, e);
	if (rc < 0)
		return rc;
	n = function_search_find(s, name, hits, PROBE_RECORD_PLACES_MAX);
	if (!n)
		return refuse_name(s, w, name, e);
	if (n > PROBE_RECORD_PLACES_MAX)
		return err_set(e, ERR_LIMIT,
			       "%zu functions are called '%.60s', more than %d", n, name,
			       PROBE_RECORD_PLACES_MAX);
	return take_hits(s, hits, n, offset, &value, ret, e);
}

/* Probes that a file says it has. */

static int refuse_probe(const struct probe_notes *p, const struct trigger_wish *w,
			struct err *e)
{
	const struct probe_note *best = probe_notes_nearest(p, w->name);

	if (!probe_notes_count(p))
		return err_set(e, ERR_USAGE, "'%.200s' has no probes of its own (USDT)",
			       w->file);
	if (!strchr(w->name, ':'))
		return err_set(
			e, ERR_USAGE,
			"'%.60s' is no probe: give PROVIDER:NAME, like %.60s:%.60s",
			w->name, probe_notes_at(p, 0)->provider,
			probe_notes_at(p, 0)->name);
	if (best)
		return err_set(e, ERR_USAGE,
			       "no probe '%.60s' in '%.200s'; did you mean "
			       "'%.60s:%.60s'?",
			       w->name, w->file, best->provider, best->name);
	return err_set(e, ERR_USAGE, "no probe '%.60s' in '%.200s'", w->name, w->file);
}

static int note_value(const struct trigger_wish *w, const struct probe_note *n,
		      unsigned machine, struct probe_record_value *ret, struct err *e)
{
	struct probe_operand o;
	int rc;

	*ret = (struct probe_record_value){ 0 };
	if (!*w->value)
		return 0;
	if (strcmp(w->value, "return") == 0)
		return err_set(e, ERR_USAGE, "a probe does not return: '%.60s.arg1'",
			       w->name);
	rc = probe_operand_nth(n->arguments, (unsigned)atoi(w->value + 3), machine, &o,
			       e);
	if (rc < 0)
		return err_in(e, rc, w->name);
	*ret = value_of(&o);
	return 0;
}

static int take_note(const struct trigger_wish *w, const struct probe_note *n,
		     unsigned machine, struct trigger_code *ret, struct err *e)
{
	struct trigger_place *place = &ret->places[ret->n_places];
	int rc = note_value(w, n, machine, &place->value, e);

	if (rc < 0)
		return rc;
	if (!n->offset || (n->semaphore && !n->semaphore_offset))
		return err_set(e, ERR_FORMAT,
			       "'%.200s' has '%.60s' at 0x%llx, where it has no code",
			       w->file, w->name, (unsigned long long)n->address);
	place->offset = n->offset;
	place->semaphore = n->semaphore_offset;
	ret->n_places++;
	return 0;
}

static int find_note(const struct trigger_wish *w, struct trigger_code *ret,
		     struct err *e)
{
	own(probe_notes_freep) struct probe_notes *p = NULL;
	size_t first = 0, n;
	int rc = probe_notes_open(ret->path, &p, e);

	if (rc < 0)
		return rc;
	n = probe_notes_find(p, w->name, &first);
	if (!n)
		return refuse_probe(p, w, e);
	if (n > PROBE_RECORD_PLACES_MAX)
		return err_set(e, ERR_LIMIT, "'%.60s' is at %zu places, more than %d",
			       w->name, n, PROBE_RECORD_PLACES_MAX);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = take_note(w, probe_notes_at(p, first + i), probe_notes_machine(p),
			       ret, e);
	return rc;
}

static int (*const finders[])(const struct trigger_wish *w, struct trigger_code *ret,
			      struct err *e) = {
	[TRIGGER_ENTRY] = find_function,
	[TRIGGER_RETURN] = find_function,
	[TRIGGER_NOTE] = find_note,
};

int code_places_find(const struct trigger_wish *wish, struct trigger_code *ret,
		     struct err *e)
{
	int rc = code_places_file(wish->file, ret->path, e);

	return rc < 0 ? rc : finders[wish->kind](wish, ret, e);
}
