/* SPDX-License-Identifier: Apache-2.0
 *
 * count_flags - how the counting engine is told what to do: one of its arguments.
 *
 * Letters, and behind a colon the functions to tell apart: DEVICE.INODE.OFFSET of each,
 * in hexadecimal, the offset in the file; separated by commas.
 */
#ifndef DWELL_WIRE_COUNT_FLAGS_H
#define DWELL_WIRE_COUNT_FLAGS_H

#define COUNT_FLAG_NONE	      '-' /* it is never empty */
#define COUNT_FLAG_ALL	      'a' /* each way has a counter: a check of the engine */
#define COUNT_FLAG_STRICT     's' /* flags may be needed behind returns */
#define COUNT_FLAG_SOON	      't' /* what is known of code is forgotten often */
#define COUNT_FLAG_RAISED     'l' /* limits of memory include the engine's */
#define COUNT_FLAGS_FUNCTIONS ':'
#define COUNT_FLAGS_MAX	      1024

#endif
