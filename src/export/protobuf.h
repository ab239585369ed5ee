/* SPDX-License-Identifier: Apache-2.0
 *
 * protobuf - fields of protocol buffers appended to a buf.
 *
 * A nested message is encoded in a buf of its own and appended with protobuf_bytes.
 * As in proto3, a number 0 and an empty array are not written: absence means them.
 */
#ifndef DWELL_EXPORT_PROTOBUF_H
#define DWELL_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void protobuf_u64(struct buf *b, unsigned field, uint64_t v);
void protobuf_bytes(struct buf *b, unsigned field, const void *data, size_t n);
void protobuf_packed(struct buf *b, unsigned field, const uint64_t *v, size_t n);

#endif
