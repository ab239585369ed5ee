/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/archive_copy.h"
#include "cmd/command.h"
#include "cmd/output_file.h"
#include "cmd/report_options.h"
#include "cmd/report_profile.h"

#define MAX_FILE_BYTES (UINT64_C(2) << 30)

struct archive {
	const struct report *r;
	const struct recording *recording;
	struct writer *w;
	struct map sources; /* files already taken, by pointer */
	uint64_t n_images, n_debug, n_sources, n_missing;
};

static void archive_fini(struct archive *a)
{
	map_fini(&a->sources);
	writer_free(a->w);
}

static bool read_whole(const char *path, struct buf *ret)
{
	own(fclosep) FILE *f = path ? fopen(path, "re") : NULL;
	struct stat st;
	size_t n;

	if (!f || fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size > MAX_FILE_BYTES)
		return false;
	while ((n = fread(buf_reserve(ret, 1 << 16), 1, 1 << 16, f)) > 0 &&
	       ret->size + n <= MAX_FILE_BYTES)
		ret->size += n;
	return !ferror(f) && n == 0;
}

static int put(struct archive *a, uint32_t kind, const char *name, uint32_t image,
	       const struct buf *bytes, struct err *e)
{
	return writer_blob(a->w,
			   &(struct model_blob){ .kind = kind,
						 .name = writer_string(a->w, name),
						 .image = image,
						 .size_bytes = bytes->size },
			   bytes->data, e);
}

/* What the symbolizer calls a kind of file. */
static const struct {
	const char *name;
	uint32_t kind;
} file_kinds[] = {
	{ "elf", BLOB_ELF },
	{ "debug", BLOB_DEBUG },
	{ "alternate", BLOB_ALTERNATE },
	{ "split", BLOB_SPLIT },
	{ "package", BLOB_PACKAGE },
};

struct image_files {
	struct archive *a;
	struct err *e;
	uint32_t image;
	int rc;
};

static void put_file(void *ctx, const char *kind, const char *name, const char *path)
{
	struct image_files *f = ctx;
	own(buf_fini) struct buf bytes = { 0 };
	size_t i = 0;

	if (f->rc < 0)
		return;
	if (!read_whole(path, &bytes)) {
		f->a->n_missing++;
		return;
	}
	while (strcmp(file_kinds[i].name, kind) != 0)
		i++;
	++*(file_kinds[i].kind == BLOB_ELF ? &f->a->n_images : &f->a->n_debug);
	f->rc = put(f->a, file_kinds[i].kind, name, f->image, &bytes, f->e);
}

/* Only images that samples are in. */
static int put_images(struct archive *a, struct err *e)
{
	uint32_t n = recording_n_images(a->recording);
	own(freep) bool *is_used = xcalloc(n + 1, sizeof(bool));
	const struct model_location *l = recording_locations(a->recording);
	struct symbolizer *s = profile_symbolizer(a->r->profile);
	struct image_files f = { .a = a, .e = e };

	for (uint32_t i = 0; i < recording_n_locations(a->recording); i++)
		is_used[l[i].image] = true;
	for (f.image = 0; f.image < n && f.rc == 0; f.image++)
		if (is_used[f.image])
			symbolizer_each_file(s,
					     profile_sym_image(a->r->profile, 0, f.image),
					     put_file, &f);
	return f.rc;
}

static int put_source(struct archive *a, const struct profile_frame *f, struct err *e)
{
	struct symbolizer *s = profile_symbolizer(a->r->profile);
	const struct profile_function *fn = profile_function(a->r->profile, f->function);
	own(buf_fini) struct buf text = { 0 };
	bool is_new;

	if (!f->file)
		return 0;
	map_slot(&a->sources, (uintptr_t)f->file, &is_new);
	if (!is_new)
		return 0;
	if (symbolizer_source(s, fn->sym_image, f->file, &text, NULL) < 0) {
		a->n_missing++;
		return 0;
	}
	a->n_sources++;
	return put(a, BLOB_SOURCE, f->file, MODEL_NONE, &text, e);
}

static int put_sources(void *ctx, const struct profile_stack *s, struct err *e)
{
	int rc = 0;

	for (size_t i = s->n_same; i < s->n && rc == 0; i++)
		rc = put_source(ctx, &s->frames[i], e);
	return rc;
}

static int write_archive(struct archive *a, struct err *e)
{
	int rc = archive_copy(a->recording, a->w, e);

	if (rc == 0)
		rc = put_images(a, e);
	if (rc == 0)
		rc = profile_each_stack(a->r->profile, put_sources, a, e);
	return rc == 0 ? writer_close(steal(&a->w), e) : rc;
}

/* cpu.dwell becomes cpu.archive.dwell. */
static char *default_output(const char *input)
{
	size_t n = strlen(input);

	if (n > 6 && strcmp(input + n - 6, ".dwell") == 0)
		n -= 6;
	return xasprintf("%.*s.archive.dwell", (int)n, input);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static void tell(const struct archive *a, const char *output)
{
	char size[TEXT_MAX], images[TEXT_MAX], debug[TEXT_MAX], sources[TEXT_MAX];
	struct stat st = { 0 };

	stat(output, &st);
	printf("%s: %s with %s, %s, %s", output, text_size(size, (uint64_t)st.st_size),
	       text_number(images, a->n_images, "images"),
	       text_number(debug, a->n_debug, "debug files"),
	       text_number(sources, a->n_sources, "source files"));
	if (a->n_missing)
		printf(" (%" PRIu64 " not found)", a->n_missing);
	putchar('\n');
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	own(archive_fini) struct archive a = { .r = &r };

	if (options_argc(o) > 1)
		return err_set(e, ERR_USAGE, "one recording at a time");

	int rc = report_profile_open(o, options_argv(o), NULL, &r, e);

	if (rc != 0)
		return rc;

	own(freep) char *made = default_output(r.paths[0]);
	const char *output = options_str(o, "output");

	output = output ? output : made;
	if (is_same_file(r.paths[0], output))
		return err_set(e, ERR_USAGE, "'%s' is the recording itself: name another",
			       output);
	a.recording = profile_source(r.profile, 0);
	rc = writer_create(output, NULL, &a.w, e);
	if (rc < 0)
		return rc;
	rc = write_archive(&a, e);
	if (rc < 0) {
		output_file_discard(output);
		return rc;
	}
	tell(&a, output);
	return report_profile_check_whole(&r, e);
}

static const struct option_spec own_options[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = OPTION_STRING,
	  .arg = "FILE",
	  .default_text = "RECORDING.archive.dwell",
	  .text = "Write to FILE" },
	OPTION_END,
};

static const struct option_spec *const tables[] = { own_options, report_options_input,
						    NULL };

static const struct command_example examples[] = {
	{ "dwell archive -o for-you.dwell a.dwell",
	  "a recording that reports on any machine" },
	{ NULL, NULL },
};

const struct command cmd_archive = {
	.name = "archive",
	.usage = "[-o FILE] [RECORDING]",
	.summary = "Bundle a recording with the images and sources its reports need",
	.description =
		"Writes a new recording that holds, beside all of the old one, the "
		"executables, libraries, separate debug files and source files that its "
		"samples are in, so that another machine can report and annotate. What "
		"is "
		"not found here is counted and left out.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
