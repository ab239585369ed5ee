/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/ctl_recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "collect/control_lines.h"
#include "collect/session_ask.h"

#define PATIENCE_MS   10000
#define NAME_MAX_SIZE 256

static const struct verb {
	const char *name;
	bool is_recordings; /* no daemon does it */
	bool has_name;
} verbs[] = {
	{ "mark", .is_recordings = true, .has_name = true },
	{ "pause" },
	{ "resume" },
	{ "status" },
};

static const struct verb *verb_of(const struct options *o)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (options_argc(o) && !strcmp(options_argv(o)[0], verbs[i].name))
			return &verbs[i];
	return NULL;
}

bool ctl_recording_is_meant(const struct options *o)
{
	const struct verb *v = verb_of(o);

	return v && (v->is_recordings || options_argc(o) > 1);
}

/* As text. */

static void print_text(const char *s)
{
	char text[4096], path[4096], number[TEXT_MAX], more[TEXT_MAX];
	uint64_t lost = control_lines_number(s, "lost");

	control_lines_text(s, "path", path, sizeof(path));
	printf("recording   %s, %s\n", text_printable(text, sizeof(text), path),
	       text_size(number, control_lines_number(s, "bytes")));
	control_lines_text(s, "experiments", path, sizeof(path));
	printf("running     %s, pid %" PRIu64 ": %s\n",
	       text_duration(number, control_lines_number(s, "running-ns")),
	       control_lines_number(s, "recorder"),
	       text_printable(text, sizeof(text), path));
	if (control_lines_number(s, "paused"))
		printf("            paused: nothing is taken until 'dwell ctl resume "
		       "%" PRIu64 "'\n",
		       control_lines_number(s, "recorder"));
	printf("samples     %s, lost %s\n",
	       text_count(number, control_lines_number(s, "samples")),
	       lost ? text_count(more, lost) : "nothing");
}

static void on_text(void *ctx, const char *lines)
{
	size_t *n = ctx;

	if (*lines && (*n)++)
		putchar('\n');
	if (*lines)
		print_text(lines);
}

/* As JSON. */

static const struct {
	const char *key;
	bool is_text;
} json_keys[] = {
	{ "recorder" },	  { "program" }, { "path", true }, { "experiments", true },
	{ "running-ns" }, { "samples" }, { "lost" },	   { "bytes" },
	{ "paused" },
};

static void on_json(void *ctx, const char *lines)
{
	struct json *j = ctx;
	char text[4096];

	json_object(j);
	for (size_t i = 0; i < sizeof(json_keys) / sizeof(json_keys[0]); i++) {
		const char *key = json_keys[i].key;

		if (!control_lines_has(lines, key))
			continue;
		control_lines_text(lines, key, text, sizeof(text));
		if (json_keys[i].is_text)
			json_key_str(j, key, text);
		else
			json_key_u64(j, key, control_lines_number(lines, key));
	}
	json_object_end(j);
}

/* Running. */

static int parse_pid(const struct options *o, pid_t *ret, struct err *e)
{
	const char *word = options_argc(o) > 1 ? options_argv(o)[1] : NULL;
	uint64_t pid;

	if (!word)
		return err_set(e, ERR_USAGE, "say which process: mark PID NAME");
	if (text_parse_u64(word, &pid, NULL) < 0 || pid == 0 || pid > INT32_MAX)
		return err_set(e, ERR_USAGE, "'%.40s' is no process id", word);
	*ret = (pid_t)pid;
	return 0;
}

static int parse_name(const struct options *o, const struct verb *v,
		      char ret[NAME_MAX_SIZE], struct err *e)
{
	size_t n = 0;

	ret[0] = '\0';
	if (!v->has_name && options_argc(o) > 2)
		return err_set(e, ERR_USAGE, "%s takes one process", v->name);
	for (int i = 2; i < options_argc(o) && n < NAME_MAX_SIZE; i++)
		n += (size_t)snprintf(ret + n, NAME_MAX_SIZE - n, "%s%s",
				      i > 2 ? " " : "", options_argv(o)[i]);
	if (n >= NAME_MAX_SIZE || strchr(ret, '\n'))
		return err_set(e, ERR_USAGE, "a name is one line of less than %d bytes",
			       NAME_MAX_SIZE);
	return 0;
}

static int ask_as_json(pid_t pid, const struct verb *v, const char *name, struct err *e)
{
	struct json j;
	int rc;

	json_init(&j, stdout);
	json_array(&j);
	rc = session_ask(pid, v->name, name, PATIENCE_MS, on_json, &j, e);
	json_array_end(&j);
	putchar('\n');
	return rc;
}

int ctl_recording_run(const struct options *o, struct err *e)
{
	const struct verb *v = verb_of(o);
	char name[NAME_MAX_SIZE];
	size_t n = 0;
	pid_t pid = 0;
	int rc = parse_pid(o, &pid, e);

	if (rc == 0)
		rc = parse_name(o, v, name, e);
	if (rc < 0)
		return rc;
	if (options_has(o, "json"))
		return ask_as_json(pid, v, name, e);
	return session_ask(pid, v->name, name, PATIENCE_MS, on_text, &n, e);
}
