/* SPDX-License-Identifier: Apache-2.0
 *
 * mkdatabase - writes a database of recordings, as a daemon would.
 *
 *	usage: mkdatabase DATABASE HOST RECORDING... [-- RECORDING...]...
 *
 * Each recording is a segment of ten minutes, each -- begins another epoch; the first
 * begins at 2026-11-21 10:00 UTC.  The last epoch goes on.
 */
#include <stdio.h>
#include <string.h>

#include "store/database_writer.h"
#include "store/recording.h"

#define START_S	  INT64_C(1795255200)
#define SEGMENT_S 600

static int add(struct database_writer *w, const char *path, int64_t from_s, struct err *e)
{
	const struct tally_fold fold = { .processes = true, .threads = true };
	own(recording_freep) struct recording *r = NULL;
	own(tally_freep) struct tally *t = tally_new();
	int rc = recording_open(path, &r, e);

	if (rc == 0)
		rc = tally_add_recording(t, r, &fold, e);
	if (rc == 0)
		rc = database_writer_add(w, t, from_s, from_s + SEGMENT_S, e);
	return rc;
}

static int fill(int argc, char **argv, struct err *e)
{
	own(database_writer_closep) struct database_writer *w = NULL;
	struct manifest m = { .start_s = START_S };
	int rc = database_writer_open(argv[1], argv[2], &w, e);

	if (rc == 0)
		rc = database_writer_begin(w, &m, e);
	for (int i = 3; i < argc && rc == 0; i++) {
		if (strcmp(argv[i], "--") == 0) {
			rc = database_writer_begin(w, &m, e);
			continue;
		}
		rc = add(w, argv[i], m.start_s, e);
		m.start_s += SEGMENT_S;
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct err e = { 0 };

	if (argc < 4) {
		fprintf(stderr, "usage: mkdatabase DATABASE HOST RECORDING...\n");
		return 2;
	}
	if (fill(argc, argv, &e) == 0)
		return 0;
	fprintf(stderr, "mkdatabase: %s\n", e.text);
	return 1;
}
