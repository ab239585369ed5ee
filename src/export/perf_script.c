/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_script - every sample as `perf script` prints it.
 *
 * For what reads that text: stackcollapse-perf.pl, the Firefox Profiler, speedscope.
 * The period of a sample is its weight.  Consumers count lines or sum periods, so
 * observations merged into one sample are written one by one, sharing its weight.
 */
#include <inttypes.h>
#include <string.h>

#include "export/exporter.h"
#include "export/plain_text.h"

struct script {
	const struct profile *p;
	FILE *out;
	const struct export_options *o;
	struct buf label;
	struct buf header, text; /* of the sample being written */
};

static void script_fini(struct script *s)
{
	buf_fini(&s->label);
	buf_fini(&s->header);
	buf_fini(&s->text);
}

static const char *thread_name(const struct script *s, const struct profile_sample *x)
{
	const struct recording *r =
		profile_source(s->p, profile_column(s->p, x->column)->source);
	const char *name = "";

	if (x->thread)
		name = recording_string(r, x->thread->name);
	if (!*name && x->process)
		name = recording_string(r, x->process->comm);
	return *name ? name : "[unknown]";
}

static void put_header(struct script *s, const struct profile_sample *x, uint64_t period)
{
	struct buf *b = &s->header;
	uint32_t pid = x->process ? x->process->pid : 0;
	uint32_t tid = x->thread ? x->thread->tid : pid;

	buf_clear(b);
	plain_text_add(b, thread_name(s, x), 0, NULL);
	buf_printf(b, " %7" PRIu32 "/%-7" PRIu32, pid, tid);
	if (x->cpu != MODEL_NONE)
		buf_printf(b, " [%03" PRIu32 "]", x->cpu);
	buf_printf(b, " %5" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " ",
		   x->time_ns / 1000000000, x->time_ns / 1000 % 1000000, period);
	plain_text_add(b, exporter_column_label(s->p, x->column, &s->label), ' ', "_");
	buf_puts(b, ": \n");
	fwrite(b->data, 1, b->size, s->out);
}

/* As "\t%16x ", which a long file has for every frame of every sample. */
static void add_address(struct buf *b, uint64_t address)
{
	uint8_t *to = buf_reserve(b, 18);

	memset(to, ' ', 18);
	to[0] = '\t';
	for (size_t i = 16; address || i == 16; address >>= 4)
		to[i--] = (uint8_t) "0123456789abcdef"[address & 15];
	b->size += 18;
}

static void add_frame(struct script *s, const struct profile_frame *frame)
{
	struct buf *b = &s->text;
	const struct profile_function *f = profile_function(s->p, frame->function);

	add_address(b, frame->address);
	/* Where only its bounds are known a function still has a name of its own. */
	plain_text_add(b, f->is_resolved || f->start ? f->name : "[unknown]", 0, NULL);
	if (frame->is_inlined) {
		buf_puts(b, " (inlined)\n");
		return;
	}
	if (f->start && frame->address >= f->start)
		buf_printf(b, "+0x%" PRIx64, frame->address - f->start);
	buf_puts(b, " (");
	plain_text_add(b, f->image_path ? f->image_path : f->image, 0, NULL);
	buf_puts(b, ")\n");
}

static int write_sample(void *ctx, const struct profile_sample *x, struct err *e)
{
	struct script *s = ctx;
	uint32_t count = x->count ? x->count : 1;

	if (s->o->has_column && x->column != s->o->column)
		return 0;
	buf_clear(&s->text);
	for (size_t k = x->n_frames; k-- > 0;)
		add_frame(s, &x->frames[k]);
	if (x->n_frames == 0)
		buf_puts(&s->text, "\t               0 [unknown] ([unknown])\n");
	buf_u8(&s->text, '\n');
	for (uint32_t i = 0; i < count; i++) {
		put_header(s, x, x->weight / count + (i < x->weight % count));
		fwrite(s->text.data, 1, s->text.size, s->out);
	}
	return ferror(s->out) ? err_os(e, "cannot write") : 0;
}

static int perf_script_write(const struct profile *p, const struct export_options *o,
			     FILE *out, struct err *e)
{
	own(script_fini) struct script s = { .p = p, .out = out, .o = o };
	int rc = profile_each_sample(p, write_sample, &s, e);

	return rc < 0 ? rc : exporter_finish(out, e);
}

const struct exporter export_perf_script = {
	.name = "perf-script",
	.suffix = "perf.txt",
	.mime = "text/plain",
	.summary = "every sample as `perf script` prints it",
	.write = perf_script_write,
};
