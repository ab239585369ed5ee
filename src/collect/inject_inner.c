/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_inner.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "decode/x86_op.h"
#include "host/proc_maps.h"
#include "unwind/eh_hdr.h"

#define CALL	    INJECT_CALL_posix_spawn
#define OPCODE	    0xe8
#define CODE_MAX    (UINT64_C(64) << 20)
#define INDEX_MAX   (UINT64_C(16) << 20)
#define N_PHDRS_MAX 64
#define N_CALLS_MAX 64

/* jmp *2(%rip), and what traps; then where to. */
static const uint8_t jump_code[8] = { 0xff, 0x25, 0x02, 0, 0, 0, 0x0f, 0x0b };
#define JUMP_BYTES 16
/* Empty before it, so that it is no end of something. */
#define EMPTY_BYTES 48

void inject_inner_fini(struct inject_inner *i)
{
	vec_fini(&i->at);
}

/* The object that has the call. */
struct object {
	uint64_t header; /* where it is mapped from its beginning on; 0: nowhere */
	uint64_t start, end;
	struct eh_hdr functions;
	struct buf code, index;
};

static void object_fini(struct object *o)
{
	buf_fini(&o->code);
	buf_fini(&o->index);
}

static bool find_code(const char *maps, const char *end, uint64_t call,
		      struct proc_map *ret)
{
	while (proc_maps_next(&maps, end, ret))
		if (call >= ret->start && call < ret->end)
			return ret->is_exec && !ret->is_writable && !ret->is_shared &&
			       ret->inode && ret->end - ret->start <= CODE_MAX;
	return false;
}

/* The last one of the same file before its code. */
static uint64_t find_header(const char *maps, const char *end,
			    const struct proc_map *code)
{
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));
	uint64_t header = 0;

	while (proc_maps_next(&maps, end, map))
		if (map->inode == code->inode && map->dev_major == code->dev_major &&
		    map->dev_minor == code->dev_minor && !map->file_offset &&
		    map->start <= code->start)
			header = map->start;
	return header;
}

static bool find_object(const char *maps, size_t bytes, uint64_t call, struct object *ret)
{
	own(freep) struct proc_map *code = xcalloc(1, sizeof(*code));
	const char *end = maps + bytes;

	if (!call || !find_code(maps, end, call, code))
		return false;
	ret->header = find_header(maps, end, code);
	ret->start = code->start;
	ret->end = code->end;
	return ret->header != 0;
}

static bool read_into(const struct inject_memory *m, uint64_t at, uint64_t bytes,
		      struct buf *ret)
{
	buf_clear(ret);
	if (!inject_memory_read(m, at, buf_reserve(ret, bytes), bytes))
		return false;
	ret->size = bytes;
	return true;
}

/* The index of its functions. */
static bool read_functions(const struct inject_memory *m, struct object *o)
{
	Elf64_Ehdr h;
	Elf64_Phdr p, index = { 0 };
	uint64_t bias = 0;

	if (!inject_memory_read(m, o->header, &h, sizeof(h)) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_machine != EM_X86_64)
		return false;
	for (unsigned i = 0; i < h.e_phnum && i < N_PHDRS_MAX; i++) {
		if (!inject_memory_read(m, o->header + h.e_phoff + i * sizeof(p), &p,
					sizeof(p)))
			return false;
		if (p.p_type == PT_GNU_EH_FRAME)
			index = p;
		if (p.p_type == PT_LOAD && !p.p_offset)
			bias = o->header - p.p_vaddr;
	}
	return index.p_memsz && index.p_memsz <= INDEX_MAX &&
	       read_into(m, bias + index.p_vaddr, index.p_memsz, &o->index) &&
	       eh_hdr_parse(o->index.data, o->index.size, bias + index.p_vaddr,
			    &o->functions) &&
	       eh_hdr_is_sorted(&o->functions);
}

static int32_t read_word(const uint8_t *at)
{
	int32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static bool is_empty(const uint8_t *bytes, size_t n)
{
	while (n && !bytes[n - 1])
		n--;
	return n == 0;
}

/* Room at the end of the code, or one of an earlier time. */
static bool has_jump(const struct object *o)
{
	const uint8_t *end = o->code.data + o->code.size;

	return o->code.size > EMPTY_BYTES + JUMP_BYTES &&
	       is_empty(end - JUMP_BYTES - EMPTY_BYTES, EMPTY_BYTES) &&
	       (is_empty(end - JUMP_BYTES, JUMP_BYTES) ||
		!memcmp(end - JUMP_BYTES, jump_code, sizeof(jump_code)));
}

/* Do the instructions from the procedure's beginning on lead there? */
static bool is_instruction(const struct object *o, uint64_t at)
{
	const uint8_t *code = o->code.data;
	uint64_t pc = 0;
	size_t i;

	if (eh_hdr_find(&o->functions, at, &i))
		pc = eh_hdr_start(&o->functions, i);
	while (pc >= o->start && pc < at) {
		struct x86_op op;

		if (!x86_op_read(code + (pc - o->start), &op))
			return false;
		pc += op.size;
	}
	return pc == at;
}

static void find_calls(struct inject_inner *i, const struct object *o)
{
	const uint8_t *code = o->code.data, *end = code + o->code.size - X86_OP_MAX_BYTES;

	for (const uint8_t *at = code; at < end && i->at.n < N_CALLS_MAX; at++) {
		uint64_t word = o->start + (uint64_t)(at - code) + 1, to;

		if (*at != OPCODE)
			continue;
		to = word + 4 + (uint64_t)(int64_t)read_word(at + 1);
		if ((to == i->call || to == i->jump) && is_instruction(o, word - 1))
			*vec_push(&i->at) = word;
	}
}

void inject_inner_find(struct inject_inner *i, const struct inject_calls *c,
		       const struct inject_memory *m, const char *maps, size_t maps_bytes)
{
	own(object_fini) struct object o = { 0 };
	uint64_t call = c->of[CALL].address;

	if (!c->wrapper[CALL] || !find_object(maps, maps_bytes, call, &o)) {
		vec_clear(&i->at);
		i->call = 0;
		return;
	}
	if (i->call == call && i->start == o.start && i->end == o.end)
		return;
	vec_clear(&i->at);
	i->call = call;
	i->start = o.start;
	i->end = o.end;
	i->jump = o.end - JUMP_BYTES;
	if (read_into(m, o.start, o.end - o.start, &o.code) && has_jump(&o) &&
	    read_functions(m, &o))
		find_calls(i, &o);
}

/* Where a call goes; 0: it is none any more. */
static uint64_t target(const struct inject_memory *m, uint64_t at)
{
	uint8_t code[1 + sizeof(int32_t)];

	if (!inject_memory_read(m, at - 1, code, sizeof(code)) || code[0] != OPCODE)
		return 0;
	return at + 4 + (uint64_t)(int64_t)read_word(code + 1);
}

/* What is behind the word stays as it is. */
static bool lead_to(const struct inject_memory *m, uint64_t at, uint64_t to,
		    inject_write_fn *write, void *ctx)
{
	uint32_t word = (uint32_t)(to - (at + 4));
	uint64_t value;

	if (!inject_memory_read(m, at, &value, sizeof(value)))
		return false;
	memcpy(&value, &word, sizeof(word));
	return write(ctx, at, value);
}

static uint64_t jump_target(const struct inject_inner *i, const struct inject_memory *m)
{
	uint64_t words[2], code;

	memcpy(&code, jump_code, sizeof(code));
	return inject_memory_read(m, i->jump, words, sizeof(words)) && words[0] == code
		       ? words[1]
		       : 0;
}

/* Its second word first: nobody comes by it before the first one is there. */
static bool write_jump(const struct inject_inner *i, uint64_t to, inject_write_fn *write,
		       void *ctx)
{
	uint64_t code;

	memcpy(&code, jump_code, sizeof(code));
	return write(ctx, i->jump + sizeof(code), to) && write(ctx, i->jump, code);
}

size_t inject_inner_lead(struct inject_inner *i, const struct inject_calls *c,
			 const struct inject_memory *m, inject_write_fn *write, void *ctx)
{
	uint64_t ours = c->wrapper[CALL];
	bool has_jump_of_ours = jump_target(i, m) == ours;
	size_t n = 0;

	if (!ours || !i->at.n)
		return 0;
	if (!has_jump_of_ours && write && !write_jump(i, ours, write, ctx)) {
		vec_clear(&i->at);
		return 0;
	}
	vec_each(at, &i->at) {
		uint64_t to = target(m, *at);

		n += to == i->call || (to == i->jump && !has_jump_of_ours);
		if (write && to == i->call)
			lead_to(m, *at, i->jump, write, ctx);
	}
	return n;
}

void inject_inner_lead_back(const struct inject_inner *i, const struct inject_calls *c,
			    const struct inject_memory *m, inject_write_fn *write,
			    void *ctx)
{
	if (!i->at.n || jump_target(i, m) != c->wrapper[CALL])
		return;
	vec_each(at, &i->at)
		if (target(m, *at) == i->jump)
			lead_to(m, *at, i->call, write, ctx);
}
