/* SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include <string.h>

#include "analyze/coverage.h"

#define EXPORTER(stem) extern const struct exporter export_##stem;
#include "export/exporters.def"
#undef EXPORTER

const struct exporter *const exporters[] = {
#define EXPORTER(stem) &export_##stem,
#include "export/exporters.def"
#undef EXPORTER
	NULL,
};

const struct exporter *exporter_find(const char *name)
{
	for (size_t i = 0; exporters[i]; i++)
		if (strcmp(exporters[i]->name, name) == 0)
			return exporters[i];
	return NULL;
}

int exporter_check(const struct exporter *x, const struct profile *p,
		   const struct export_options *o, struct err *e)
{
	size_t column;

	if (!x->is_exact || !exporter_columns(p, o, &column) || coverage_has(p, column))
		return 0;
	return err_set(
		e, ERR_UNSUPPORTED,
		"%s tells how often code was executed, which samples do not: record "
		"with 'dwell run -e bbcounts'",
		x->name);
}

size_t exporter_columns(const struct profile *p, const struct export_options *o,
			size_t *first)
{
	size_t n = profile_n_columns(p);

	*first = o->has_column ? o->column : 0;
	if (*first >= n)
		return 0;
	return o->has_column ? 1 : n;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_in_other_sources(const struct profile *p, const struct profile_column *c)
{
	for (size_t i = 0; i < profile_n_columns(p); i++) {
		const struct profile_column *other = profile_column(p, i);

		if (other->source != c->source && strcmp(other->name, c->name) == 0)
			return true;
	}
	return false;
}

const char *exporter_column_label(const struct profile *p, size_t column,
				  struct buf *text)
{
	const struct profile_column *c = profile_column(p, column);

	buf_clear(text);
	buf_puts(text, c->name);
	if (is_in_other_sources(p, c)) {
		const struct recording *r = profile_source(p, c->source);

		buf_printf(text, " (%s)", file_name(recording_path(r)));
	}
	return buf_str(text);
}

const char *exporter_title(const struct profile *p, const struct export_options *o)
{
	const struct recording *r;
	const char *what;

	if (o->title)
		return o->title;
	if (profile_n_sources(p) == 0)
		return "dwell";
	r = profile_source(p, 0);
	what = recording_info(r, "command");
	if (!what || !*what)
		what = recording_info(r, "target");
	return what && *what ? what : file_name(recording_path(r));
}

int exporter_finish(FILE *out, struct err *e)
{
	if (fflush(out) != 0 || ferror(out))
		return err_os(e, "cannot write");
	return 0;
}
