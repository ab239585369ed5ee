/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

struct names {
	VEC(char *);
};

/* Of "name___flavour" it is the name that the kernel's type has. */
static char *essential_name(const char *name)
{
	const char *flavour = strstr(name, "___");

	return xstrndup(name, flavour ? (size_t)(flavour - name) : strlen(name));
}

static bool can_be_named(const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_any_enum(t) || btf_is_typedef(t);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_names(const struct btf *wanted, struct names *ret)
{
	for (uint32_t id = 1; id < btf__type_cnt(wanted); id++) {
		const struct btf_type *t = btf__type_by_id(wanted, id);

		if (t->name_off && can_be_named(t))
			*vec_push(ret) =
				essential_name(btf__name_by_offset(wanted, t->name_off));
	}
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), compare_names);
}

static void free_names(struct names *names)
{
	vec_each(name, names)
		free(*name);
	vec_fini(names);
}

static bool is_wanted(const struct btf *all, const struct btf_type *t,
		      const struct names *names)
{
	const char *name;

	if (!t->name_off || !can_be_named(t) || !names->n)
		return false;
	name = btf__name_by_offset(all, t->name_off);
	return bsearch(&name, names->at, names->n, sizeof(*names->at), compare_names);
}

/* With all that is in it, and not behind pointers: so it ends, and is not deep. */
static void keep(const struct btf *all, uint32_t id, bool *is_kept)
{
	const struct btf_type *t = btf__type_by_id(all, id);

	if (!id || is_kept[id])
		return;
	is_kept[id] = true;
	if (btf_is_mod(t) || btf_is_typedef(t))
		keep(all, t->type, is_kept);
	if (btf_is_array(t)) {
		keep(all, btf_array(t)->type, is_kept);
		keep(all, btf_array(t)->index_type, is_kept);
	}
	for (uint32_t i = 0; btf_is_composite(t) && i < btf_vlen(t); i++)
		keep(all, btf_members(t)[i].type, is_kept);
}

/* 0: it is not for itself that it is kept. */
static size_t record_bytes(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*t) + btf_vlen(t) * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return sizeof(*t) + btf_vlen(t) * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*t) + btf_vlen(t) * sizeof(struct btf_enum64);
	case BTF_KIND_ARRAY:
		return sizeof(*t) + sizeof(struct btf_array);
	case BTF_KIND_INT:
		return sizeof(*t) + sizeof(uint32_t);
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return sizeof(*t);
	default:
		return 0;
	}
}

/* Up to the last that is kept.  Any other is a pointer to nothing that is known. */
static uint32_t write_types(const struct btf *all, const bool *is_kept, uint8_t *to)
{
	static const struct btf_type pointer = { .info = BTF_KIND_PTR << 24 };
	uint32_t last = btf__type_cnt(all) - 1;
	uint8_t *at = to;

	while (last && !is_kept[last])
		last--;
	for (uint32_t id = 1; id <= last; id++) {
		const struct btf_type *t = btf__type_by_id(all, id);
		size_t n = is_kept[id] ? record_bytes(t) : 0;

		memcpy(at, n ? t : &pointer, n ? n : sizeof(pointer));
		at += n ? n : sizeof(pointer);
	}
	return (uint32_t)(at - to);
}

/* No record becomes longer.  Names stay where they are. */
static void *write_all(const struct btf *all, const bool *is_kept, uint32_t *ret_bytes)
{
	uint32_t n;
	const uint8_t *raw = btf__raw_data(all, &n);
	const struct btf_header *from = (const void *)raw;
	uint8_t *ret = xcalloc(1, n);
	struct btf_header *h = (void *)ret;

	*h = (struct btf_header){ .magic = from->magic,
				  .version = from->version,
				  .hdr_len = sizeof(*h),
				  .str_len = from->str_len };
	h->type_len = write_types(all, is_kept, ret + sizeof(*h));
	h->str_off = h->type_len;
	memcpy(ret + sizeof(*h) + h->str_off, raw + from->hdr_len + from->str_off,
	       h->str_len);
	*ret_bytes = (uint32_t)sizeof(*h) + h->str_off + h->str_len;
	return ret;
}

void *system_types_of(const struct btf *all, const struct btf *wanted,
		      uint32_t *ret_bytes)
{
	uint32_t n = btf__type_cnt(all);
	own(freep) bool *is_kept = xcalloc(n, sizeof(*is_kept));
	own(free_names) struct names names = { 0 };

	list_names(wanted, &names);
	for (uint32_t id = 1; id < n; id++)
		if (is_wanted(all, btf__type_by_id(all, id), &names))
			keep(all, id, is_kept);
	return write_all(all, is_kept, ret_bytes);
}

/* Where they can be mapped, since Linux 6.16: reading gives a page at a time. */
static struct btf *map_kernel_types(void)
{
	own(closep) int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct btf *ret = NULL;
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	ret = btf__new(bytes, (uint32_t)st.st_size);
	munmap(bytes, (size_t)st.st_size);
	return libbpf_get_error(ret) ? NULL : ret;
}

void system_types_init(struct system_types *ret)
{
	*ret = (struct system_types){ .kernel = map_kernel_types(), .fd = -1 };
	if (!ret->kernel)
		ret->kernel = btf__load_vmlinux_btf();
	if (ret->kernel)
		ret->fd = memfd_create("dwell-types", MFD_CLOEXEC);
	if (ret->fd >= 0)
		snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->fd);
}

void system_types_fini(struct system_types *t)
{
	btf__free(t->kernel);
	closep(&t->fd);
}

const char *system_types_path(const struct system_types *t)
{
	return t->fd >= 0 ? t->path : NULL;
}

int system_types_pick(const struct system_types *t, const struct bpf_object *o,
		      struct err *e)
{
	own(freep) void *bytes = NULL;
	uint32_t n = 0;

	if (t->fd < 0)
		return 0;
	bytes = system_types_of(t->kernel, bpf_object__btf(o), &n);
	if (pwrite(t->fd, bytes, n, 0) != (ssize_t)n)
		return err_os(e, "cannot keep the types of the kernel");
	return 0;
}
