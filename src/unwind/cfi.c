/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi.h"

#include "unwind/eh_cursor.h"

/* Where a record's content starts, and what kind it is. */
struct header {
	struct eh_cursor body; /* behind the CIE pointer */
	size_t id_off;	       /* offset of the CIE pointer */
	uint64_t id;
	bool is_64bit;
};

struct cie {
	struct cfi_fde defaults;
	bool has_augmentation_data;
};

static size_t offset_of(const struct cfi_section *s, const struct eh_cursor *c)
{
	return (size_t)(c->at - s->bytes);
}

/* False at the terminator, at the end and when the record exceeds the section. */
static bool read_header(const struct cfi_section *s, size_t off, struct header *ret,
			size_t *ret_next)
{
	if (off >= s->size)
		return false;

	struct eh_cursor c = eh_cursor_over(s->bytes + off, s->size - off, s->addr + off);
	uint64_t length = eh_cursor_u32(&c);
	bool is_64bit = length == 0xffffffff;

	if (is_64bit)
		length = eh_cursor_u64(&c);
	if (c.bad || !length || length > eh_cursor_left(&c))
		return false;
	c.end = c.at + length;
	*ret_next = offset_of(s, &c) + length;
	ret->id_off = offset_of(s, &c);
	ret->is_64bit = is_64bit;
	/* .eh_frame keeps the 4-byte id in 64-bit records, .debug_frame does not. */
	ret->id = is_64bit && s->is_debug_frame ? eh_cursor_u64(&c) : eh_cursor_u32(&c);
	ret->body = c;
	return !c.bad;
}

static bool is_cie(const struct cfi_section *s, const struct header *h)
{
	if (!s->is_debug_frame)
		return h->id == 0;
	return h->id == (h->is_64bit ? ~UINT64_C(0) : 0xffffffff);
}

/* The letters behind 'z'; unknown ones end it, their data is skipped by length. */
static void read_augmentation(struct eh_cursor *c, const char *letters, struct cie *cie)
{
	for (; *letters; letters++) {
		if (*letters == 'R') {
			cie->defaults.pointer_encoding = eh_cursor_u8(c);
		} else if (*letters == 'P') {
			uint8_t encoding = eh_cursor_u8(c);

			if (encoding != EH_OMIT)
				eh_cursor_pointer(c, encoding, 0);
		} else if (*letters == 'L') {
			eh_cursor_u8(c);
		} else if (*letters == 'S') {
			cie->defaults.is_signal_frame = true;
		} else if (*letters != 'B' && *letters != 'G') {
			return;
		}
	}
}

static const char *read_string(struct eh_cursor *c)
{
	const char *s = (const char *)c->at;

	while (!c->bad)
		if (!eh_cursor_u8(c))
			return c->bad ? "" : s;
	return "";
}

static bool read_cie(const struct cfi_section *s, size_t off, struct cie *ret)
{
	struct header h;
	size_t next;

	*ret = (struct cie){ 0 };
	if (!read_header(s, off, &h, &next) || !is_cie(s, &h))
		return false;

	struct eh_cursor *c = &h.body;
	struct cfi_fde *d = &ret->defaults;
	uint8_t version = eh_cursor_u8(c);
	const char *letters = read_string(c);

	if (version != 1 && version != 3 && version != 4)
		return false;
	if (version == 4 && (eh_cursor_u8(c) != 8 || eh_cursor_u8(c) != 0))
		return false; /* address and segment selector sizes */
	d->code_align = eh_cursor_uleb(c);
	d->data_align = eh_cursor_sleb(c);

	uint64_t ra = version == 1 ? eh_cursor_u8(c) : eh_cursor_uleb(c);

	if (c->bad || ra >= UNWIND_N_REGS)
		return false;
	d->ra = (uint8_t)ra;
	ret->has_augmentation_data = letters[0] == 'z';
	if (ret->has_augmentation_data) {
		uint64_t size = eh_cursor_uleb(c);
		struct eh_cursor data = *c;

		if (!eh_cursor_bytes(c, size) && size)
			return false;
		data.end = c->at;
		read_augmentation(&data, letters + 1, ret);
		if (data.bad)
			return false;
	} else if (letters[0]) {
		return false; /* its data cannot be skipped */
	}
	d->initial = (struct cfi_program){ offset_of(s, c), eh_cursor_left(c) };
	return !c->bad;
}

/* The CIE pointer counts back from itself in .eh_frame, from the start elsewhere. */
static bool find_cie(const struct cfi_section *s, const struct header *h, struct cie *ret)
{
	if (s->is_debug_frame)
		return h->id < s->size && read_cie(s, h->id, ret);
	return h->id <= h->id_off && read_cie(s, h->id_off - h->id, ret);
}

static bool read_fde(const struct cfi_section *s, struct header *h, struct cfi_fde *ret)
{
	struct eh_cursor *c = &h->body;
	struct cie cie;

	if (!find_cie(s, h, &cie) || (cie.defaults.pointer_encoding & EH_INDIRECT))
		return false;

	uint8_t encoding = cie.defaults.pointer_encoding;
	uint64_t start = eh_cursor_pointer(c, encoding, s->data_addr);
	uint64_t size = eh_cursor_pointer(c, encoding & EH_FORM, 0);

	if (cie.has_augmentation_data)
		eh_cursor_bytes(c, eh_cursor_uleb(c));
	if (c->bad || start + size < start)
		return false;
	*ret = cie.defaults;
	ret->start = start;
	ret->end = start + size;
	ret->program = (struct cfi_program){ offset_of(s, c), eh_cursor_left(c) };
	return true;
}

enum cfi_record cfi_read(const struct cfi_section *s, size_t off, struct cfi_fde *ret,
			 size_t *ret_next)
{
	struct header h;

	if (!read_header(s, off, &h, ret_next))
		return CFI_LAST;
	if (is_cie(s, &h))
		return CFI_CIE;
	return read_fde(s, &h, ret) ? CFI_FDE : CFI_BAD;
}

bool cfi_scan(const struct cfi_section *s, uint64_t pc, struct cfi_fde *ret)
{
	enum cfi_record kind;
	struct cfi_fde fde;

	for (size_t off = 0; (kind = cfi_read(s, off, &fde, &off)) != CFI_LAST;) {
		if (kind != CFI_FDE || pc < fde.start || pc >= fde.end)
			continue;
		*ret = fde;
		return true;
	}
	return false;
}
