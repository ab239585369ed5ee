/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/known_bits.h"

uint64_t known_bits_mask(unsigned bytes)
{
	return bytes >= 8 ? UINT64_MAX : (1ULL << 8 * bytes) - 1;
}

struct known_bits known_bits_of(uint64_t bits, unsigned bytes)
{
	uint64_t mask = known_bits_mask(bytes);

	return (struct known_bits){ bits & mask, mask };
}

struct known_bits known_bits_part(struct known_bits v, unsigned bytes)
{
	uint64_t mask = known_bits_mask(bytes);

	return (struct known_bits){ v.bits & mask, v.known & mask };
}

bool known_bits_is_whole(struct known_bits v, unsigned bytes)
{
	return !(~v.known & known_bits_mask(bytes));
}

uint64_t known_bits_signed(uint64_t v, unsigned bytes)
{
	unsigned above = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(v << above) >> above);
}

struct known_bits known_bits_sign_extend(struct known_bits v, unsigned from, unsigned to)
{
	struct known_bits wide = { known_bits_signed(v.bits, from),
				   known_bits_signed(v.known, from) };

	return known_bits_part(wide, to);
}

struct known_bits known_bits_either(struct known_bits a, struct known_bits b)
{
	uint64_t same = a.known & b.known & ~(a.bits ^ b.bits);

	return (struct known_bits){ a.bits & same, same };
}

uint64_t known_bits_largest(struct known_bits v, unsigned bytes)
{
	return v.bits | (~v.known & known_bits_mask(bytes));
}

uint64_t known_bits_from_below(uint64_t known)
{
	return known & ~(known + 1);
}
