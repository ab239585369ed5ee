/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "export/plain_text.h"

struct graph *graph_new(void)
{
	return xcalloc(1, sizeof(struct graph));
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	vec_fini(&g->feet);
	vec_fini(&g->nodes);
	vec_fini(&g->ways);
	vec_fini(&g->lines);
	arena_fini(&g->texts);
	free(g);
}

void graph_freep(struct graph **g)
{
	graph_free(*g);
}

/* Bytes of valid UTF-8 that take at most max bytes. */
static size_t fit(const char *s, size_t max)
{
	size_t n = 0, left = strlen(s);

	while (left && n < max) {
		size_t len = utf8_length(s + n, left);

		if (len == 0 || n + len > max)
			break;
		n += len;
		left -= len;
	}
	return n;
}

/* U+FFFE and U+FFFF are UTF-8, but no characters of XML, nor of what else shows them. */
static void replace_noncharacters(char *s)
{
	for (char *at = s; (at = strstr(at, "\xef\xbf"));) {
		if (at[2] == '\xbe' || at[2] == '\xbf') {
			*at++ = '?';
			memmove(at, at + 2, strlen(at + 2) + 1);
		} else {
			at += 2;
		}
	}
}

/* Cut by bytes, not columns: what is wider than that in letters loses a little more. */
static const char *keep(struct graph *g, const char *s, size_t max)
{
	own(buf_fini) struct buf b = { 0 };

	if (!s)
		return NULL;
	plain_text_add(&b, s, 0, NULL);
	if (text_width(buf_str(&b)) > max) {
		b.size = fit(buf_str(&b), max - 1);
		buf_puts(&b, "…");
	}

	char *text = arena_strdup(&g->texts, buf_str(&b));

	replace_noncharacters(text);
	return text;
}

void graph_set_titles(struct graph *g, const char *title, const char *subtitle)
{
	g->title = keep(g, title, GRAPH_MAX_COLUMNS);
	g->subtitle = keep(g, subtitle, 2 * GRAPH_MAX_COLUMNS);
}

void graph_add_foot(struct graph *g, const char *text)
{
	const char *s = keep(g, text, 2 * GRAPH_MAX_COLUMNS);

	*vec_push(&g->feet) = s;
}

uint32_t graph_add_node(struct graph *g, enum graph_node_kind kind, const char *title)
{
	assert(g->nodes.n < UINT32_MAX);
	*vec_push(&g->nodes) = (struct graph_node){
		.kind = kind,
		.title = keep(g, title ? title : "", GRAPH_MAX_COLUMNS),
		.first_line = g->lines.n,
	};
	return (uint32_t)(g->nodes.n - 1);
}

static struct graph_node *last_node(struct graph *g)
{
	assert(g->nodes.n > 0);
	return &g->nodes.at[g->nodes.n - 1];
}

void graph_add_line(struct graph *g, const char *text, const char *number)
{
	*vec_push(&g->lines) = (struct graph_line){
		.text = keep(g, text ? text : "", GRAPH_MAX_COLUMNS),
		.number = keep(g, number, GRAPH_MAX_COLUMNS),
	};
	last_node(g)->n_lines++;
}

void graph_set_note(struct graph *g, const char *text)
{
	last_node(g)->note = keep(g, text, GRAPH_MAX_COLUMNS);
}

/* What is no number is none. */
static double clamp(double v, double max)
{
	return !(v > 0) ? 0 : v > max ? max : v;
}

void graph_set_weight(struct graph *g, double weight, double frequency)
{
	last_node(g)->weight = clamp(weight, 1);
	last_node(g)->frequency = clamp(frequency, DBL_MAX);
}

void graph_add_way(struct graph *g, uint32_t from, uint32_t to, enum graph_way_kind kind,
		   const char *label, double weight)
{
	assert(from < g->nodes.n && to < g->nodes.n && kind < GRAPH_N_WAY_KINDS);
	*vec_push(&g->ways) = (struct graph_way){
		.from = from,
		.to = to,
		.kind = kind,
		.label = label && *label ? keep(g, label, GRAPH_MAX_COLUMNS) : NULL,
		.weight = clamp(weight, 1),
	};
}

const char *graph_way_name(enum graph_way_kind kind)
{
	static const char *const names[GRAPH_N_WAY_KINDS] = {
		[GRAPH_WAY_ON] = "straight on",	 [GRAPH_WAY_TAKEN] = "branch",
		[GRAPH_WAY_TABLE] = "by table",	 [GRAPH_WAY_CALL] = "after a call",
		[GRAPH_WAY_UNKNOWN] = "unknown",
	};

	return names[kind];
}
