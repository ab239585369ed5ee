/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/system_types.h"

/* struct inner { int a; }; struct other { int a, b; };
 * typedef const struct inner held_t;
 * struct task { int x; struct { int deep; } ; held_t held[3]; struct other *far; };
 * enum kind { KIND_ONE = 1 }; struct last { int z; }; */
struct kernel {
	struct btf *btf;
	int integer, inner, other, pointer, is_const, held, array, anonymous, task, kind,
		last;
};

static void add_field(struct btf *b, const char *name, int type, uint32_t at_bytes)
{
	assert_int_equal(btf__add_field(b, name, type, at_bytes * 8, 0), 0);
}

static struct kernel make_kernel(void)
{
	struct kernel k = { .btf = btf__new_empty() };

	k.integer = btf__add_int(k.btf, "int", 4, BTF_INT_SIGNED);
	k.inner = btf__add_struct(k.btf, "inner", 4);
	add_field(k.btf, "a", k.integer, 0);
	k.other = btf__add_struct(k.btf, "other", 8);
	add_field(k.btf, "a", k.integer, 0);
	add_field(k.btf, "b", k.integer, 4);
	k.pointer = btf__add_ptr(k.btf, k.other);
	k.is_const = btf__add_const(k.btf, k.inner);
	k.held = btf__add_typedef(k.btf, "held_t", k.is_const);
	k.array = btf__add_array(k.btf, k.integer, k.held, 3);
	k.anonymous = btf__add_struct(k.btf, NULL, 4);
	add_field(k.btf, "deep", k.integer, 0);
	k.task = btf__add_struct(k.btf, "task", 32);
	add_field(k.btf, "x", k.integer, 0);
	add_field(k.btf, NULL, k.anonymous, 4);
	add_field(k.btf, "held", k.array, 8);
	add_field(k.btf, "far", k.pointer, 24);
	k.kind = btf__add_enum(k.btf, "kind", 4);
	assert_int_equal(btf__add_enum_value(k.btf, "KIND_ONE", 1), 0);
	k.last = btf__add_struct(k.btf, "last", 4);
	add_field(k.btf, "z", k.integer, 0);
	return k;
}

/* What is left of the kernel's where an object names these structs. */
static struct btf *pick(const struct kernel *k, const char *const *names)
{
	struct btf *wanted = btf__new_empty(), *ret;
	own(freep) void *bytes = NULL;
	uint32_t n;

	for (; *names; names++)
		assert_true(btf__add_struct(wanted, *names, 0) > 0);
	bytes = system_types_of(k->btf, wanted, &n);
	ret = btf__new(bytes, n);
	assert_non_null(ret);
	btf__free(wanted);
	return ret;
}

static int find(const struct btf *b, const char *name, uint32_t kind)
{
	return btf__find_by_name_kind(b, name, kind);
}

static void a_type_keeps_its_number_and_all_that_is_in_it(unused void **state)
{
	static const char *const names[] = { "task", NULL };
	struct kernel k = make_kernel();
	struct btf *b = pick(&k, names);
	const struct btf_type *t = btf__type_by_id(b, (uint32_t)k.task);
	const struct btf_type *was = btf__type_by_id(k.btf, (uint32_t)k.task);

	assert_int_equal(find(b, "task", BTF_KIND_STRUCT), k.task);
	assert_int_equal(t->size, 32);
	assert_int_equal(btf_vlen(t), 4);
	assert_memory_equal(btf_members(t), btf_members(was),
			    4 * sizeof(struct btf_member));
	assert_string_equal(btf__name_by_offset(b, btf_members(t)[3].name_off), "far");
	t = btf__type_by_id(b, (uint32_t)k.anonymous);
	assert_true(btf_is_struct(t));
	assert_string_equal(btf__name_by_offset(b, btf_members(t)[0].name_off), "deep");
	assert_int_equal(btf__resolve_size(b, (uint32_t)k.array), 12);
	assert_int_equal(btf__resolve_type(b, (uint32_t)k.held), k.inner);
	btf__free(b);
	btf__free(k.btf);
}

static void what_is_behind_a_pointer_is_not_there(unused void **state)
{
	static const char *const names[] = { "task", NULL };
	struct kernel k = make_kernel();
	struct btf *b = pick(&k, names);
	const struct btf_type *t = btf__type_by_id(b, (uint32_t)k.pointer);

	assert_true(btf_is_ptr(t));
	assert_int_equal(t->type, 0);
	assert_true(find(b, "other", BTF_KIND_STRUCT) < 0);
	btf__free(b);
	btf__free(k.btf);
}

static void nothing_is_behind_the_last_that_is_named(unused void **state)
{
	static const char *const names[] = { "task", NULL };
	static const char *const nobody[] = { "nobody", NULL };
	struct kernel k = make_kernel();
	struct btf *b = pick(&k, names);

	assert_int_equal(btf__type_cnt(b), k.task + 1);
	btf__free(b);
	b = pick(&k, nobody);
	assert_int_equal(btf__type_cnt(b), 1);
	btf__free(b);
	btf__free(k.btf);
}

static void flavours_are_of_one_name_and_any_kind_is_found(unused void **state)
{
	static const char *const names[] = { "last___6_12", "kind", "held_t", NULL };
	struct kernel k = make_kernel();
	struct btf *b = pick(&k, names);

	assert_int_equal(find(b, "last", BTF_KIND_STRUCT), k.last);
	assert_int_equal(find(b, "kind", BTF_KIND_ENUM), k.kind);
	assert_int_equal(find(b, "held_t", BTF_KIND_TYPEDEF), k.held);
	assert_int_equal(find(b, "inner", BTF_KIND_STRUCT), k.inner);
	assert_true(find(b, "task", BTF_KIND_STRUCT) < 0);
	btf__free(b);
	btf__free(k.btf);
}

/* Of this kernel, where it tells: by its own types, those of a thread as libbpf reads
 * them from the file. */
static void the_kernel_s_own_are_read_from_the_path(unused void **state)
{
	struct system_types t;
	struct btf *wanted = btf__new_empty(), *b;
	own(freep) void *bytes = NULL;
	int id;
	uint32_t n;

	system_types_init(&t);
	if (!system_types_path(&t))
		skip();
	btf__add_struct(wanted, "task_struct", 0);
	bytes = system_types_of(t.kernel, wanted, &n);
	assert_int_equal(pwrite(t.fd, bytes, n, 0), n);
	b = btf__parse(system_types_path(&t), NULL);
	assert_non_null(b);
	id = find(b, "task_struct", BTF_KIND_STRUCT);
	assert_int_equal(id, find(t.kernel, "task_struct", BTF_KIND_STRUCT));
	assert_int_equal(btf__resolve_size(b, (uint32_t)id),
			 btf__resolve_size(t.kernel, (uint32_t)id));
	assert_true(find(b, "super_block", BTF_KIND_STRUCT) < 0);
	btf__free(b);
	btf__free(wanted);
	system_types_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_type_keeps_its_number_and_all_that_is_in_it),
		cmocka_unit_test(what_is_behind_a_pointer_is_not_there),
		cmocka_unit_test(nothing_is_behind_the_last_that_is_named),
		cmocka_unit_test(flavours_are_of_one_name_and_any_kind_is_found),
		cmocka_unit_test(the_kernel_s_own_are_read_from_the_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
