/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * files - what descriptors are of: a number of each file, which is told once.
 *
 * A file is its inode, whoever has it open and by whatever name; what has no inode of its
 * own (eventfd, epoll) is its kind, and a socket is another one when it is connected.
 */
#ifndef DWELL_COLLECT_BPF_FILES_BPF_H
#define DWELL_COLLECT_BPF_FILES_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/path.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "wire/io_record.h"

#define FILES_MODE_TYPE	  0170000
#define FILES_MODE_SOCKET 0140000

struct files_key {
	uint64_t inode;
	uint64_t kind; /* what the kernel does with it */
	uint32_t device, generation;
	uint64_t connection; /* of a socket */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, IO_RECORD_FILES_MAX);
	__type(key, struct files_key);
	__type(value, uint32_t);
} file_numbers SEC(".maps");

/* What is told, as it is put together: by programs that are not interrupted, and by what
 * goes through all threads, which is. */
enum files_which { FILES_ALONE, FILES_PREEMPTED };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, uint32_t);
	__type(value, struct io_record_file);
} file_scratch SEC(".maps");

/* What was found last, on each CPU: comparing a key is cheaper than looking it up. */
#define FILES_FOUND 64

struct files_found {
	struct files_key key;
	uint32_t number, zero; /* 0: none yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FILES_FOUND);
	__type(key, uint32_t);
	__type(value, struct files_found);
} file_found SEC(".maps");

uint32_t files_next = IO_RECORD_FILES; /* the first number that no file had yet */

/* struct file * of a descriptor, NULL: there is none. */
static __always_inline struct file *files_open(struct task_struct *task, uint32_t fd)
{
	const struct files_struct *files = kernel_task(task)->files;
	struct fdtable *table = files ? files->fdt : NULL;

	if (!table || fd >= table->max_fds)
		return NULL;
	return (struct file *)KERNEL_READ_WORD(table->fd + fd);
}

static __always_inline struct sock *files_sock(struct file *file)
{
	struct socket *socket = KERNEL_READ(struct file, file, private_data);

	return socket ? KERNEL_READ(struct socket, socket, sk) : NULL;
}

#define FILES_SOCK(sk, member) KERNEL_READ(struct sock, sk, __sk_common.member)

/* What makes a socket another one. */
static __always_inline uint64_t files_connection(struct file *file)
{
	struct sock *sk = files_sock(file);
	uint64_t ends;

	if (!sk)
		return 0;
	if (FILES_SOCK(sk, skc_family) == IO_RECORD_UNIX) {
		struct unix_sock *unix_sock = (void *)sk;

		return (KERNEL_READ(struct unix_sock, unix_sock, addr) != NULL) |
		       (KERNEL_READ(struct unix_sock, unix_sock, peer) != NULL) << 1;
	}
	ends = (uint64_t)FILES_SOCK(sk, skc_dport) << 16 | FILES_SOCK(sk, skc_num);
	return ends << 32 | FILES_SOCK(sk, skc_daddr);
}

static __always_inline void files_key(struct file *file, struct files_key *ret)
{
	struct inode *inode = KERNEL_READ(struct file, file, f_inode);
	struct super_block *fs = KERNEL_READ(struct inode, inode, i_sb);
	uint32_t mode = KERNEL_READ(struct inode, inode, i_mode);

	ret->inode = KERNEL_READ(struct inode, inode, i_ino);
	ret->generation = KERNEL_READ(struct inode, inode, i_generation);
	ret->device = KERNEL_READ(struct super_block, fs, s_dev);
	ret->kind = (uint64_t)KERNEL_READ(struct file, file, f_op);
	ret->connection = (mode & FILES_MODE_TYPE) == FILES_MODE_SOCKET
				  ? files_connection(file)
				  : 0;
}

/* The name of one end of a local socket: as much as its address has. */
static __always_inline bool files_local_name(struct io_record_file *r, struct sock *sk)
{
	struct unix_sock *unix_sock = (void *)sk;
	struct unix_address *address =
		sk ? KERNEL_READ(struct unix_sock, unix_sock, addr) : NULL;
	uint32_t n = address ? KERNEL_READ(struct unix_address, address, len) : 0;

	if (n <= 2 || n > 110)
		return false;
	n -= 2;
	r->file.path_bytes = n;
	/* Behind the length are a family, of two bytes, and the name. */
	return bpf_probe_read_kernel(
		       r->file.path, n & 127,
		       (const char *)address +
			       bpf_core_field_offset(struct unix_address, len) +
			       sizeof(int) + 2) == 0;
}

/* Where a server listens has a name, and its clients' sockets have none. */
static __always_inline void files_local(struct io_record_file *r, struct sock *sk)
{
	struct unix_sock *unix_sock = (void *)sk;

	if (!files_local_name(r, sk))
		files_local_name(r, KERNEL_READ(struct unix_sock, unix_sock, peer));
}

static __always_inline void files_ends(struct io_record_file *r, struct sock *sk)
{
	r->local_port = FILES_SOCK(sk, skc_num);
	r->remote_port = __builtin_bswap16(FILES_SOCK(sk, skc_dport));
	if (r->family == IO_RECORD_INET6) {
		bpf_probe_read_kernel(r->local, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_probe_read_kernel(r->remote, 16, &sk->__sk_common.skc_v6_daddr);
		return;
	}
	bpf_probe_read_kernel(r->local, 4, &sk->__sk_common.skc_rcv_saddr);
	bpf_probe_read_kernel(r->remote, 4, &sk->__sk_common.skc_daddr);
}

static __always_inline void files_socket(struct io_record_file *r, struct file *file)
{
	struct sock *sk = files_sock(file);

	r->file.path_bytes = 0;
	if (!sk)
		return;
	r->family = FILES_SOCK(sk, skc_family);
	r->type = BPF_CORE_READ(sk, sk_type);
	r->protocol = BPF_CORE_READ(sk, sk_protocol);
	if (r->family == IO_RECORD_UNIX)
		files_local(r, sk);
	else if (r->family == IO_RECORD_INET || r->family == IO_RECORD_INET6)
		files_ends(r, sk);
}

/* What is in no folder has a name all the same: "[eventfd]", "memfd:x". */
static __always_inline void files_path(struct io_record_file *r, struct file *file)
{
	path_read(&r->file, file);
	r->is_bare = !r->file.path_bytes;
	if (r->is_bare)
		path_push(&r->file, BPF_CORE_READ(file, f_path.dentry));
}

/* Not static: verified by itself, once. */
__noinline int files_tell(uint64_t at, uint32_t number, uint32_t which)
{
	struct file *file = (void *)at;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct io_record_file *r = bpf_map_lookup_elem(&file_scratch, &which);
	void *ring = sums_ring();
	uint64_t size;

	if (!r || !ring)
		return 0;
	__builtin_memset(r, 0, __builtin_offsetof(struct io_record_file, file.path));
	r->kind = STACK_RECORD_FILE;
	r->number = number;
	r->mode = BPF_CORE_READ(inode, i_mode);
	r->file.inode = BPF_CORE_READ(inode, i_ino);
	r->file.device = BPF_CORE_READ(inode, i_sb, s_dev);
	if ((r->mode & FILES_MODE_TYPE) == FILES_MODE_SOCKET)
		files_socket(r, file);
	else
		files_path(r, file);
	size = __builtin_offsetof(struct io_record_file, file.path) + r->file.path_bytes;
	if (size > sizeof(*r))
		size = sizeof(*r);
	return bpf_ringbuf_output(ring, r, size, BPF_RB_NO_WAKEUP) == 0;
}

/* A number that no file has; not below the limit: there is none. */
static __always_inline uint32_t files_new_number(uint32_t limit)
{
	return files_next < limit ? __sync_fetch_and_add(&files_next, 1) : limit;
}

static __always_inline uint32_t files_enter(const struct files_key *key, uint32_t number)
{
	uint32_t *known;

	if (!bpf_map_update_elem(&file_numbers, key, &number, BPF_NOEXIST))
		return number;
	known = bpf_map_lookup_elem(&file_numbers, key); /* another CPU was first */
	return known ? *known : IO_RECORD_UNNUMBERED;
}

static __always_inline uint32_t files_add(struct file *file, const struct files_key *key,
					  uint32_t which)
{
	uint32_t number = files_new_number(IO_RECORD_FILES_MAX);

	if (number >= IO_RECORD_FILES_MAX)
		return IO_RECORD_UNNUMBERED;
	if (!files_tell((uint64_t)file, number, which))
		return IO_RECORD_UNTOLD;
	return files_enter(key, number);
}

static __always_inline bool files_is_key(const struct files_key *a,
					 const struct files_key *b)
{
	return a->inode == b->inode && a->kind == b->kind && a->device == b->device &&
	       a->generation == b->generation && a->connection == b->connection;
}

/* Where one of this key was found, on this CPU, if it was the last one there. */
static __always_inline struct files_found *files_found_at(const struct files_key *key)
{
	uint32_t place = (uint32_t)(key->inode ^ key->connection) % FILES_FOUND;

	return bpf_map_lookup_elem(&file_found, &place);
}

/* What is no file is asked for again. */
static __always_inline void files_note_found(struct files_found *found,
					     const struct files_key *key, uint32_t number)
{
	if (number < IO_RECORD_FILES)
		return;
	found->key = *key;
	found->number = number;
}

static __always_inline uint32_t files_find(struct file *file)
{
	struct files_key key = { 0 };
	uint32_t *known, number;
	struct files_found *found;

	if (!file)
		return IO_RECORD_NO_FILE;
	files_key(file, &key);
	found = files_found_at(&key);
	if (!found)
		return IO_RECORD_UNTOLD;
	if (found->number && files_is_key(&found->key, &key))
		return found->number;
	known = bpf_map_lookup_elem(&file_numbers, &key);
	number = known ? *known : files_add(file, &key, FILES_ALONE);
	files_note_found(found, &key, number);
	return number;
}

/* The number of what a descriptor of the current thread is of.  Not static: verified by
 * itself, once. */
__noinline uint32_t files_number(uint32_t fd)
{
	return files_find(files_open(bpf_get_current_task_btf(), fd));
}

/* Of a struct file that somebody holds, 0: nobody does. */
__noinline uint32_t files_number_of(uint64_t file)
{
	return files_find((void *)file);
}

#endif
