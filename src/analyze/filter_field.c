/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/filter_field.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analyze/io_peers.h"
#include "analyze/names.h"
#include "base/text.h"

static const struct model_thread *thread_of(const struct filter_subject *s)
{
	return recording_thread(s->recording, s->id);
}

static const struct model_process *process_of(const struct filter_subject *s)
{
	const struct model_thread *t = thread_of(s);

	return t ? recording_process(s->recording, t->process) : NULL;
}

static const char *thread_text(const struct filter_subject *s, unsigned i)
{
	const struct model_thread *t = thread_of(s);

	return t && i == 0 ? recording_string(s->recording, t->name) : NULL;
}

static bool thread_number(const struct filter_subject *s, uint64_t *ret)
{
	const struct model_thread *t = thread_of(s);

	*ret = t ? t->tid : 0;
	return t != NULL;
}

static const char *process_text(const struct filter_subject *s, unsigned i)
{
	const struct model_process *p = process_of(s);
	const uint32_t ids[] = { p ? p->comm : 0, p ? p->exe : 0 };

	return p && i < 2 ? recording_string(s->recording, ids[i]) : NULL;
}

static bool process_number(const struct filter_subject *s, uint64_t *ret)
{
	const struct model_process *p = process_of(s);

	*ret = p ? p->pid : 0;
	return p != NULL;
}

static const char *cgroup_text(const struct filter_subject *s, unsigned i)
{
	const struct model_process *p = process_of(s);

	return p && i == 0 ? recording_string(s->recording, p->cgroup) : NULL;
}

static const char *host_text(const struct filter_subject *s, unsigned i)
{
	const struct model_process *p = process_of(s);

	if (i > 0)
		return NULL;
	return p && p->host ? recording_string(s->recording, p->host)
			    : recording_info(s->recording, "host");
}

static const char *epoch_text(const struct filter_subject *s, unsigned i)
{
	const struct model_process *p = process_of(s);

	if (i > 0)
		return NULL;
	return p && p->epoch ? recording_string(s->recording, p->epoch)
			     : recording_info(s->recording, "epoch");
}

static const char *event_text(const struct filter_subject *s, unsigned i)
{
	const struct model_event *ev = recording_event(s->recording, s->id);

	return ev && i == 0 ? recording_string(s->recording, ev->name) : NULL;
}

static const char *experiment_text(const struct filter_subject *s, unsigned i)
{
	const struct model_event *ev = recording_event(s->recording, s->id);

	return ev && i == 0 ? recording_string(s->recording, ev->experiment) : NULL;
}

static const char *interval_text(const struct filter_subject *s, unsigned i)
{
	const struct model_interval *v = recording_interval(s->recording, s->id);

	return v && i == 0 ? recording_string(s->recording, v->name) : NULL;
}

/* Of intervals that a mark has ended: others have no name. */
static const char *mark_text(const struct filter_subject *s, unsigned i)
{
	const char *name = interval_text(s, i);

	return name && *name ? name : NULL;
}

static const char *cause_text(const struct filter_subject *s, unsigned i)
{
	const struct model_interval *v = recording_interval(s->recording, s->id);

	return v && i == 0 ? recording_string(s->recording, v->cause) : NULL;
}

static bool interval_number(const struct filter_subject *s, uint64_t *ret)
{
	*ret = s->id + 1;
	return true;
}

/* As it is called before functions of several names are one: filters are first bound
 * then, and choose the same later. */
static const char *function_text(const struct filter_subject *s, unsigned i)
{
	const struct profile_function *f =
		profile_function(s->profile, s->frame->own_function);
	const char *texts[FILTER_FIELD_TEXTS] = { f->name, f->linkage, f->label };

	return texts[i];
}

static bool is_function(const char *have, const char *want)
{
	return names_is_function(have, want) || io_peers_has(want, have);
}

static const char *image_text(const struct filter_subject *s, unsigned i)
{
	const struct profile_function *f =
		profile_function(s->profile, s->frame->function);
	const char *texts[] = { f->image, f->image_path };

	return i < 2 ? texts[i] : NULL;
}

static const char *file_text(const struct filter_subject *s, unsigned i)
{
	return i == 0 ? s->frame->file : NULL;
}

static bool line_number(const struct filter_subject *s, uint64_t *ret)
{
	*ret = s->frame->line;
	return s->frame->line != 0;
}

static bool address_number(const struct filter_subject *s, uint64_t *ret)
{
	*ret = s->frame->address;
	return true;
}

static const char *mode_text(const struct filter_subject *s, unsigned i)
{
	uint8_t kind = profile_function(s->profile, s->frame->function)->kind;

	if (i > 0)
		return NULL;
	return kind == IMAGE_KERNEL || kind == IMAGE_MODULE ? "kernel" : "user";
}

const struct filter_field filter_fields[] = {
	{ "time", FILTER_BY_TIME, .is_time = true,
	  .summary = "time since the start of the recording" },
	{ "interval", FILTER_BY_TIME, .text = interval_text, .number = interval_number,
	  .summary = "name or number (from 1) of an interval, see dwell global" },
	{ "mark", FILTER_BY_TIME, .text = mark_text,
	  .summary = "name of the mark that ended the interval" },
	{ "cause", FILTER_BY_TIME, .text = cause_text,
	  .summary = "what ended the interval: timer, signal, program, ctl or end" },
	{ "thread", FILTER_BY_THREAD, .text = thread_text, .number = thread_number,
	  .summary = "thread name or id" },
	{ "tid", FILTER_BY_THREAD, .number = thread_number, .summary = "thread id" },
	{ "process", FILTER_BY_THREAD, .text = process_text, .number = process_number,
	  .equal = names_is_file, .summary = "process id, or name of its program" },
	{ "pid", FILTER_BY_THREAD, .number = process_number, .summary = "process id" },
	{ "command", FILTER_BY_THREAD, .text = process_text, .equal = names_is_file,
	  .summary = "name of the program a process runs" },
	{ "cgroup", FILTER_BY_THREAD, .text = cgroup_text, .equal = names_is_file,
	  .summary = "control group of a process: a service, a container" },
	{ "host", FILTER_BY_THREAD, .text = host_text, .summary = "name of the machine" },
	{ "epoch", FILTER_BY_THREAD, .text = epoch_text,
	  .summary = "epoch of a database" },
	{ "cpu", FILTER_BY_CPU, .summary = "number of the processor" },
	{ "event", FILTER_BY_EVENT, .text = event_text, .summary = "name of the event" },
	{ "experiment", FILTER_BY_EVENT, .text = experiment_text,
	  .summary = "name of the experiment" },
	{ "weight", FILTER_BY_WEIGHT,
	  .summary = "the sample's value in its event's unit" },
	{ "function", FILTER_BY_FRAME, .text = function_text, .equal = is_function,
	  .summary = "a function anywhere in the stack" },
	{ "leaf", FILTER_BY_LEAF, .text = function_text, .equal = is_function,
	  .summary = "the function where the sample was taken" },
	{ "image", FILTER_BY_FRAME, .text = image_text, .equal = names_is_file,
	  .summary = "an image anywhere in the stack" },
	{ "file", FILTER_BY_FRAME, .text = file_text, .equal = names_is_file,
	  .summary = "a source file anywhere in the stack" },
	{ "line", FILTER_BY_FRAME, .number = line_number,
	  .summary = "a source line anywhere in the stack" },
	{ "address", FILTER_BY_LEAF, .number = address_number,
	  .summary = "link-time address of the innermost frame" },
	{ "mode", FILTER_BY_LEAF, .text = mode_text,
	  .summary = "user or kernel: where the sample was taken" },
	{ .name = NULL },
};

const struct filter_field *filter_field_find(const char *name, size_t size)
{
	for (const struct filter_field *f = filter_fields; f->name; f++)
		if (strlen(f->name) == size && strncasecmp(f->name, name, size) == 0)
			return f;
	return NULL;
}

const struct filter_field *filter_field_near(const char *name, size_t size)
{
	const struct filter_field *best = NULL;
	size_t best_distance = 3;
	char word[40];

	snprintf(word, sizeof(word), "%.*s", (int)(size < 39 ? size : 39), name);
	for (const struct filter_field *f = filter_fields; f->name; f++) {
		size_t d = text_distance(word, f->name);

		if (d < best_distance || (size > 2 && text_starts(f->name, word))) {
			best_distance = d < best_distance ? d : best_distance;
			best = f;
		}
	}
	return best;
}
