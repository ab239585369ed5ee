/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_writer.h"

#include <inttypes.h>
#include <stdio.h>

#define BESIDE "beside threads" /* the category: ids are told apart in each */

static void begin(const struct chrome_writer *w, const char *phase,
		  struct chrome_whose whose, const char *name)
{
	json_object(w->j);
	json_key_str(w->j, "ph", phase);
	json_key_u64(w->j, "pid", whose.pid);
	json_key_u64(w->j, "tid", whose.tid);
	json_key_str(w->j, "name", name);
}

static void put_time(const struct chrome_writer *w, uint64_t time_ns)
{
	uint64_t ns = time_ns > w->start_ns ? time_ns - w->start_ns : 0;

	json_key_double(w->j, "ts", (double)ns / 1000);
}

void chrome_writer_name(const struct chrome_writer *w, struct chrome_whose whose,
			const char *key, const char *name)
{
	begin(w, "M", whose, key);
	json_key(w->j, "args");
	json_object(w->j);
	json_key_str(w->j, "name", name);
	json_object_end(w->j);
	json_object_end(w->j);
}

void chrome_writer_slice(const struct chrome_writer *w, struct chrome_whose whose,
			 uint64_t from_ns, uint64_t to_ns, const char *name,
			 const char *category)
{
	begin(w, "X", whose, name);
	json_key_str(w->j, "cat", category);
	put_time(w, from_ns);
	json_key_double(w->j, "dur", (double)(to_ns - from_ns) / 1000);
	json_object_end(w->j);
}

static void put_beside(const struct chrome_writer *w, const char *phase,
		       struct chrome_whose whose, uint64_t id, uint64_t time_ns,
		       const char *name)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, id);
	begin(w, phase, whose, name);
	json_key_str(w->j, "cat", BESIDE);
	json_key_str(w->j, "id", text);
	put_time(w, time_ns);
}

void chrome_writer_begin_beside(const struct chrome_writer *w, struct chrome_whose whose,
				uint64_t id, uint64_t from_ns, const char *name)
{
	put_beside(w, "b", whose, id, from_ns, name);
	json_key(w->j, "args");
	json_object(w->j);
}

void chrome_writer_end_beside(const struct chrome_writer *w, struct chrome_whose whose,
			      uint64_t id, uint64_t to_ns, const char *name)
{
	json_object_end(w->j);
	json_object_end(w->j);
	put_beside(w, "e", whose, id, to_ns, name);
	json_object_end(w->j);
}

void chrome_writer_counter(const struct chrome_writer *w, uint32_t pid, uint64_t time_ns,
			   const char *name, const char *unit, double value)
{
	begin(w, "C", (struct chrome_whose){ pid, 0 }, name);
	put_time(w, time_ns);
	json_key(w->j, "args");
	json_object(w->j);
	json_key_double(w->j, unit, value);
	json_object_end(w->j);
	json_object_end(w->j);
}

void chrome_writer_mark(const struct chrome_writer *w, uint64_t time_ns, const char *name,
			const char *cause)
{
	begin(w, "i", (struct chrome_whose){ 0 }, name);
	json_key_str(w->j, "cat", cause);
	json_key_str(w->j, "s", "g");
	put_time(w, time_ns);
	json_object_end(w->j);
}
