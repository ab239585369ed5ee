/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/vec.h"

/* The last function of the kernel or of a module has no successor to end it. */
#define LAST_SIZE_MAX (64 * 1024)

struct line {
	uint64_t address;
	uint32_t name; /* offset in the text */
	uint32_t module;
	bool is_global;
};

struct kallsyms {
	struct buf text;
	VEC(struct line) lines;
	struct intern *modules; /* id 0: the kernel */
	VEC(struct symtab *) tables;
	uint64_t stext, etext;
	uint64_t last; /* address of the kernel's last function */
	bool has_address;
};

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->tables.n; i++)
		symtab_free(k->tables.at[i]);
	vec_fini(&k->tables);
	vec_fini(&k->lines);
	intern_free(k->modules);
	buf_fini(&k->text);
	free(k);
}

void kallsyms_freep(struct kallsyms **k)
{
	kallsyms_free(*k);
}

static bool parse_hex(const char **s, uint64_t *ret)
{
	const char *at = *s;
	uint64_t v = 0;
	int n = 0;

	for (; n < 16; n++, at++) {
		int digit = *at >= '0' && *at <= '9'   ? *at - '0'
			    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
						       : -1;

		if (digit < 0)
			break;
		v = v << 4 | (unsigned)digit;
	}
	*s = at;
	*ret = v;
	return n > 0 && *at == ' ';
}

static uint32_t parse_module(struct kallsyms *k, char *after_name)
{
	char *open = strchr(after_name, '[');
	char *close = open ? strchr(open, ']') : NULL;

	return close ? intern_add(k->modules, open + 1, (size_t)(close - open - 1)) : 0;
}

/* The names are terminated in place. */
static void parse_line(struct kallsyms *k, char *s)
{
	const char *at = s;
	struct line line = { 0 };

	if (!parse_hex(&at, &line.address) || !at[1] || at[2] != ' ')
		return;
	if (!strchr("tTwW", at[1]))
		return;

	char *name = s + (at - s) + 3;
	char *end = name + strcspn(name, "\t ");

	line.is_global = at[1] != 't';
	line.module = *end ? parse_module(k, end) : 0;
	*end = 0;
	line.name = (uint32_t)((uint8_t *)name - k->text.data);
	if (!*name || strcmp(name, "$x") == 0 || strcmp(name, "$d") == 0)
		return;
	if (line.address)
		k->has_address = true;
	if (!line.module && line.address > k->last)
		k->last = line.address;
	if (!line.module && strcmp(name, "_stext") == 0)
		k->stext = line.address;
	if (!line.module && strcmp(name, "_etext") == 0)
		k->etext = line.address;
	*vec_push(&k->lines) = line;
}

struct kallsyms *kallsyms_over(struct buf *text)
{
	struct kallsyms *k = xcalloc(1, sizeof(*k));
	char *at, *end;

	k->modules = intern_new();
	if (text->size < UINT32_MAX) {
		buf_str(text);
		k->text = *text;
		*text = (struct buf){ 0 };
	}
	at = (char *)k->text.data;
	end = at + k->text.size;
	while (at < end) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		if (stop)
			*stop = 0;
		parse_line(k, at);
		at = stop ? stop + 1 : end;
	}
	return k;
}

bool kallsyms_is_hidden(const struct kallsyms *k)
{
	return k->lines.n && !k->has_address;
}

uint64_t kallsyms_stext(const struct kallsyms *k)
{
	return k->stext;
}

uint64_t kallsyms_end(const struct kallsyms *k)
{
	return k->last < UINT64_MAX - LAST_SIZE_MAX ? k->last + LAST_SIZE_MAX
						    : UINT64_MAX;
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

/* Names of the linker script for where parts of the code begin and end. */
static bool is_marker(const char *name)
{
	static const char *const markers[] = { "_stext", "_text", "_etext", "_sinittext",
					       "_einittext" };

	for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
		if (strcmp(name, markers[i]) == 0)
			return true;
	return ends_with(name, "_text_start");
}

bool kallsyms_is_end(const char *name)
{
	return strncmp(name, "__", 2) == 0 && ends_with(name, "_text_end");
}

static struct symtab *make_table(const struct kallsyms *k, uint32_t module)
{
	struct symtab *t = symtab_new();
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < k->lines.n; i++) {
		const struct line *l = &k->lines.at[i];
		const char *name = (const char *)k->text.data + l->name;

		if (l->module != module || !l->address || is_marker(name))
			continue;
		low = l->address < low ? l->address : low;
		high = l->address > high ? l->address : high;
		if (kallsyms_is_end(name))
			symtab_add_weak(t, l->address, 0, name);
		else
			symtab_add(t, l->address, 0, l->is_global, name);
	}
	if (low > high)
		low = high = 0;
	high = high < UINT64_MAX - LAST_SIZE_MAX ? high + LAST_SIZE_MAX : UINT64_MAX;
	/* Between the kernel's text and its boot-time code there is data. */
	if (!module && k->etext > low && k->etext < high) {
		symtab_add_range(t, low, k->etext - low);
		low = k->etext;
	}
	symtab_add_range(t, low, high - low);
	symtab_finish(t);
	return t;
}

const struct symtab *kallsyms_table(struct kallsyms *k, const char *module)
{
	uint32_t id = module ? intern_find(k->modules, module, strlen(module)) : 0;

	if (id == UINT32_MAX)
		return NULL;
	while (k->tables.n <= id)
		*vec_push(&k->tables) = NULL;
	if (!k->tables.at[id])
		k->tables.at[id] = make_table(k, id);
	return k->tables.at[id];
}
