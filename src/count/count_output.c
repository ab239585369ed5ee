/* SPDX-License-Identifier: Apache-2.0 */
#include "count/count_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "bare/sys.h"
#include "count/engine.h"
#include "count/fatal.h"
#include "count/program_memory.h"
#include "count/put.h"
#include "count/reserve.h"

#define PREFIX_MAX     4096
#define PATH_MAX_BYTES (PREFIX_MAX + 3 * (PUT_NUMBER_MAX + 1) + 1)

/* What is made memory at a time: of blocks, and of the other tables. */
#define READY_BYTES 0x10000u
#define FEW_BYTES   0x4000u
#define PAGE_BYTES  0x1000u

#ifndef MADV_POPULATE_WRITE /* kernel 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

/* Who shares its parent's tables would soon meet the end of what is left otherwise, and
 * perhaps while it has blocked the signal that tells of it. */
#define CHILD_BYTES 0x100000u

/* Of more code the engine does not rest in the process: it has some 400 bytes of memory
 * for each. */
#define KEPT_BLOCKS_MAX 0x20000u

/* Soon full, to try what comes then. */
#define SMALL_BLOCKS 1500

static uint8_t *file;
static struct count_file_header *header;
static char prefix[PREFIX_MAX];
static bool is_memory; /* there is no file, or was no room in it */
static uint64_t images_ready, blocks_ready, pairs_ready, returns_ready,
	extras_ready;		/* up to there they are memory */
static unsigned n_before, part; /* programs of this process; files of this one */
static struct count_file_id id; /* of the file that was created last */

static int create_part(char path[PATH_MAX_BYTES])
{
	char *end = put_text(put_text(path, prefix), ".");

	end = put_text(put_number(end, (unsigned)sys_getpid()), ".");
	end = put_number(end, n_before);
	if (part)
		end = put_number(put_text(end, "."), part);
	*end = 0;
	return sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* The header's first byte, as long as there is no other. */
static bool has_room(int fd)
{
	return sys_call(SYS_write, fd, "", 1, 0, 0, 0) == 1;
}

/* A signal would tell of a limit that is lower. */
static bool make_long(int fd, bool *ret_is_full)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit was = none, higher;
	bool is_long;

	sys_rlimit(RLIMIT_FSIZE, NULL, &was);
	higher = (struct rlimit){ was.rlim_max, was.rlim_max };
	if (was.rlim_max < COUNT_FILE_BYTES && sys_rlimit(RLIMIT_FSIZE, &none, NULL) < 0)
		return false;
	if (was.rlim_max >= COUNT_FILE_BYTES)
		sys_rlimit(RLIMIT_FSIZE, &higher, NULL);
	is_long = sys_call(SYS_ftruncate, fd, COUNT_FILE_BYTES, 0, 0, 0, 0) == 0;
	*ret_is_full = is_long && !has_room(fd);
	sys_rlimit(RLIMIT_FSIZE, &was, NULL);
	return is_long && !*ret_is_full;
}

/* Instead of a descriptor: there is no room, and the file says so.  No error's. */
#define LEFT_MARK (-4096)

/* The reader sees that it should have been; its pages are for others.  False: that cannot
 * be done.  Who has it mapped is ended by touching that. */
static bool leave_mark(int fd)
{
	return sys_call(SYS_ftruncate, fd, 0, 0, 0, 0, 0) == 0 &&
	       sys_call(SYS_ftruncate, fd, COUNT_FILE_FULL_BYTES, 0, 0, 0, 0) == 0;
}

/* A process has one for each program that it executes, or several.  Negative: it cannot
 * be. */
static int create(bool is_next, bool leaves_mark)
{
	char path[PATH_MAX_BYTES];
	bool is_full = false;
	int fd;

	if (engine.is_confined)
		return -EPERM; /* to try could be the end */
	part = is_next ? part + 1 : 0;
	n_before = is_next ? n_before : 0;
	while ((fd = create_part(path)) == -EEXIST && !is_next)
		n_before++;
	id = (struct count_file_id){ 0, (uint32_t)sys_getpid(), n_before, part, 0 };
	if (fd >= 0)
		id.time_ns = sys_clock_ns(CLOCK_MONOTONIC) + 1;
	if (fd < 0 || make_long(fd, &is_full))
		return fd;
	leaves_mark = leaves_mark && is_full && leave_mark(fd);
	if (!leaves_mark)
		sys_unlink(path);
	sys_close(fd);
	return leaves_mark ? LEFT_MARK : -ENOSPC;
}

static bool has_room_for_child(int fd)
{
	struct statfs s;

	return sys_call(SYS_fstatfs, fd, &s, 0, 0, 0, 0) < 0 ||
	       s.f_bavail * (uint64_t)s.f_bsize >= CHILD_BYTES;
}

/* As create(). */
static int create_for_child(void)
{
	int fd = create(false, true);
	bool is_marked;

	if (fd < 0 || has_room_for_child(fd))
		return fd;
	is_marked = leave_mark(fd);
	sys_close(fd);
	return is_marked ? LEFT_MARK : -ENOSPC;
}

/* Without a file what is counted has nowhere to go, and the program goes on.  Shared in
 * any case, for private memory that can be written is limited (RLIMIT_DATA). */
static bool try_map(uint8_t *at, uint64_t bytes, int fd, uint64_t off)
{
	int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0);
	long p = !bytes ? 0
			: sys_call(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
				   flags | MAP_NORESERVE | MAP_FIXED, fd, off);

	/* Nothing is there to be read ahead, and file systems make pages of it. */
	if (bytes && p > 0)
		reserve_advise(at, bytes, MADV_RANDOM);
	return p >= 0 || p <= -4096;
}

static void map(uint8_t *at, uint64_t bytes, int fd, uint64_t off)
{
	if (!try_map(at, bytes, fd, off))
		fatal("cannot map the file of counts");
}

/* Many pages at once are cheaper than a fault for each.  False: the file system is full,
 * and who touched them would be ended.  Kernels that do not know how, and filters of the
 * program's, leave it to faults. */
static bool make_ready(const void *from, uint64_t bytes)
{
	uint64_t start = (uint64_t)from & -(uint64_t)PAGE_BYTES;

	return is_memory || engine.is_confined ||
	       sys_call(SYS_madvise, start, (uint64_t)from + bytes - start,
			MADV_POPULATE_WRITE, 0, 0, 0) != -EFAULT;
}

/* Filters of calls may forbid to ask. */
static uint64_t find_namespace(void)
{
	struct stat st;

	return !program_memory_is_believed() && !engine.is_confined &&
			       sys_call(SYS_stat, "/proc/self/ns/pid", &st, 0, 0, 0, 0) ==
				       0
		       ? st.st_ino
		       : 0;
}

static void begin_header(struct count_file_header *h, uint32_t parent_pid)
{
	h->version = COUNT_FILE_VERSION;
	h->id = is_memory ? (struct count_file_id){ 0 } : id;
	h->pid_namespace = find_namespace();
	h->pid = (uint32_t)sys_getpid();
	h->parent_pid = parent_pid;
	__atomic_store_n(&h->magic, COUNT_FILE_MAGIC, __ATOMIC_RELEASE);
}

void count_output_create(const char *path, bool may_be_lost)
{
	int fd;

	if (strlen(path) >= PREFIX_MAX)
		fatal("the path of the file of counts is too long");
	memcpy(prefix, path, strlen(path) + 1);
	fd = create(false, true);
	if (fd < 0 && !may_be_lost)
		fatal("cannot create the file of counts");
	file = reserve_space(COUNT_FILE_BYTES);
	map(file, COUNT_FILE_BYTES, fd, 0);
	if (fd >= 0)
		sys_close(fd);
	is_memory = fd < 0;
	header = (struct count_file_header *)file;
	header->n_counters = 1;
	header->n_blocks = 1; /* none has number 0 */
	header->n_nests = 1;
	begin_header(header, (uint32_t)sys_getppid());
}

void count_output_name(const char *name)
{
	for (unsigned i = 0; i < COUNT_FILE_NAME_BYTES - 1 && name[i]; i++)
		header->name[i] = name[i];
}

void count_output_before_fork(struct count_file_header *now)
{
	header->n_forks++;
	*now = *header;
}

void count_output_fail_to_fork(void)
{
	header->n_forks--;
}

static bool copy(uint8_t *to, const uint8_t *from, uint64_t off, uint64_t bytes)
{
	if (bytes && !make_ready(to + off, bytes))
		return false;
	memcpy(to + off, from + off, bytes);
	return true;
}

/* All but the header, which says that they are there.  No block has number 0: before the
 * first one is written it is a hole, and a full file system ends who reads that. */
static bool copy_tables(uint8_t *to, const uint8_t *from,
			const struct count_file_header *h)
{
	return make_ready(to, sizeof(*h)) &&
	       copy(to, from, COUNT_FILE_IMAGES_OFF, h->images_bytes) &&
	       copy(to, from, COUNT_FILE_BLOCKS_OFF + sizeof(struct count_file_block),
		    (h->n_blocks - 1) * sizeof(struct count_file_block)) &&
	       copy(to, from, COUNT_FILE_PAIRS_OFF,
		    h->n_pairs * sizeof(struct count_file_pair)) &&
	       copy(to, from, COUNT_FILE_RETURNS_OFF,
		    h->n_returns * sizeof(struct count_file_return));
}

/* To memory, of which there is always enough. */
static void copy_all(uint8_t *to, const uint8_t *from)
{
	const struct count_file_header *h = (const struct count_file_header *)from;

	copy_tables(to, from, h);
	copy(to, from, COUNT_FILE_EXTRAS_OFF,
	     h->n_extras * sizeof(struct count_file_extra));
	memcpy(to, from, sizeof(*h));
}

/* What is known to be memory may be another's from now on. */
static void forget_ready(void)
{
	images_ready = blocks_ready = pairs_ready = returns_ready = extras_ready = 0;
}

/* In place of the file, or what was there.  A process with nearly as many mappings as it
 * may have, or a filter of its calls, cannot move them; those of a file are in it. */
static void move_tables(uint8_t *tables, int fd)
{
	if (sys_call(SYS_mremap, tables, COUNT_FILE_COUNTERS_OFF, COUNT_FILE_COUNTERS_OFF,
		     MREMAP_MAYMOVE | MREMAP_FIXED, file, 0) != (long)file) {
		map(file, COUNT_FILE_COUNTERS_OFF, fd, 0);
		if (fd < 0)
			copy_all(file, tables);
	}
	reserve_release(tables, COUNT_FILE_COUNTERS_OFF);
	forget_ready();
}

/* Beyond what was, of a child: nothing is its own yet but the code. */
static void begin_child(struct count_file_header *h, const struct count_file_header *was)
{
	*h = *was;
	h->magic = h->n_extras = 0;
	h->n_lost = h->is_cut = h->n_forks = h->depth = 0;
	h->base = (struct count_file_base){ 0 };
}

/* Where tables are, the last one's end, and as much of them as is not the child's own. */
enum { N_TABLES = 5 };

struct share {
	uint64_t offs[N_TABLES + 1];
	uint64_t bytes[N_TABLES];
};

static struct share what_is_shared(const struct count_file_header *h)
{
	return (struct share){
		{ COUNT_FILE_IMAGES_OFF, COUNT_FILE_BLOCKS_OFF, COUNT_FILE_PAIRS_OFF,
		  COUNT_FILE_RETURNS_OFF, COUNT_FILE_EXTRAS_OFF,
		  COUNT_FILE_COUNTERS_OFF },
		{ h->images_bytes,
		  h->n_blocks > 1 ? h->n_blocks * sizeof(struct count_file_block) : 0,
		  h->n_pairs * sizeof(struct count_file_pair),
		  h->n_returns * sizeof(struct count_file_return), 0 },
	};
}

/* A table's last page, which both go on to write. */
static uint64_t own_begin(const struct share *s, unsigned i)
{
	return (s->offs[i] + s->bytes[i]) & -(uint64_t)PAGE_BYTES;
}

static bool map_own(uint8_t *at, const struct share *s, int fd)
{
	bool is_done = try_map(at, COUNT_FILE_IMAGES_OFF, fd, 0);

	for (unsigned i = 0; i < N_TABLES && is_done; i++) {
		uint64_t from = own_begin(s, i);

		is_done = try_map(at + from, s->offs[i + 1] - from, fd, from);
	}
	return is_done;
}

static bool copy_own(uint8_t *to, const struct share *s)
{
	bool has_room = make_ready(to, sizeof(struct count_file_header));

	for (unsigned i = 0; i < N_TABLES && has_room; i++) {
		uint64_t from = own_begin(s, i);

		has_room = copy(to, file, from, s->offs[i] + s->bytes[i] - from);
	}
	return has_room;
}

/* What the child's file has to have, made elsewhere: so there will be as many mappings
 * and pages as it takes.  False: there are not. */
static bool make_own(int fd, const struct share *s, const struct count_file_header *was)
{
	uint8_t *tables = reserve_space(COUNT_FILE_COUNTERS_OFF);
	struct count_file_header *h = (struct count_file_header *)tables;
	bool is_made = map_own(tables, s, fd) && copy_own(tables, s);

	if (is_made) {
		begin_child(h, was);
		h->depth = was->depth + 1;
		h->base = (struct count_file_base){ was->id, was->images_bytes,
						    was->n_blocks, was->n_pairs,
						    was->n_returns };
	}
	reserve_release(tables, COUNT_FILE_COUNTERS_OFF);
	return is_made;
}

/* The parent's pages stay where they are whole.  False: nothing has changed. */
static bool share_tables(int fd, const struct count_file_header *was)
{
	struct share s = what_is_shared(was);

	if (fd < 0 || is_memory || was->depth == COUNT_FILE_DEPTH_MAX ||
	    !make_own(fd, &s, was))
		return false;
	if (!map_own(file, &s, fd))
		fatal("cannot map the file of counts");
	forget_ready();
	begin_header(header, was->pid);
	return true;
}

/* All of the tables, as they were: the parent goes on with them.  In the file, unless
 * there is none or no room in it; returns which. */
static int copy_into(int fd, const struct count_file_header *was)
{
	uint8_t *tables = reserve_space(COUNT_FILE_COUNTERS_OFF);
	struct count_file_header *h = (struct count_file_header *)tables;
	bool is_told = fd == LEFT_MARK;

	is_memory = fd < 0;
	map(tables, COUNT_FILE_COUNTERS_OFF, fd, 0);
	if (!copy_tables(tables, file, was)) {
		map(tables, COUNT_FILE_COUNTERS_OFF, -1, 0);
		is_memory = true;
		is_told = leave_mark(fd);
		sys_close(fd);
		fd = -1;
		copy_tables(tables, file, was);
	}
	if (fd < 0 && !is_told)
		header->n_lost++; /* the parent's */
	begin_child(h, was);
	h->base.id = was->id; /* who waits for children has met this one */
	move_tables(tables, fd);
	begin_header(header, was->pid);
	return fd;
}

static void give_up(void);

/* The engine itself writes the first with all signals blocked: nothing would come of a
 * fault that there is no room for. */
static void ready_counters(uint8_t *thread)
{
	if (!make_ready(thread + COUNT_FILE_THREAD_SKIP, PAGE_BYTES))
		give_up();
}

void count_output_after_fork(const struct count_file_header *was, uint8_t *kept)
{
	uint64_t before = (uint64_t)(kept - file),
		 behind = before + COUNT_FILE_THREAD_BYTES;
	int fd = create_for_child();

	if (!share_tables(fd, was))
		fd = copy_into(fd, was);

	map(file + COUNT_FILE_COUNTERS_OFF, before - COUNT_FILE_COUNTERS_OFF, fd,
	    COUNT_FILE_COUNTERS_OFF);
	map(kept + COUNT_FILE_THREAD_SKIP,
	    COUNT_FILE_THREAD_BYTES - COUNT_FILE_THREAD_SKIP, fd,
	    before + COUNT_FILE_THREAD_SKIP);
	map(file + behind, COUNT_FILE_BYTES - behind, fd, behind);
	if (fd >= 0)
		sys_close(fd);
	ready_counters(kept);
}

static uint8_t *thread_at(uint32_t i)
{
	return file + COUNT_FILE_COUNTERS_OFF + i * COUNT_FILE_THREAD_BYTES;
}

static void map_counters(int fd)
{
	uint32_t n = header->n_threads;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *at = thread_at(i) + COUNT_FILE_THREAD_SKIP;

		map(at, COUNT_FILE_THREAD_BYTES - COUNT_FILE_THREAD_SKIP, fd,
		    (uint64_t)(at - file));
	}
	map(thread_at(n), COUNT_FILE_BYTES - (uint64_t)(thread_at(n) - file), fd,
	    (uint64_t)(thread_at(n) - file));
}

/* All is in memory from now on, and the file is as its process would have left it had it
 * ended here.  Others may count meanwhile, here or there. */
static void give_up(void)
{
	uint8_t *tables = reserve_space(COUNT_FILE_COUNTERS_OFF);

	/* in a turn it had no magic yet, and would tell nothing */
	header->is_cut = 1;
	__atomic_store_n(&header->magic, COUNT_FILE_MAGIC, __ATOMIC_RELEASE);
	is_memory = true;
	map(tables, COUNT_FILE_COUNTERS_OFF, -1, 0);
	copy_all(tables, file);
	move_tables(tables, -1);
	map_counters(-1);
}

bool count_output_survive(uint64_t addr)
{
	if (addr - (uint64_t)file >= COUNT_FILE_BYTES)
		return false;
	if (!is_memory)
		give_up();
	return true;
}

/* So that what ends at end can be written. */
static void ready(uint64_t *until, const void *from, uint64_t bytes, uint32_t step_bytes)
{
	uint64_t end = (uint64_t)from + bytes,
		 start = (uint64_t)from & -(uint64_t)step_bytes;

	if (end <= *until)
		return;
	*until = ((end + step_bytes - 1) & -(uint64_t)step_bytes) + step_bytes;
	if (!make_ready((const void *)start, *until - start))
		give_up();
}

/* Images as they were, while those that code is still in are told once more. */
static uint8_t *old_images;

static uint32_t tell_again(uint32_t image)
{
	struct count_file_image *was = (struct count_file_image *)(old_images + image);

	if (image == COUNT_FILE_NO_IMAGE)
		return image;
	/* Told: where the new one is has its place. */
	if (was->path_bytes) {
		was->inode = count_output_add_image(was, was->path);
		was->path_bytes = 0;
	}
	return (uint32_t)was->inode;
}

void count_output_turn(void (*each)(uint32_t (*tell)(uint32_t image)))
{
	struct count_file_header was = *header;
	/* once: to what there was no room for more is added */
	int fd = create(true, !is_memory);

	header->n_lost += fd < 0;
	is_memory = fd < 0;
	old_images = reserve(was.images_bytes);
	memcpy(old_images, file + COUNT_FILE_IMAGES_OFF, was.images_bytes);
	map_counters(fd);
	map(file, COUNT_FILE_COUNTERS_OFF, fd, 0);
	if (fd >= 0)
		sys_close(fd);
	was.magic = 0; /* who is killed here has nothing in it */
	*header = was;
	header->n_lost = header->is_cut = header->n_forks = header->depth = 0;
	header->base = (struct count_file_base){ 0 };
	header->images_bytes = header->n_pairs = header->n_returns = 0;
	header->n_extras = 0;
	header->n_counters = header->n_blocks = 1;
	forget_ready();
	for (uint32_t i = 0; i < header->n_threads; i++)
		ready_counters(thread_at(i));
	for (uint32_t i = 1; i < header->n_nests; i++)
		header->nests[i].image = tell_again(header->nests[i].image);
	each(tell_again);
	reserve_release(old_images, was.images_bytes);
	begin_header(header, was.parent_pid);
}

bool count_output_has_room(bool is_small)
{
	uint32_t most = is_small ? SMALL_BLOCKS : COUNT_FILE_BLOCKS_MAX / 2;

	return header->n_blocks < most &&
	       header->n_counters < COUNT_FILE_COUNTERS_MAX / 4 * 3 &&
	       header->n_pairs < COUNT_FILE_PAIRS_MAX / 4 * 3 &&
	       header->n_returns < COUNT_FILE_RETURNS_MAX / 4 * 3 &&
	       header->images_bytes < COUNT_FILE_IMAGES_BYTES / 4 * 3;
}

void *count_output_add_thread(void)
{
	uint32_t i = header->n_threads;

	if (i == COUNT_FILE_THREADS_MAX)
		fatal("too many threads to count");
	header->n_threads = i + 1;
	ready_counters(thread_at(i));
	return thread_at(i);
}

/* Counters that are cleared at a time when the program stands. */
#define CLEAR_BYTES_MAX 0x1000000u

static uint64_t counter_bytes(void)
{
	return header->n_counters * sizeof(uint64_t);
}

bool count_output_can_go_on(void)
{
	return !is_memory && !part && header->n_blocks <= KEPT_BLOCKS_MAX &&
	       header->n_threads * counter_bytes() <= CLEAR_BYTES_MAX;
}

void count_output_again(void)
{
	header->n_lost = header->n_forks = header->n_extras = 0;
	for (uint32_t i = 0; i < header->n_threads; i++) {
		uint8_t *counters = thread_at(i) + COUNT_FILE_THREAD_SKIP;

		if (!make_ready(counters, counter_bytes()))
			fatal("no room for counts");
		memset(counters, 0, counter_bytes());
	}
}

const struct count_file_image *count_output_image(uint32_t number)
{
	return number == COUNT_FILE_NO_IMAGE
		       ? NULL
		       : (const struct count_file_image *)(file + COUNT_FILE_IMAGES_OFF +
							   number);
}

static void publish(uint32_t *n, uint32_t value)
{
	__atomic_store_n(n, value, __ATOMIC_RELEASE);
}

void count_output_add_lost(void)
{
	header->n_lost++;
}

void count_output_tell_left(void)
{
	header->is_left = 1;
}

uint32_t count_output_add_image(const struct count_file_image *image, const char *path)
{
	size_t path_bytes = path ? strlen(path) + 1 : 1;
	size_t bytes = (sizeof(*image) + path_bytes + 7) & ~(size_t)7;
	uint32_t at = header->images_bytes;
	struct count_file_image *told;

	if (bytes > COUNT_FILE_IMAGES_BYTES - at) {
		count_output_add_lost();
		return COUNT_FILE_NO_IMAGE;
	}
	told = (struct count_file_image *)(file + COUNT_FILE_IMAGES_OFF + at);
	ready(&images_ready, told, bytes, FEW_BYTES);
	/* All of it is written, or the reader would find a hole where its end begins a
	 * page. */
	memset((char *)told + bytes - 8, 0, 8);
	*told = *image;
	told->path_bytes = (uint32_t)path_bytes;
	memcpy(told->path, path ? path : "", path_bytes);
	publish(&header->images_bytes, at + (uint32_t)bytes);
	return at;
}

uint32_t count_output_add_block(struct count_file_block **ret)
{
	uint32_t i = header->n_blocks;

	if (i == COUNT_FILE_BLOCKS_MAX)
		fatal("too much code to count");
	*ret = (struct count_file_block *)(file + COUNT_FILE_BLOCKS_OFF) + i;
	ready(&blocks_ready, *ret, sizeof(**ret), READY_BYTES);
	return i;
}

void count_output_publish_block(void)
{
	publish(&header->n_blocks, header->n_blocks + 1);
}

const struct count_file_block *count_output_block(uint32_t number)
{
	return (const struct count_file_block *)(file + COUNT_FILE_BLOCKS_OFF) + number;
}

uint32_t count_output_add_counter(void)
{
	if (header->n_counters == COUNT_FILE_COUNTERS_MAX)
		fatal("too much code to count");
	return header->n_counters++;
}

void count_output_add_pair(uint32_t block, uint64_t target, uint32_t counter)
{
	uint32_t i = header->n_pairs;
	struct count_file_pair *p;

	if (i == COUNT_FILE_PAIRS_MAX)
		fatal("too many targets of indirect jumps");
	p = (struct count_file_pair *)(file + COUNT_FILE_PAIRS_OFF) + i;
	ready(&pairs_ready, p, sizeof(*p), FEW_BYTES);
	*p = (struct count_file_pair){ block, counter, target };
	publish(&header->n_pairs, i + 1);
}

void count_output_add_return(uint32_t block, uint32_t counter)
{
	uint32_t i = header->n_returns;
	struct count_file_return *r;

	if (i == COUNT_FILE_RETURNS_MAX)
		fatal("too much code to count");
	r = (struct count_file_return *)(file + COUNT_FILE_RETURNS_OFF) + i;
	ready(&returns_ready, r, sizeof(*r), FEW_BYTES);
	*r = (struct count_file_return){ block, counter };
	publish(&header->n_returns, i + 1);
}

static bool is_same(const struct count_file_extra *a, const struct count_file_extra *b)
{
	return a->addr == b->addr && a->block == b->block && a->kind == b->kind &&
	       a->nest == b->nest;
}

/* Often the same as lately. */
#define LOOK_BACK 16

void count_output_add_nest(const struct count_file_nest *n)
{
	header->nests[header->n_nests] = *n;
	publish(&header->n_nests, header->n_nests + 1);
}

/* Within a block it is known. */
static uint16_t nest_of(uint32_t block, uint32_t nest)
{
	return (uint16_t)(block ? count_output_block(block)->nest : nest);
}

void count_output_add_extra(enum count_extra kind, uint64_t addr, uint32_t block,
			    uint32_t nest, int64_t n)
{
	struct count_file_extra *all =
		(struct count_file_extra *)(file + COUNT_FILE_EXTRAS_OFF);
	struct count_file_extra x = {
		.addr = addr,
		.block = block,
		.kind = (uint16_t)kind,
		.nest = nest_of(block, nest),
		.n = (uint64_t)n,
	};
	uint32_t end = header->n_extras;

	for (uint32_t i = end; i > 0 && i + LOOK_BACK > end; i--)
		if (is_same(&all[i - 1], &x)) {
			all[i - 1].n += (uint64_t)n;
			return;
		}
	if (end == COUNT_FILE_EXTRAS_MAX) {
		count_output_add_lost();
		return;
	}
	ready(&extras_ready, &all[end], sizeof(x), FEW_BYTES);
	all[end] = x;
	publish(&header->n_extras, end + 1);
}
