/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/io_peers.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/profile_data.h"
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
	struct profile *p;
	bool *is_used; /* by function: it is a connection with weight */
	struct intern *names;
	struct map n_of_end;	     /* connections that have an end, by its name */
	struct map n_of_peer;	     /* connections that are joined, by the name of all */
	struct map function_of_peer; /* + 1 */
};

static void joining_fini(struct joining *j)
{
	free(j->is_used);
	intern_free(j->names);
	map_fini(&j->n_of_end);
	map_fini(&j->n_of_peer);
	map_fini(&j->function_of_peer);
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

/* Of those that a server accepted. */
static char *host_of(const char *name, const struct ends *e)
{
	const char *colon = strrchr(e->remote, ':');
	size_t n = colon ? (size_t)(colon - e->remote) : strlen(e->remote);

	return xasprintf("%.*s%.*s->%.*s:*", PROTOCOL, name, e->n_local, e->local, (int)n,
			 e->remote);
}

bool io_peers_has(const char *peer, const char *connection)
{
	struct ends e = ends_of(connection);
	own(freep) char *remote = NULL;
	own(freep) char *host = NULL;

	if (!strchr(peer, '*') || !e.local)
		return false;
	remote = remote_of(connection, &e);
	host = host_of(connection, &e);
	return strcmp(peer, remote) == 0 || strcmp(peer, host) == 0;
}

static bool is_connection(const struct profile_function *f)
{
	return f->kind == IMAGE_LABEL && ends_of(f->name).local;
}

static bool has_connections(const struct profile *p)
{
	vec_each(f, &p->functions)
		if (is_connection(f))
			return true;
	return false;
}

static void mark_used(struct joining *j, const struct input *s)
{
	own(freep) bool *is_used = xcalloc(s->n_locations + 1, sizeof(bool));

	input_mark_locations(s, is_used);
	for (uint32_t l = 0; l < s->n_locations; l++)
		for (uint32_t i = 0; is_used[l] && i < s->n_frames[l]; i++) {
			uint32_t id = j->p->frames.at[s->first_frame[l] + i].function;

			j->is_used[id] = is_connection(&j->p->functions.at[id]);
		}
}

static void find_used(struct joining *j)
{
	j->is_used = xcalloc(j->p->functions.n + 1, sizeof(bool));
	for (size_t i = 0; i < j->p->n_sources; i++)
		mark_used(j, &j->p->sources[i]);
}

static void count_ends(struct joining *j, uint32_t function unused, const char *name)
{
	struct ends e = ends_of(name);
	own(freep) char *local = local_of(name, &e);
	own(freep) char *remote = remote_of(name, &e);

	++*slot(j, &j->n_of_end, local);
	++*slot(j, &j->n_of_end, remote);
}

/* Who has one port for many is the server; NULL: no other connection is of it. */
static char *peer_of(struct joining *j, const char *name)
{
	struct ends e = ends_of(name);
	own(freep) char *local = local_of(name, &e);
	own(freep) char *remote = remote_of(name, &e);
	uint64_t n_local = *slot(j, &j->n_of_end, local);
	uint64_t n_remote = *slot(j, &j->n_of_end, remote);

	if (n_local < 2 && n_remote < 2)
		return NULL;
	return n_remote >= n_local ? steal(&remote) : host_of(name, &e);
}

/* The function of all, which is like the first of them. */
static uint32_t add_function(struct joining *j, uint32_t like, const char *peer)
{
	struct profile *p = j->p;
	struct profile_function f = p->functions.at[like];

	f.name = f.label = f.image = f.own_image = arena_strdup(&p->strings, peer);
	f.same_as = (uint32_t)p->functions.n;
	*vec_push(&p->functions) = f;
	return f.same_as;
}

static void join(struct joining *j, uint32_t function, const char *peer)
{
	uint64_t *of_peer = slot(j, &j->function_of_peer, peer);

	if (*slot(j, &j->n_of_peer, peer) < 2)
		return;
	if (!*of_peer)
		*of_peer = add_function(j, function, peer) + UINT64_C(1);
	j->p->functions.at[function].same_as = (uint32_t)*of_peer - 1;
}

/* For each connection that has weight. */
static void each(struct joining *j,
		 void (*with)(struct joining *j, uint32_t function, const char *name))
{
	for (uint32_t i = 0, n = (uint32_t)j->p->functions.n; i < n; i++)
		if (j->is_used[i])
			with(j, i, j->p->functions.at[i].name);
}

static void note_peer(struct joining *j, uint32_t function unused, const char *name)
{
	own(freep) char *peer = peer_of(j, name);

	if (peer)
		++*slot(j, &j->n_of_peer, peer);
}

static void join_peer(struct joining *j, uint32_t function, const char *name)
{
	own(freep) char *peer = peer_of(j, name);

	if (peer)
		join(j, function, peer);
}

void io_peers_join(struct profile *p)
{
	own(joining_fini) struct joining j = { .p = p };

	if (!has_connections(p))
		return;
	j.names = intern_new();
	find_used(&j);
	each(&j, count_ends);
	each(&j, note_peer);
	each(&j, join_peer);
	vec_each(f, &p->frames)
		f->function = p->functions.at[f->function].same_as;
}
