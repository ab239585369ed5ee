/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording added to a tally: each dictionary's ids are translated once, then the
 * samples are added block by block.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path_choice.h"
#include "store/recording.h"
#include "store/tally_data.h"

struct adding {
	struct tally *t;
	const struct recording *r;
	struct tally_fold fold;
	struct tally_translation to;
	uint32_t *stack; /* as those */
};

void tally_translation_fini(struct tally_translation *to)
{
	free(to->image);
	free(to->process);
	free(to->thread);
	free(to->event);
	free(to->location);
	*to = (struct tally_translation){ 0 };
}

static void adding_fini(struct adding *a)
{
	tally_translation_fini(&a->to);
	free(a->stack);
}

static uint32_t text(const struct adding *a, uint32_t id)
{
	return tally_string(a->t, recording_string(a->r, id));
}

static uint32_t *ids(size_t n)
{
	return xcalloc(n + 1, sizeof(uint32_t));
}

static void add_images(struct adding *a)
{
	uint32_t n = recording_n_images(a->r);

	a->to.image = ids(n);
	for (uint32_t i = 0; i < n; i++) {
		struct model_image m = *recording_image(a->r, i);

		m.path = text(a, m.path);
		m.host_path = text(a, m.host_path);
		a->to.image[i] = tally_image(a->t, &m);
	}
}

static void add_events(struct adding *a)
{
	uint32_t n = recording_n_events(a->r);

	a->to.event = ids(n);
	for (uint32_t i = 0; i < n; i++) {
		struct model_event ev = *recording_event(a->r, i);

		ev.name = text(a, ev.name);
		ev.unit = text(a, ev.unit);
		ev.experiment = text(a, ev.experiment);
		ev.source = text(a, ev.source);
		ev.description = text(a, ev.description);
		a->to.event[i] = tally_event(a->t, &ev);
	}
}

/* What is left of a process when all of its kind are one. */
static void fold_process(struct model_process *p)
{
	p->pid = p->ppid = 0;
	p->cmdline = p->note = 0;
	p->start_ns = p->end_ns = 0;
	p->exit_status = -1;
}

static const char *info(const struct recording *r, const char *key)
{
	const char *value = recording_info(r, key);

	return value ? value : "";
}

static bool is_chosen(const struct adding *a, const struct model_process *p)
{
	return a->fold.chosen &&
	       path_choice_has(a->fold.chosen, recording_string(a->r, p->exe));
}

static void add_processes(struct adding *a)
{
	uint32_t n = recording_n_processes(a->r);

	a->to.process = ids(n);
	for (uint32_t i = 0; i < n; i++) {
		struct model_process p = *recording_process(a->r, i);

		p.comm = text(a, p.comm);
		p.exe = text(a, p.exe);
		p.cmdline = text(a, p.cmdline);
		p.note = text(a, p.note);
		p.cgroup = text(a, p.cgroup);
		p.host = text(a, p.host);
		p.epoch = text(a, p.epoch);
		if (a->fold.origin && !p.host)
			p.host = tally_string(a->t, info(a->r, "host"));
		if (a->fold.origin && !p.epoch)
			p.epoch = tally_string(a->t, info(a->r, "epoch"));
		if (a->fold.processes && !is_chosen(a, recording_process(a->r, i)))
			fold_process(&p);
		a->to.process[i] = tally_process(a->t, &p);
	}
}

static void add_threads(struct adding *a)
{
	uint32_t n = recording_n_threads(a->r);

	a->to.thread = ids(n);
	for (uint32_t i = 0; i < n; i++) {
		struct model_thread t = *recording_thread(a->r, i);

		t.process = a->to.process[t.process];
		t.name = text(a, t.name);
		if (a->fold.threads) {
			t.tid = 0;
			t.start_ns = t.end_ns = 0;
		}
		a->to.thread[i] = tally_thread(a->t, &t);
	}
}

static void add_locations(struct adding *a)
{
	const struct model_location *l = recording_locations(a->r);
	uint32_t n_locations = recording_n_locations(a->r);

	a->to.location = ids(n_locations);
	for (uint32_t i = 0; i < n_locations; i++)
		a->to.location[i] = tally_location(a->t, a->to.image[l[i].image],
						   l[i].offset, l[i].flags);
}

static void add_stacks(struct adding *a)
{
	const struct model_stack *s = recording_stacks(a->r);
	uint32_t n_stacks = recording_n_stacks(a->r);

	a->stack = ids(n_stacks);
	for (uint32_t i = 1; i < n_stacks; i++)
		a->stack[i] = tally_stack(a->t, a->stack[s[i].parent],
					  a->to.location[s[i].location]);
}

static void add_facts(struct adding *a)
{
	for (uint32_t i = 0; i < recording_n_facts(a->r); i++) {
		struct model_fact f = *recording_fact(a->r, i);

		f.name = text(a, f.name);
		f.unit = text(a, f.unit);
		if (f.event != MODEL_NONE)
			f.event = a->to.event[f.event];
		if (f.process != MODEL_NONE)
			f.process = a->to.process[f.process];
		tally_fact(a->t, &f);
	}
}

/* Of several recordings: the earliest start, the latest end, what else they agree on; of
 * the rest the last one's, but all hosts and epochs. */
enum info_policy { INFO_LAST, INFO_EARLIEST, INFO_LATEST, INFO_LIST };

static const struct {
	const char *key;
	enum info_policy policy;
} info_policies[] = {
	{ "start-time", INFO_EARLIEST }, { "start-realtime-ns", INFO_EARLIEST },
	{ "end-time", INFO_LATEST },	 { "end-realtime-ns", INFO_LATEST },
	{ "host", INFO_LIST },		 { "epoch", INFO_LIST },
};

static enum info_policy policy_of(const char *key)
{
	for (size_t i = 0; i < sizeof(info_policies) / sizeof(info_policies[0]); i++)
		if (strcmp(info_policies[i].key, key) == 0)
			return info_policies[i].policy;
	return INFO_LAST;
}

/* "ant, bee" has "ant". */
static bool list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return n > 0;
	return !n;
}

static void add_info(struct tally *t, const char *key, const char *value)
{
	const char *was = tally_info_get(t, key);
	enum info_policy policy = policy_of(key);
	own(freep) char *both = NULL;
	int order;

	if (was && policy == INFO_LIST) {
		if (list_has(was, value))
			return;
		both = xasprintf("%s, %s", was, value);
		value = both;
	}
	/* Texts of the same length, as times are, compare as numbers do. */
	order = was ? strcmp(was, value) : 0;
	if ((policy == INFO_EARLIEST && order < 0) ||
	    (policy == INFO_LATEST && order > 0))
		return;
	tally_info(t, key, value);
}

static void add_infos(struct adding *a)
{
	for (size_t i = 0; i < recording_info_count(a->r); i++) {
		const char *key, *value;

		recording_info_at(a->r, i, &key, &value);
		/* The clock of a boot says nothing of times that are not kept. */
		if (strcmp(key, "start-monotonic-ns") != 0)
			add_info(a->t, key, value);
	}
}

static bool is_wanted(const struct adding *a, uint32_t stack)
{
	if (!a->fold.images)
		return true;
	return stack &&
	       a->fold.images[recording_locations(
				      a->r)[recording_stacks(a->r)[stack].location]
				      .image];
}

static void add_block(struct adding *a, const struct sample_block *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (!is_wanted(a, b->stack[i]))
			continue;
		tally_sample(a->t, &(struct model_sample){
					   .weight = b->weight[i],
					   .event = a->to.event[b->event[i]],
					   .thread = a->to.thread[b->thread[i]],
					   .cpu = a->fold.cpus ? MODEL_NONE : b->cpu[i],
					   .stack = a->stack[b->stack[i]],
					   .count = b->count[i],
				   });
	}
}

static bool is_in_wanted(const struct adding *a, uint32_t location)
{
	return !a->fold.images ||
	       a->fold.images[recording_locations(a->r)[location].image];
}

static int add_direction(void *ctx, const struct model_direction *direction,
			 unused struct err *e)
{
	const struct adding *a = ctx;
	struct model_direction d = *direction;

	if (!is_in_wanted(a, d.location))
		return 0;
	d.process = a->to.process[d.process];
	d.location = a->to.location[d.location];
	if (d.to != MODEL_NONE)
		d.to = a->to.location[d.to];
	tally_direction(a->t, &d);
	return 0;
}

static int add_access(void *ctx, const struct model_access *access, unused struct err *e)
{
	const struct adding *a = ctx;
	struct model_access x = *access;

	if (!is_in_wanted(a, x.location))
		return 0;
	x.process = a->to.process[x.process];
	x.location = a->to.location[x.location];
	tally_access(a->t, &x);
	return 0;
}

static int add_code(struct adding *a, struct err *e)
{
	int rc = recording_each_direction(a->r, add_direction, a, e);

	return rc < 0 ? rc : recording_each_access(a->r, add_access, a, e);
}

static int add_samples(struct adding *a, struct err *e)
{
	own(sample_block_fini) struct sample_block b = { 0 };

	for (size_t i = 0; i < recording_n_sample_blocks(a->r); i++) {
		int rc =
			recording_read_samples(a->r, i, SAMPLE_ALL & ~SAMPLE_TIME, &b, e);

		if (rc < 0)
			return rc;
		add_block(a, &b);
	}
	return 0;
}

static int add_blobs(struct adding *a, struct err *e)
{
	own(buf_fini) struct buf data = { 0 };

	for (size_t i = 0; i < recording_n_blobs(a->r); i++) {
		struct model_blob blob = *recording_blob(a->r, i);
		int rc = recording_read_blob(a->r, i, &data, e);

		if (rc < 0)
			return rc;
		blob.name = text(a, blob.name);
		if (blob.image != MODEL_NONE)
			blob.image = a->to.image[blob.image];
		tally_blob(a->t, &blob, data.data);
	}
	return 0;
}

static int add_front(struct adding *a, struct err *e)
{
	int rc;

	add_infos(a);
	add_images(a);
	add_events(a);
	add_processes(a);
	add_threads(a);
	add_locations(a);
	add_facts(a);
	rc = add_code(a, e);
	return rc < 0 ? rc : add_blobs(a, e);
}

int tally_add_front(struct tally *t, const struct recording *r,
		    struct tally_translation *ret, struct err *e)
{
	own(adding_fini) struct adding a = { .t = t, .r = r };
	int rc = add_front(&a, e);

	*ret = a.to;
	a.to = (struct tally_translation){ 0 };
	return rc;
}

int tally_add_recording(struct tally *t, const struct recording *r,
			const struct tally_fold *fold, struct err *e)
{
	own(adding_fini) struct adding a = { .t = t, .r = r };
	int rc;

	if (fold)
		a.fold = *fold;
	rc = add_front(&a, e);
	if (rc < 0)
		return rc;
	add_stacks(&a);
	return add_samples(&a, e);
}
