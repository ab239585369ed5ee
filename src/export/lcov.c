/* SPDX-License-Identifier: Apache-2.0
 *
 * lcov - how often each source line and function was executed, as geninfo(1) says it.
 *
 * Read by genhtml and by what shows coverage.  Of exact counts only: samples do not tell
 * that a line was not executed.
 */
#include <inttypes.h>

#include "analyze/coverage.h"
#include "export/exporter.h"
#include "export/plain_text.h"

static size_t write_functions(const struct coverage *c, uint32_t file, size_t i,
			      FILE *out)
{
	size_t first = i, n_hit = 0;

	for (; i < c->functions.n && c->functions.at[i].file == file; i++) {
		fprintf(out, "FN:%" PRIu32 ",", c->functions.at[i].line);
		plain_text_put(out, c->functions.at[i].name, 0, NULL);
		fputc('\n', out);
	}
	for (size_t k = first; k < i; k++) {
		fprintf(out, "FNDA:%" PRIu64 ",", c->functions.at[k].times);
		plain_text_put(out, c->functions.at[k].name, 0, NULL);
		fputc('\n', out);
		n_hit += c->functions.at[k].times > 0;
	}
	if (i > first)
		fprintf(out, "FNF:%zu\nFNH:%zu\n", i - first, n_hit);
	return i;
}

static size_t write_lines(const struct coverage *c, uint32_t file, size_t i, FILE *out)
{
	size_t first = i, n_hit = 0;

	for (; i < c->lines.n && c->lines.at[i].file == file; i++) {
		fprintf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", c->lines.at[i].line,
			c->lines.at[i].times);
		n_hit += c->lines.at[i].times > 0;
	}
	fprintf(out, "LF:%zu\nLH:%zu\n", i - first, n_hit);
	return i;
}

static bool is_of(const struct coverage *c, uint32_t file, size_t function, size_t line)
{
	return (function < c->functions.n && c->functions.at[function].file == file) ||
	       (line < c->lines.n && c->lines.at[line].file == file);
}

static void write_files(const struct coverage *c, FILE *out)
{
	size_t function = 0, line = 0;

	for (uint32_t file = 0; file < c->files.n; file++) {
		if (!is_of(c, file, function, line))
			continue;
		fputs("TN:\nSF:", out);
		plain_text_put(out, c->files.at[file], 0, NULL);
		fputc('\n', out);
		function = write_functions(c, file, function, out);
		line = write_lines(c, file, line, out);
		fputs("end_of_record\n", out);
	}
}

static int lcov_write(const struct profile *p, const struct export_options *o, FILE *out,
		      struct err *e)
{
	own(coverage_fini) struct coverage c = { 0 };
	size_t column;

	if (exporter_columns(p, o, &column) > 0) {
		coverage_make(&c, p, column);
		write_files(&c, out);
	}
	return exporter_finish(out, e);
}

const struct exporter export_lcov = {
	.name = "lcov",
	.suffix = "info",
	.mime = "text/plain",
	.summary = "how often each line was executed, for genhtml",
	.is_one_event = true,
	.is_exact = true,
	.write = lcov_write,
};
