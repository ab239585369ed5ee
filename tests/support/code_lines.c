/* SPDX-License-Identifier: Apache-2.0 */
#include "code_lines.h"

#include <stdlib.h>

static const char *const block_ends[] = {
	[BLOCK_END_ON] = "on",
	[BLOCK_END_BRANCH] = "branch",
	[BLOCK_END_JUMP] = "jump",
	[BLOCK_END_CALL] = "call",
	[BLOCK_END_INDIRECT_JUMP] = "indirect-jump",
	[BLOCK_END_INDIRECT_CALL] = "indirect-call",
	[BLOCK_END_RETURN] = "return",
	[BLOCK_END_SYSCALL] = "syscall",
	[BLOCK_END_STOP] = "stop",
};
static const char *const edge_kinds[] = {
	[EDGE_ON] = "on",
	[EDGE_TAKEN] = "taken",
	[EDGE_CALL] = "call",
	[EDGE_INDIRECT_JUMP] = "indirect-jump",
	[EDGE_INDIRECT_CALL] = "indirect-call",
	[EDGE_RETURN] = "return",
	[EDGE_RETURNED] = "returned",
	[EDGE_SYSCALL] = "syscall",
	[EDGE_ENTERED] = "entered",
	[EDGE_LEFT] = "left",
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t pid_of(const struct recording_builder *b, const struct words *w)
{
	return (uint32_t)words_number(w, "pid", b->pid);
}

/* None where the word is not there. */
static uint32_t place_at(struct recording_builder *b, const struct words *w, size_t word)
{
	const char *at = words_plain(w, word);

	return *at ? named_images_location(&b->images, at, pid_of(b, w)) : MODEL_NONE;
}

static int basic_block_line(struct recording_builder *b, const struct words *w,
			    struct err *e)
{
	uint32_t end = 0;
	int rc = words_pick(block_ends, N(block_ends), "end", words_plain(w, 4), &end, e);

	if (rc < 0)
		return rc;
	writer_basic_block(
		b->writer,
		&(struct model_basic_block){
			.process = recording_builder_process(b, pid_of(b, w)),
			.location = place_at(b, w, 1),
			.size_bytes = (uint32_t)strtoul(words_plain(w, 2), NULL, 0),
			.n_instructions = (uint32_t)strtoul(words_plain(w, 3), NULL, 0),
			.end = end,
			.times = strtoull(words_plain(w, 5), NULL, 0),
		});
	return 0;
}

static int edge_line(struct recording_builder *b, const struct words *w, struct err *e)
{
	uint32_t kind = 0;
	int rc = words_pick(edge_kinds, N(edge_kinds), "kind of edge", words_plain(w, 2),
			    &kind, e);

	if (rc < 0)
		return rc;
	writer_edge(b->writer,
		    &(struct model_edge){
			    .block = (uint32_t)strtoul(words_plain(w, 1), NULL, 0),
			    .kind = kind,
			    .times = strtoull(words_plain(w, 3), NULL, 0),
			    .location = place_at(b, w, 4),
		    });
	return 0;
}

static int anchor_line(struct recording_builder *b, const struct words *w,
		       struct err *e unused)
{
	writer_anchor(b->writer,
		      &(struct model_anchor){
			      .process = recording_builder_process(b, pid_of(b, w)),
			      .window = (uint32_t)strtoul(words_plain(w, 1), NULL, 0),
			      .times = strtoull(words_plain(w, 2), NULL, 0),
			      .location = place_at(b, w, 3),
			      .size_bytes = (uint32_t)words_number(w, "size", 0),
			      .cpu_ns = words_number(w, "cpu", 0),
			      .is_near = words_number(w, "near", 0) != 0 });
	return 0;
}

static int anchor_way_line(struct recording_builder *b, const struct words *w,
			   struct err *e unused)
{
	writer_anchor_way(b->writer,
			  &(struct model_anchor_way){
				  .process = recording_builder_process(b, pid_of(b, w)),
				  .window = (uint32_t)strtoul(words_plain(w, 1), NULL, 0),
				  .times = strtoull(words_plain(w, 2), NULL, 0),
				  .behind = place_at(b, w, 3),
				  .to = place_at(b, w, 4) });
	return 0;
}

static int direction_line(struct recording_builder *b, const struct words *w,
			  struct err *e unused)
{
	writer_direction(b->writer,
			 &(struct model_direction){
				 .process = recording_builder_process(b, pid_of(b, w)),
				 .location = place_at(b, w, 1),
				 .times = strtoull(words_plain(w, 2), NULL, 0),
				 .to = place_at(b, w, 3),
				 .samples = words_number(w, "samples", 0),
				 .missed = words_number(w, "missed", 0),
				 .foreseen = words_number(w, "foreseen", 0),
			 });
	return 0;
}

static int access_line(struct recording_builder *b, const struct words *w,
		       struct err *e unused)
{
	writer_access(b->writer,
		      &(struct model_access){
			      .process = recording_builder_process(b, pid_of(b, w)),
			      .location = place_at(b, w, 1),
			      .what = (uint32_t)strtoul(words_plain(w, 2), NULL, 0),
			      .value = strtoull(words_plain(w, 3), NULL, 0),
			      .times = strtoull(words_plain(w, 4), NULL, 0),
		      });
	return 0;
}

const struct recording_builder_line code_lines[] = {
	{ "access", access_line },
	{ "anchor", anchor_line },
	{ "anchor-way", anchor_way_line },
	{ "basic-block", basic_block_line },
	{ "direction", direction_line },
	{ "edge", edge_line },
	{ NULL },
};
