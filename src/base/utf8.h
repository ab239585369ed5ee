/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8 - where characters end in bytes that claim to be UTF-8.
 */
#ifndef DWELL_BASE_UTF8_H
#define DWELL_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the valid character that s begins with, or 0: overlong forms, surrogates
 * and what lies beyond U+10FFFF are not valid.  n > 0. */
size_t utf8_length(const char *s, size_t n);
/* The character's code point; len as utf8_length() returned it. */
uint32_t utf8_decode(const char *s, size_t len);

#endif
