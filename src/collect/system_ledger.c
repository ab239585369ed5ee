/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_ledger.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

/* "dwell", and the version of what is below. */
#define MAGIC	  UINT64_C(0x33006c6c65776401)
#define N_ENTRIES 2 /* one of them is whole at any time */

struct entry {
	struct system_ledger_entry entry;
	struct system_rings_place places[];
};

struct head {
	uint64_t magic;	 /* 0: it may not be opened yet */
	uint64_t layout; /* of all that was pinned beside it */
	uint32_t n_rings;
	uint32_t current; /* entry */
};

struct system_ledger {
	int fd;
	size_t n_rings, bytes;
	struct head *head;
};

static size_t entry_bytes(size_t n_rings)
{
	return sizeof(struct entry) + n_rings * sizeof(struct system_rings_place);
}

static size_t ledger_bytes(size_t n_rings)
{
	return sizeof(struct head) + N_ENTRIES * entry_bytes(n_rings);
}

static int map_ledger(int fd, size_t n_rings, struct system_ledger **ret, struct err *e)
{
	own(system_ledger_freep) struct system_ledger *l = xcalloc(1, sizeof(*l));
	void *at;

	*l = (struct system_ledger){ .fd = fd,
				     .n_rings = n_rings,
				     .bytes = ledger_bytes(n_rings) };
	at = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	l->head = at;
	*ret = steal(&l);
	return 0;
}

static struct entry *entry_at(const struct system_ledger *l, uint32_t i)
{
	return (void *)((char *)(l->head + 1) + i * entry_bytes(l->n_rings));
}

int system_ledger_new(size_t n_rings, struct system_ledger **ret, struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ledger", sizeof(uint32_t),
				(uint32_t)ledger_bytes(n_rings), 1, &o);

	if (fd < 0)
		return err_os(e, "cannot create a BPF map");
	return map_ledger(fd, n_rings, ret, e);
}

/* Of whatever layout. */
static int open_any(int fd, size_t n_rings, struct system_ledger **ret, struct err *e)
{
	own(system_ledger_freep) struct system_ledger *l = NULL;
	own(closep) int ours = fd;
	struct bpf_map_info info = { 0 };
	uint32_t info_size = sizeof(info);
	int rc;

	if (bpf_obj_get_info_by_fd(fd, &info, &info_size) < 0)
		return err_os(e, "cannot look at a BPF map");
	if (info.type != BPF_MAP_TYPE_ARRAY || info.value_size != ledger_bytes(n_rings) ||
	    info.max_entries != 1 || !(info.map_flags & BPF_F_MMAPABLE))
		return err_set(e, ERR_FORMAT, "of another kind");
	rc = map_ledger(steal_fd(&ours), n_rings, &l, e);
	if (rc < 0)
		return rc;
	if (l->head->magic != MAGIC || l->head->n_rings != n_rings ||
	    l->head->current >= N_ENTRIES)
		return err_set(e, ERR_FORMAT, "of another kind");
	*ret = steal(&l);
	return 0;
}

int system_ledger_open(int fd, size_t n_rings, uint64_t layout,
		       struct system_ledger **ret, struct err *e)
{
	own(system_ledger_freep) struct system_ledger *l = NULL;
	int rc = open_any(fd, n_rings, &l, e);

	if (rc < 0)
		return rc;
	if (l->head->layout != layout)
		return err_set(e, ERR_FORMAT, "of another kind");
	*ret = steal(&l);
	return 0;
}

bool system_ledger_peek(int fd, size_t n_rings, struct system_ledger_entry *ret)
{
	own(system_ledger_freep) struct system_ledger *l = NULL;

	if (open_any(fd, n_rings, &l, NULL) < 0)
		return false;
	*ret = entry_at(l, l->head->current)->entry;
	return true;
}

void system_ledger_free(struct system_ledger *l)
{
	if (!l)
		return;
	if (l->head)
		munmap(l->head, l->bytes);
	closep(&l->fd);
	free(l);
}

void system_ledger_freep(struct system_ledger **l)
{
	system_ledger_free(*l);
}

int system_ledger_fd(const struct system_ledger *l)
{
	return l->fd;
}

void system_ledger_seal(struct system_ledger *l, uint64_t layout)
{
	l->head->n_rings = (uint32_t)l->n_rings;
	l->head->layout = layout;
	__atomic_store_n(&l->head->magic, MAGIC, __ATOMIC_SEQ_CST);
}

void system_ledger_write(struct system_ledger *l, const struct system_ledger_entry *entry,
			 const struct system_rings_place *places)
{
	uint32_t next = !l->head->current;
	struct entry *to = entry_at(l, next);

	to->entry = *entry;
	memcpy(to->places, places, l->n_rings * sizeof(*places));
	__atomic_store_n(&l->head->current, next, __ATOMIC_SEQ_CST);
}

void system_ledger_read(const struct system_ledger *l, struct system_ledger_entry *entry,
			struct system_rings_place *places)
{
	const struct entry *from = entry_at(l, l->head->current);

	*entry = from->entry;
	memcpy(places, from->places, l->n_rings * sizeof(*places));
}
