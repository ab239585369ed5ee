/* SPDX-License-Identifier: Apache-2.0
 *
 * key - what a terminal sends, as keys.
 */
#ifndef DWELL_CMD_KEY_H
#define DWELL_CMD_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A character is its code point; others begin where these end. */
enum key {
	KEY_NONE = 0, /* bytes that mean nothing here */
	KEY_TAB = '\t',
	KEY_ENTER = '\r',
	KEY_ESCAPE = 0x1b,
	KEY_BACKSPACE = 0x7f,
	KEY_UP = 0x110000,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
};

/* The first key of n bytes, and how many of them it took; 0: the rest of it has not come
 * yet, which never happens when there is no more. */
size_t key_decode(const uint8_t *bytes, size_t n, bool is_all, uint32_t *ret);

#endif
