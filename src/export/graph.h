/* SPDX-License-Identifier: Apache-2.0
 *
 * graph - a control-flow graph that is to be drawn: what is written where, and how
 * much it weighs.
 *
 * Owns copies of all texts, made fit to be shown (plain_text) and cut to
 * GRAPH_MAX_COLUMNS.  Built by one thread, then read by as many as there are; who
 * draws it is in graph_writer.h, where things go in graph_layout.h.
 */
#ifndef DWELL_EXPORT_GRAPH_H
#define DWELL_EXPORT_GRAPH_H

#include <stdint.h>

#include "base/arena.h"
#include "base/own.h"
#include "base/vec.h"

#define GRAPH_MAX_COLUMNS 100

enum graph_node_kind {
	GRAPH_NODE_BLOCK,
	GRAPH_NODE_ENTRY,
	GRAPH_NODE_EXIT,
};

enum graph_way_kind {
	GRAPH_WAY_ON,	   /* what comes next in memory */
	GRAPH_WAY_TAKEN,   /* a branch's target */
	GRAPH_WAY_TABLE,   /* one of an indirect branch's targets */
	GRAPH_WAY_CALL,	   /* goes on after another function was called or jumped to */
	GRAPH_WAY_UNKNOWN, /* nobody knows whether it was ever taken */
	GRAPH_N_WAY_KINDS,
};

struct graph_line {
	const char *text;
	const char *number; /* in a column of its own, right-aligned; or NULL */
};

struct graph_node {
	enum graph_node_kind kind;
	const char *title;
	const char *note; /* a last line, or NULL */
	size_t first_line, n_lines;
	double weight;	  /* its share of the time, 0 to 1: area and colour */
	double frequency; /* how often, in any unit, 0 if never: size of the letters */
};

struct graph_way {
	uint32_t from, to; /* nodes */
	enum graph_way_kind kind;
	const char *label; /* or NULL */
	double weight;	   /* 0 to 1: the line's width */
};

struct graph {
	const char *title, *subtitle; /* or NULL */
	VEC(const char *) feet;
	VEC(struct graph_node) nodes;
	VEC(struct graph_way) ways;
	VEC(struct graph_line) lines;
	struct arena texts;
};

struct graph *graph_new(void);
void graph_free(struct graph *g);
void graph_freep(struct graph **g);

void graph_set_titles(struct graph *g, const char *title, const char *subtitle);
void graph_add_foot(struct graph *g, const char *text);
/* Returns the node's index. */
uint32_t graph_add_node(struct graph *g, enum graph_node_kind kind, const char *title);
/* The next three say more of the node that was added last. */
void graph_add_line(struct graph *g, const char *text, const char *number);
void graph_set_note(struct graph *g, const char *text);
void graph_set_weight(struct graph *g, double weight, double frequency);
/* Both nodes have been added. */
void graph_add_way(struct graph *g, uint32_t from, uint32_t to, enum graph_way_kind kind,
		   const char *label, double weight);

/* The name of a kind of way, for legends. */
const char *graph_way_name(enum graph_way_kind kind);

#endif
