/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/plt.h"

#include <elf.h>
#include <string.h>

#include "base/map.h"
#include "base/reader.h"

#define STUB_BYTES 16

/* Relocations of slots: slot address -> symbol index. */
static void add_slots(struct object *o, const char *section, struct map *slots)
{
	const struct object_section *s = object_find(o, section);
	struct object_bytes bytes = object_contents(o, s);
	struct reader r = reader_over(bytes.data, bytes.size);
	bool is_64 = object_is_64(o);
	bool has_addend = s && s->type == SHT_RELA;

	while (reader_left(&r)) {
		uint64_t slot = is_64 ? reader_u64le(&r) : reader_u32le(&r);
		uint64_t info = is_64 ? reader_u64le(&r) : reader_u32le(&r);
		uint64_t symbol = is_64 ? info >> 32 : info >> 8;

		if (has_addend)
			reader_skip(&r, is_64 ? 8 : 4);
		if (!r.bad && symbol)
			*map_slot(slots, slot, NULL) = symbol;
	}
}

static const char *symbol_name(struct object *o, uint64_t index)
{
	const struct object_section *s = object_find(o, ".dynsym");
	struct object_bytes symbols = object_contents(o, s);
	struct object_bytes names =
		object_contents(o, s ? object_section(o, s->link) : NULL);
	size_t each = object_is_64(o) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct reader r = reader_over(symbols.data, symbols.size);

	if (index >= symbols.size / each)
		return NULL;
	reader_seek(&r, (size_t)index * each);

	uint32_t at = reader_u32le(&r);

	if (r.bad || at >= names.size || !memchr(names.data + at, 0, names.size - at))
		return NULL;
	return (const char *)names.data + at;
}

/* jmp *slot(%rip), perhaps behind endbr64 and with a bnd prefix. */
static bool slot_x86_64(const uint8_t *code, size_t n, uint64_t address, uint64_t got,
			uint64_t *ret)
{
	int32_t offset;

	(void)got;
	for (size_t i = 0; i + 6 <= n && i <= 6; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&offset, code + i + 2, 4);
		*ret = address + i + 6 + (uint64_t)(int64_t)offset;
		return true;
	}
	return false;
}

/* jmp *slot, or in position-independent stubs jmp *offset(%ebx) from the GOT on. */
static bool slot_i386(const uint8_t *code, size_t n, uint64_t address, uint64_t got,
		      uint64_t *ret)
{
	(void)address;
	for (size_t i = 0; i + 6 <= n && i <= 5; i++) {
		bool is_relative = code[i + 1] == 0xa3;
		uint32_t slot;

		if (code[i] != 0xff || (code[i + 1] != 0x25 && !is_relative))
			continue;
		memcpy(&slot, code + i + 2, 4);
		*ret = (uint32_t)(slot + (is_relative ? got : 0));
		return true;
	}
	return false;
}

/* adrp x16, page; ldr x17, [x16, #offset], perhaps behind bti c. */
static bool slot_aarch64(const uint8_t *code, size_t n, uint64_t address, uint64_t got,
			 uint64_t *ret)
{
	uint32_t adrp, ldr;

	(void)got;
	for (size_t i = 0; i + 8 <= n && i <= 4; i += 4) {
		memcpy(&adrp, code + i, 4);
		memcpy(&ldr, code + i + 4, 4);
		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;

		uint32_t pages = (adrp >> 3 & 0x1ffffc) | (adrp >> 29 & 3);
		int64_t delta = (int64_t)((uint64_t)pages << 43) >> 31;

		*ret = ((address + i) & ~UINT64_C(0xfff)) + (uint64_t)delta +
		       ((ldr >> 10 & 0xfff) << 3);
		return true;
	}
	return false;
}

/* The slot that the stub at an address jumps by; got is what i386 keeps in %ebx. */
typedef bool slot_fn(const uint8_t *code, size_t n, uint64_t address, uint64_t got,
		     uint64_t *ret);

static slot_fn *decoder_of(const struct object *o)
{
	static const struct {
		unsigned machine;
		slot_fn *fn;
	} decoders[] = {
		{ EM_X86_64, slot_x86_64 },
		{ EM_386, slot_i386 },
		{ EM_AARCH64, slot_aarch64 },
	};

	for (size_t i = 0; i < sizeof(decoders) / sizeof(decoders[0]); i++)
		if (decoders[i].machine == object_machine(o))
			return decoders[i].fn;
	return NULL;
}

static void add_stub(struct symtab *t, struct object *o, struct arena *names,
		     uint64_t address, size_t size, uint64_t symbol)
{
	const char *name = symbol_name(o, symbol);
	size_t n = name ? strcspn(name, "@") : 0;
	char *text;

	if (!n)
		return;
	text = arena_alloc(names, n + sizeof("@plt"));
	memcpy(text, name, n);
	strcpy(text + n, "@plt");
	symtab_add_weak(t, address, size, text);
}

/* _GLOBAL_OFFSET_TABLE_; linkers that merge the two tables keep only .got. */
static uint64_t got_address(const struct object *o)
{
	const struct object_section *s = object_find(o, ".got.plt");

	s = s ? s : object_find(o, ".got");
	return s ? s->address : 0;
}

static void add_stubs(struct symtab *t, struct object *o, struct arena *names,
		      const struct object_section *s, const struct map *slots)
{
	slot_fn *decode = decoder_of(o);
	uint64_t got = got_address(o);
	uint64_t slot;

	if (!s || !decode)
		return;

	struct object_bytes code = object_contents(o, s);
	size_t each = strcmp(s->name, ".plt.got") == 0 ? 8 : STUB_BYTES;

	/* Only .plt.got has short stubs, and only without endbr64. */
	if (each == 8 && code.size >= 8 && code.data[0] == 0xf3)
		each = STUB_BYTES;
	for (size_t at = 0; at < code.size; at += each) {
		size_t n = code.size - at < each ? code.size - at : each;
		const uint64_t *symbol;

		if (!decode(code.data + at, n, s->address + at, got, &slot))
			continue;
		symbol = map_find(slots, slot);
		if (symbol)
			add_stub(t, o, names, s->address + at, n, *symbol);
	}
}

void plt_add_symbols(struct symtab *t, struct object *o, struct arena *names)
{
	static const char *const relocations[] = { ".rela.plt", ".rel.plt", ".rela.dyn",
						   ".rel.dyn" };
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got" };
	struct map slots = { 0 };

	for (size_t i = 0; i < sizeof(relocations) / sizeof(relocations[0]); i++)
		add_slots(o, relocations[i], &slots);
	for (size_t i = 0; slots.n && i < sizeof(sections) / sizeof(sections[0]); i++)
		add_stubs(t, o, names, object_find(o, sections[i]), &slots);
	map_fini(&slots);
}
