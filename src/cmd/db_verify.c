/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/database_options.h"
#include "cmd/db_verb.h"
#include "store/recording.h"

struct verified {
	size_t n_segments, n_damaged;
	uint64_t bytes;
	struct json *json; /* NULL: print text */
};

static void tell(struct verified *v, const char *path, const char *what)
{
	own(freep) char *safe = xcalloc(4, strlen(path) + 1);
	char text[1000];

	v->n_damaged++;
	if (v->json) {
		json_object(v->json);
		json_key_str(v->json, "path", path);
		json_key_str(v->json, "problem", what);
		json_object_end(v->json);
		return;
	}
	text_printable(safe, 4 * strlen(path) + 1, path);
	printf("%s: %s\n", safe, text_printable(text, sizeof(text), what));
}

/* Opening checks every block; what is in them is checked by reading it. */
static int read_all(const char *path, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	own(sample_block_fini) struct sample_block b = { 0 };
	own(buf_fini) struct buf blob = { 0 };
	int rc = recording_open(path, &r, e);

	if (rc == 0 && recording_damage(r))
		rc = err_set(e, ERR_FORMAT, "%s", recording_damage(r));
	for (size_t i = 0; rc == 0 && i < recording_n_sample_blocks(r); i++)
		rc = recording_read_samples(r, i, SAMPLE_ALL, &b, e);
	for (size_t i = 0; rc == 0 && i < recording_n_blobs(r); i++)
		rc = recording_read_blob(r, i, &blob, e);
	return rc;
}

static void verify(struct verified *v, const struct database_answer *a)
{
	for (size_t i = 0; i < a->n_chosen; i++) {
		const struct database_segment *s =
			&a->database->segments.at[a->chosen[i]];
		struct err why = { 0 };

		v->n_segments++;
		v->bytes += s->bytes;
		if (read_all(s->path, &why) < 0)
			tell(v, s->path,
			     text_starts(why.text, s->path) && why.text[strlen(s->path)]
				     ? why.text + strlen(s->path) + 2
				     : why.text);
	}
	for (size_t i = 0; i < a->database->epochs.n; i++)
		if (!a->database->epochs.at[i].has_manifest)
			tell(v, a->database->epochs.at[i].path,
			     a->database->epochs.at[i].problem);
}

static int run(struct options *o, char *const *operands, struct err *e)
{
	own(database_options_fini) struct database_options d = { 0 };
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	int rc = database_options_take(o, operands[0], &d, e);
	char size[TEXT_MAX], segments[TEXT_MAX];
	struct verified v = { 0 };
	struct json j;

	if (rc == 0)
		rc = database_query_choose(&d.query, &a, e);
	if (rc < 0)
		return rc;
	if (options_has(o, "json")) {
		v.json = &j;
		json_init(&j, stdout);
		json_object(&j);
		json_key_str(&j, "report", "db verify");
		json_key(&j, "problems");
		json_array(&j);
	}
	verify(&v, &a);
	if (v.json) {
		json_array_end(&j);
		json_key_u64(&j, "segments", v.n_segments);
		json_key_u64(&j, "bytes", v.bytes);
		json_object_end(&j);
		putchar('\n');
	} else {
		printf("%s, %s: %s\n", text_number(segments, v.n_segments, "segments"),
		       text_size(size, v.bytes),
		       v.n_damaged ? "damaged" : "every checksum is right");
	}
	return v.n_damaged ? EXIT_ERROR : EXIT_OK;
}

const struct db_verb db_verify = {
	.name = "verify",
	.operands = "DATABASE",
	.summary = "read and check everything",
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
