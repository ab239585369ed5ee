/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc32c.h"

#include <stdbool.h>
#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#include <asm/hwcap.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* Castagnoli, reflected */

static uint32_t portable(uint32_t crc, const uint8_t *p, size_t n)
{
	for (; n; n--, p++) {
		crc ^= *p;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return crc;
}

#if defined(__x86_64__)
static bool has_hardware(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t hardware(uint32_t crc, const uint8_t *p,
							   size_t n)
{
	uint64_t c = crc, word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		c = __builtin_ia32_crc32di(c, word);
	}
	for (; n; n--, p++)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p);
	return (uint32_t)c;
}
#elif defined(__aarch64__)
static bool has_hardware(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

__attribute__((target("+crc"))) static uint32_t hardware(uint32_t crc, const uint8_t *p,
							 size_t n)
{
	uint64_t word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		crc = __builtin_aarch64_crc32cx(crc, word);
	}
	for (; n; n--, p++)
		crc = __builtin_aarch64_crc32cb(crc, *p);
	return crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__) || defined(__aarch64__)
	if (has_hardware())
		return ~hardware(~crc, data, size);
#endif
	return ~portable(~crc, data, size);
}
