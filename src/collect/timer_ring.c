/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_ring.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

_Static_assert(sizeof(struct wire_tracer_waiting) == WIRE_SAMPLER_WAITING_BYTES,
	       "they lie one behind the other");

struct timer_ring {
	int fd;
	bool is_claimed; /* of the control file, whose fd is borrowed */
	uint32_t claim;
	off_t base; /* of the header in the file */
	struct wire_sampler_ring header;
	uint64_t bytes, tail;
	uint64_t damaged;
	struct {
		uint64_t tail, since_ns, n_dropped;
	} stall; /* since that tail is the tail */
	struct timer_record_stacks stacks;
	uint8_t *piece;	      /* NULL: not needed yet */
	uint64_t piece_bytes; /* PIECE_BYTES at most */
};

/* What is copied at a time: it stays in the cache until it is read.  Most processes write
 * less than a page before they end. */
#define PIECE_BYTES	(UINT64_C(256) << 10)
#define PIECE_BYTES_MIN UINT64_C(2048)
/* Who writes a record may be stopped in the middle, but not for so long. */
#define PATIENCE_NS UINT64_C(5000000000)

/* Size of the committed record at the front of bytes, 0 when there is none. */
static size_t committed(const uint8_t *bytes, size_t size, uint64_t position,
			uint64_t *ret_word)
{
	uint32_t payload;

	if (size < 8)
		return 0;
	memcpy(ret_word, bytes, 8);
	payload = *ret_word >> 32 & 0xffff;
	if (!(*ret_word >> 48) || /* no kind: memory that nobody wrote yet */
	    *ret_word !=
		    wire_sampler_commit(position, payload, *ret_word >> 48 & 0xffff) ||
	    payload > WIRE_SAMPLER_PAYLOAD_MAX ||
	    wire_sampler_record_bytes(payload) > size)
		return 0;
	return wire_sampler_record_bytes(payload);
}

size_t timer_ring_walk(struct timer_record_stacks *stacks, const uint8_t *bytes,
		       size_t size, uint64_t position, bool is_final, timer_ring_fn *fn,
		       void *ctx, uint64_t *damaged)
{
	struct timer_record record; /* each is filled as far as its kind goes */
	size_t at = 0;

	while (at + 8 <= size) {
		uint64_t word;
		size_t n = committed(bytes + at, size - at, position + at, &word);

		if (!n && !is_final)
			break;
		if (n && timer_record_parse(stacks, word >> 48 & 0xffff, bytes + at + 8,
					    word >> 32 & 0xffff, &record, NULL) == 0)
			fn(ctx, &record);
		else if (n)
			++*damaged;
		at += n ? n : 8;
	}
	return at;
}

static int read_header(struct timer_ring *r, struct err *e)
{
	ssize_t n = pread(r->fd, &r->header, sizeof(r->header), r->base);

	if (n < 0)
		return err_os(e, "cannot read a ring");
	if (n != sizeof(r->header))
		return err_set(e, ERR_FORMAT, "a ring was cut short");
	return 0;
}

static int check_header(struct timer_ring *r, uint64_t file_bytes, struct err *e)
{
	uint64_t bytes = r->header.ring_bytes;

	if (!r->header.magic)
		return err_set(e, ERR_UNSUPPORTED, "a ring is not ready");
	if (r->header.magic != WIRE_SAMPLER_MAGIC ||
	    r->header.version != WIRE_SAMPLER_VERSION || bytes < WIRE_SAMPLER_RING_MIN ||
	    bytes > WIRE_SAMPLER_RING_MAX || (bytes & (bytes - 1)) ||
	    file_bytes < WIRE_SAMPLER_RECORDS_AT + bytes)
		return err_set(e, ERR_FORMAT, "not a ring");
	r->bytes = bytes;
	return 0;
}

int timer_ring_open(int directory, const char *name, uid_t owner, struct timer_ring **ret,
		    struct err *e)
{
	own(timer_ring_freep) struct timer_ring *r = xcalloc(1, sizeof(*r));
	struct stat st;
	int rc;

	r->fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st) < 0)
		return err_os(e, "cannot open ring '%s'", name);
	/* Its pages may not all be there before the target has set the size. */
	if (st.st_size == 0)
		return err_set(e, ERR_UNSUPPORTED, "a ring is not ready");
	rc = read_header(r, e);
	if (rc == 0 && (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != owner))
		return err_set(e, ERR_FORMAT, "not a ring of this recording");
	if (rc == 0)
		rc = check_header(r, (uint64_t)st.st_size, e);
	if (rc < 0)
		return rc;
	*ret = steal(&r);
	return 0;
}

static struct timer_ring claimed(int control_fd, uint32_t i, uint64_t ring_bytes)
{
	return (struct timer_ring){ .fd = control_fd,
				    .is_claimed = true,
				    .claim = i,
				    .bytes = ring_bytes,
				    .base = (off_t)wire_sampler_ring_at(i, ring_bytes) };
}

int timer_ring_open_claimed(int control_fd, uint32_t i, uint64_t ring_bytes,
			    struct timer_ring **ret, struct err *e)
{
	own(timer_ring_freep) struct timer_ring *r = xcalloc(1, sizeof(*r));
	int rc;

	*r = claimed(control_fd, i, ring_bytes);
	rc = read_header(r, e);
	if (rc == 0)
		rc = check_header(r, WIRE_SAMPLER_RECORDS_AT + ring_bytes, e);
	if (rc < 0)
		return rc;
	r->tail = r->header.tail;
	*ret = steal(&r);
	return 0;
}

/* Positions go on where the last owner may have written. */
void timer_ring_give_back(struct timer_ring *r)
{
	struct wire_sampler_ring clean = { 0 };
	uint32_t nobody = 0;

	if (!r->is_claimed)
		return;
	clean.head = clean.tail = (r->header.head + r->bytes) & ~UINT64_C(7);
	if (pwrite(r->fd, &clean, sizeof(clean), r->base) == sizeof(clean) &&
	    pwrite(r->fd, &nobody, sizeof(nobody),
		   (off_t)(offsetof(struct wire_sampler_control, claims) +
			   r->claim * sizeof(nobody))) < 0)
		return; /* it stays taken */
}

void timer_ring_reclaim(int control_fd, uint32_t i, uint64_t ring_bytes)
{
	struct timer_ring r = claimed(control_fd, i, ring_bytes);

	if (read_header(&r, NULL) == 0)
		timer_ring_give_back(&r);
}

void timer_ring_free(struct timer_ring *r)
{
	if (!r)
		return;
	if (r->fd >= 0 && !r->is_claimed)
		close(r->fd);
	timer_record_stacks_fini(&r->stacks);
	free(r->piece);
	free(r);
}

void timer_ring_freep(struct timer_ring **r)
{
	timer_ring_free(*r);
}

/* [tail, tail + size) in one piece. */
static int copy_out(struct timer_ring *r, uint8_t *to, size_t size, struct err *e)
{
	uint64_t off = r->tail & (r->bytes - 1);
	size_t first = size < r->bytes - off ? size : (size_t)(r->bytes - off);

	off_t data = r->base + WIRE_SAMPLER_RECORDS_AT;

	if (pread(r->fd, to, first, data + (off_t)off) != (ssize_t)first ||
	    (size > first &&
	     pread(r->fd, to + first, size - first, data) != (ssize_t)(size - first)))
		return err_set(e, ERR_FORMAT, "a ring was cut short");
	return 0;
}

/* What is in it is of no use any more. */
static void make_piece(struct timer_ring *r, uint64_t size)
{
	uint64_t bytes = r->piece_bytes ? r->piece_bytes : PIECE_BYTES_MIN;

	if (size <= r->piece_bytes)
		return;
	while (bytes < size)
		bytes *= 2;
	free(r->piece);
	r->piece = xrealloc(NULL, 1, bytes);
	r->piece_bytes = bytes;
}

/* Up to head, or what fits.  Returns how many bytes are done with, 0: no more. */
static int64_t drain_piece(struct timer_ring *r, bool is_final, timer_ring_fn *fn,
			   void *ctx, struct err *e)
{
	uint64_t size = r->header.head - r->tail;
	bool is_last = size <= PIECE_BYTES;
	size_t done;
	int rc;

	if (!is_last)
		size = PIECE_BYTES;
	make_piece(r, size);
	rc = copy_out(r, r->piece, (size_t)size, e);
	if (rc < 0)
		return rc;
	done = timer_ring_walk(&r->stacks, r->piece, (size_t)size, r->tail,
			       is_final && is_last, fn, ctx, &r->damaged);
	/* Nobody will commit what is in the way of the rest. */
	if (!done && is_final)
		done = 8;
	r->tail += done;
	return (int64_t)done;
}

/* Whoever was to commit what is in the way never will: a handler jumped out of him, or he
 * was cancelled.  As long as nothing is lost there is time. */
static bool is_given_up(struct timer_ring *r, uint64_t now_ns)
{
	uint64_t n_dropped = r->header.n_dropped;

	if (r->stall.tail != r->tail || !r->stall.since_ns) {
		r->stall.tail = r->tail;
		r->stall.since_ns = now_ns;
		r->stall.n_dropped = n_dropped;
	}
	return n_dropped > r->stall.n_dropped && now_ns - r->stall.since_ns > PATIENCE_NS;
}

/* From a record that nobody will commit, in the piece at hand, to the next one. */
static int64_t pass_over(struct timer_ring *r)
{
	uint64_t size = r->header.head - r->tail, at = 8, word;

	if (size > PIECE_BYTES)
		size = PIECE_BYTES;
	while (at < size &&
	       !committed(r->piece + at, (size_t)(size - at), r->tail + at, &word))
		at += 8;
	r->damaged++;
	r->tail += at;
	return (int64_t)at;
}

static int give_room(const struct timer_ring *r, struct err *e)
{
	if (pwrite(r->fd, &r->tail, sizeof(r->tail),
		   r->base + (off_t)offsetof(struct wire_sampler_ring, tail)) !=
	    sizeof(r->tail))
		return err_os(e, "cannot write a ring");
	return 0;
}

int timer_ring_drain(struct timer_ring *r, uint64_t now_ns, bool is_final,
		     timer_ring_fn *fn, void *ctx, struct err *e)
{
	int rc = read_header(r, e);
	uint64_t size = r->header.head - r->tail;

	if (rc < 0)
		return rc;
	if (size > r->bytes || size % 8)
		return err_set(e, ERR_FORMAT, "a ring was overwritten");
	/* What the records say was stored before the head that promised them. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	while (r->tail != r->header.head) {
		int64_t done = drain_piece(r, is_final, fn, ctx, e);

		if (done < 0)
			return (int)done;
		if (!done && is_given_up(r, now_ns))
			done = pass_over(r);
		if (!done)
			return 0;
		/* When final nobody needs the room. */
		rc = is_final ? 0 : give_room(r, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

uint32_t timer_ring_claim(const struct timer_ring *r)
{
	return r->is_claimed ? r->claim : WIRE_SAMPLER_N_RINGS_MAX;
}

const struct wire_sampler_ring *timer_ring_header(const struct timer_ring *r)
{
	return &r->header;
}

uint32_t timer_ring_n_waiting(const struct timer_ring *r)
{
	return r->header.n_waiting < WIRE_SAMPLER_N_WAITING ? r->header.n_waiting
							    : WIRE_SAMPLER_N_WAITING;
}

static bool read_waiting(const struct timer_ring *r, uint32_t i,
			 struct wire_tracer_waiting *ret)
{
	return pread(r->fd, ret, sizeof(*ret),
		     r->base + WIRE_SAMPLER_PAGE + (off_t)i * (off_t)sizeof(*ret)) ==
	       sizeof(*ret);
}

/* A thread may be writing. */
bool timer_ring_waiting(const struct timer_ring *r, uint32_t i,
			struct wire_tracer_waiting *ret)
{
	struct wire_tracer_waiting again;

	return i < WIRE_SAMPLER_N_WAITING && read_waiting(r, i, ret) &&
	       read_waiting(r, i, &again) && memcmp(ret, &again, sizeof(again)) == 0 &&
	       ret->since_ns && ret->ring_ns == r->header.start_ns;
}

uint64_t timer_ring_damaged(const struct timer_ring *r)
{
	return r->damaged;
}

void timer_ring_request(struct timer_ring *r, uint32_t what)
{
	/* A target that cannot be written to any more needs no request. */
	if (pwrite(r->fd, &what, sizeof(what),
		   r->base + (off_t)offsetof(struct wire_sampler_ring, request)) < 0)
		return;
}
