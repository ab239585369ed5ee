/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/io_peers.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"

#define PROTOCOL 4 /* "TCP " */

/* What "TCP 10.0.0.1:4000->10.0.0.2:80" has on its sides; borrows it. */
struct ends {
	const char *local, *remote; /* NULL: it is no connection */
	int n_local;		    /* bytes */
};

static struct ends ends_of(const char *name)
{
	struct ends e = { 0 };
	const char *arrow = strstr(name, "->");

	if (!arrow || (!text_starts(name, "TCP ") && !text_starts(name, "UDP ")))
		return e;
	e.local = name + PROTOCOL;
	e.n_local = (int)(arrow - e.local);
	e.remote = arrow + strlen("->");
	return e;
}

struct joining {
	struct intern *names;
	struct map n_of_end;	/* rows that have an end, by its name */
	struct map row_of_name; /* row + 1, by the name of all that are joined */
};

static void joining_fini(struct joining *j)
{
	intern_free(j->names);
	map_fini(&j->n_of_end);
	map_fini(&j->row_of_name);
}

static uint64_t *slot(struct joining *j, struct map *of, const char *name)
{
	return map_slot(of, intern_str(j->names, name), NULL);
}

static char *local_of(const char *name, const struct ends *e)
{
	return xasprintf("%.*s%.*s", PROTOCOL, name, e->n_local, e->local);
}

static char *remote_of(const char *name, const struct ends *e)
{
	return xasprintf("%.*s*->%s", PROTOCOL, name, e->remote);
}

static void count_ends(struct joining *j, const struct io_rows *r)
{
	vec_each(row, &r->rows) {
		struct ends e = ends_of(row->name);

		if (!e.local)
			continue;

		own(freep) char *local = local_of(row->name, &e);
		own(freep) char *remote = remote_of(row->name, &e);

		++*slot(j, &j->n_of_end, local);
		++*slot(j, &j->n_of_end, remote);
	}
}

/* Who has one port for many is the server; NULL: no other row is of it. */
static char *joined_name(struct joining *j, const char *name)
{
	struct ends e = ends_of(name);
	own(freep) char *local = NULL;
	own(freep) char *remote = NULL;
	uint64_t n_local, n_remote;

	if (!e.local)
		return NULL;
	local = local_of(name, &e);
	remote = remote_of(name, &e);
	n_local = *slot(j, &j->n_of_end, local);
	n_remote = *slot(j, &j->n_of_end, remote);
	if (n_local < 2 && n_remote < 2)
		return NULL;
	if (n_remote >= n_local)
		return steal(&remote);
	return xasprintf("%s->%.*s:*", local,
			 (int)(strrchr(e.remote, ':') ? strrchr(e.remote, ':') - e.remote
						      : (long)strlen(e.remote)),
			 e.remote);
}

static void add_steps(struct power_steps *to, const struct power_steps *from)
{
	for (unsigned i = 0; i < POWER_STEPS; i++)
		to->n[i] += from->n[i];
	to->sum += from->sum;
}

static void add_sums(struct io_rows_sums *to, const struct io_rows_sums *from)
{
	to->calls += from->calls;
	to->errors += from->errors;
	to->read_bytes += from->read_bytes;
	to->written_bytes += from->written_bytes;
	to->asked_bytes += from->asked_bytes;
	to->ns += from->ns;
	add_steps(&to->sizes, &from->sizes);
	add_steps(&to->times, &from->times);
}

void io_peers_join(struct io_rows *r)
{
	own(joining_fini) struct joining j = { .names = intern_new() };
	size_t n = 0;

	count_ends(&j, r);
	for (size_t i = 0; i < r->rows.n; i++) {
		struct io_row *row = &r->rows.at[i];
		own(freep) char *name = joined_name(&j, row->name);
		uint64_t *at = name ? slot(&j, &j.row_of_name, name) : NULL;

		row->n_connections = name != NULL;
		if (at && *at) {
			add_sums(&r->rows.at[*at - 1].sums, &row->sums);
			r->rows.at[*at - 1].n_connections++;
			free(row->name);
			continue;
		}
		r->rows.at[n++] = *row;
		if (at)
			*at = n;
	}
	r->rows.n = n;
	vec_each(row, &r->rows) {
		char *of_all = row->n_connections > 1 ? joined_name(&j, row->name) : NULL;

		if (!of_all)
			continue;
		free(row->name);
		row->name = of_all;
		r->n_joined++;
	}
}
