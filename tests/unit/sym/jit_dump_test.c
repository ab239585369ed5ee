/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/jit_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void header(struct buf *b, uint32_t version)
{
	buf_u32le(b, 0x4a695444);
	buf_u32le(b, version);
	buf_u32le(b, 40);
	buf_u32le(b, 62);
	buf_u32le(b, 0);
	buf_u32le(b, 1);
	buf_u64le(b, 0);
	buf_u64le(b, 0);
}

static void record(struct buf *b, uint32_t id, uint64_t time, const struct buf *body)
{
	buf_u32le(b, id);
	buf_u32le(b, (uint32_t)(16 + body->size));
	buf_u64le(b, time);
	buf_add(b, body->data, body->size);
}

static void load(struct buf *b, uint64_t time, uint64_t address, uint64_t index,
		 const char *name, const char *code)
{
	own(buf_fini) struct buf body = { 0 };

	buf_u64le(&body, 0); /* pid, tid */
	buf_u64le(&body, address);
	buf_u64le(&body, address);
	buf_u64le(&body, strlen(code));
	buf_u64le(&body, index);
	buf_add(&body, name, strlen(name) + 1);
	buf_add(&body, code, strlen(code));
	record(b, 0, time, &body);
}

static void move(struct buf *b, uint64_t time, uint64_t from, uint64_t to, uint64_t size,
		 uint64_t index)
{
	own(buf_fini) struct buf body = { 0 };

	buf_u64le(&body, 0);
	buf_u64le(&body, to);
	buf_u64le(&body, from);
	buf_u64le(&body, to);
	buf_u64le(&body, size);
	buf_u64le(&body, index);
	record(b, 1, time, &body);
}

static void lines(struct buf *b, uint64_t time, uint64_t address)
{
	own(buf_fini) struct buf body = { 0 };

	buf_u64le(&body, address);
	buf_u64le(&body, 2);
	buf_u64le(&body, address);
	buf_u32le(&body, 10);
	buf_u32le(&body, 0);
	buf_add(&body, "app.js", 7);
	buf_u64le(&body, address + 4);
	buf_u32le(&body, 11);
	buf_u32le(&body, 0);
	buf_add(&body, "\xff", 2); /* the same file */
	record(b, 2, time, &body);
}

static const char *name_at(const struct jit_dump *d, uint64_t address)
{
	const struct code_piece *p = code_map_find(jit_dump_map(d), address);

	return p ? p->name : "-";
}

static void code_is_found_where_it_was_loaded_and_moved(void **state)
{
	own(buf_fini) struct buf bytes = { 0 }, code = { 0 };
	own(jit_dump_freep) struct jit_dump *d = NULL;
	struct jit_dump_line line;

	(void)state;
	header(&bytes, 1);
	lines(&bytes, 1, 0x1000);
	load(&bytes, 2, 0x1000, 7, "fib", "abcdefgh");
	move(&bytes, 5, 0x1000, 0x3000, 8, 7);
	load(&bytes, 4, 0x3004, 8, "older than the move", "xxxxxxxx");
	load(&bytes, 9, 0x1002, 9, "newer", "yy");
	assert_int_equal(jit_dump_parse(&bytes, &d, NULL), 0);
	assert_string_equal(name_at(d, 0x1000), "fib");
	assert_string_equal(name_at(d, 0x1003), "newer");
	assert_string_equal(name_at(d, 0x1004), "fib");
	assert_string_equal(name_at(d, 0x3007), "fib");
	assert_string_equal(name_at(d, 0x3008), "older than the move");
	assert_string_equal(name_at(d, 0x300c), "-");

	const struct code_piece *p = code_map_find(jit_dump_map(d), 0x3005);

	assert_true(jit_dump_find_line(d, p, 0x3005, &line));
	assert_string_equal(line.file, "app.js");
	assert_int_equal(line.line, 11);
	assert_true(jit_dump_code(d, p, 0x3005, 2, &code));
	assert_memory_equal(code.data, "fg", 2);
}

static void what_precedes_the_damage_is_kept(void **state)
{
	own(buf_fini) struct buf bytes = { 0 };
	own(jit_dump_freep) struct jit_dump *d = NULL;

	(void)state;
	header(&bytes, 1);
	load(&bytes, 1, 0x1000, 1, "whole", "abcd");
	load(&bytes, 2, 0x2000, 2, "cut", "abcd");
	bytes.size -= 1;
	assert_int_equal(jit_dump_parse(&bytes, &d, NULL), 0);
	assert_string_equal(name_at(d, 0x1000), "whole");
	assert_string_equal(name_at(d, 0x2000), "-");
}

static void other_files_are_refused_with_a_text(void **state)
{
	own(buf_fini) struct buf bytes = { 0 };
	struct jit_dump *d = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(jit_dump_parse(&bytes, &d, &e), ERR_FORMAT);
	header(&bytes, 2);
	assert_int_equal(jit_dump_parse(&bytes, &d, &e), ERR_FORMAT);
	assert_non_null(strstr(e.text, "jitdump"));
	assert_null(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_found_where_it_was_loaded_and_moved),
		cmocka_unit_test(what_precedes_the_damage_is_kept),
		cmocka_unit_test(other_files_are_refused_with_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
