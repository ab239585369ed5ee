/* SPDX-License-Identifier: Apache-2.0 */
/* A command line, its words ended by NUL bytes: refused with a text and nothing else,
 * or understood with every value in its range and every other word an operand. */
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "base/vec.h"
#include "cmd/option.h"

#define MAX_EVENTS 64 /* each is found by walking over those before */

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

static const struct option_spec specs[] = {
	{ .name = "verbose", .short_name = 'v', .kind = OPTION_FLAG },
	{ .name = "output", .short_name = 'o', .kind = OPTION_STRING, .arg = "FILE" },
	{ .name = "event", .short_name = 'e', .kind = OPTION_LIST, .arg = "NAME" },
	{ .name = "filter", .kind = OPTION_REPEAT, .arg = "EXPRESSION" },
	{ .name = "limit", .short_name = 'n', .kind = OPTION_U64, .min = 1, .max = 1000 },
	{ .name = "interval", .short_name = 'i', .kind = OPTION_DURATION, .unit = "ms" },
	{ .name = "max-size", .kind = OPTION_SIZE, .min = 4096 },
	{ .name = "sort", .kind = OPTION_CHOICE, .choices = "name|time" },
	OPTION_END,
};

/* Commas part a list, but for those between slashes, as "cpu/event=1,umask=2/". */
static void check_item(const char *item)
{
	const char *comma = strchr(item, ','), *slash = strchr(item, '/');

	check(item[0] && (!comma || (slash && slash < comma && strchr(comma, '/'))));
}

static void check_options(const struct options *o, int argc)
{
	const char *sort = options_str(o, "sort");
	size_t n_events = options_count(o, "event");

	check(options_argc(o) < argc && !options_argv(o)[options_argc(o)]);
	if (options_has(o, "limit"))
		check(options_u64(o, "limit", 0) - 1 < 1000);
	check(options_u64(o, "max-size", 4096) >= 4096);
	check(!sort || strcmp(sort, "name") == 0 || strcmp(sort, "time") == 0);
	for (size_t i = 0; i < n_events && i < MAX_EVENTS; i++)
		check_item(options_at(o, "event", i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct option_spec *const tables[] = { specs, NULL };
	own(options_freep) struct options *o = NULL;
	own(freep) char *words = malloc(size + 2);
	VEC(char *) argv = { 0 };
	struct err e = { 0 };

	if (!words)
		abort();
	memcpy(words, data, size);
	memset(words + size, 0, 2);
	*vec_push(&argv) = words + size;
	for (char *s = words; s < words + size; s += strlen(s) + 1)
		*vec_push(&argv) = s;
	vec_push(&argv);

	int argc = (int)argv.n - 1;

	if (options_parse(tables, size & 1, argc, argv.at, &o, &e) < 0)
		check(e.code == ERR_USAGE && e.text[0] && !o);
	else
		check_options(o, argc);
	vec_fini(&argv);
	return 0;
}
