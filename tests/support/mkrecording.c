/* SPDX-License-Identifier: Apache-2.0
 *
 * mkrecording - writes a recording from the text that recording_builder.h explains.
 *
 *	usage: mkrecording OUTPUT.dwell [SPEC]		(no SPEC: standard input)
 */
#include <stdio.h>

#include "base/buf.h"
#include "recording_builder.h"

static int write_recording(const char *path, FILE *in, struct err *e)
{
	own(recording_builder_freep) struct recording_builder *b = NULL;
	own(buf_fini) struct buf text = { 0 };
	size_t n;

	while ((n = fread(buf_reserve(&text, 4096), 1, 4096, in)) > 0)
		text.size += n;

	int rc = recording_builder_create(path, NULL, &b, e);

	if (rc == 0)
		rc = recording_builder_text(b, buf_str(&text), e);
	return rc < 0 ? rc : recording_builder_close(steal(&b), e);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: mkrecording OUTPUT.dwell [SPEC]\n");
		return 2;
	}

	own(fclosep) FILE *in = fopen(argc > 2 ? argv[2] : "/dev/stdin", "r");

	if (!in) {
		perror(argv[2]);
		return 1;
	}
	if (write_recording(argv[1], in, &e) < 0) {
		fprintf(stderr, "mkrecording: %s\n", e.text);
		return 1;
	}
	return 0;
}
