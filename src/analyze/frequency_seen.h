/* SPDX-License-Identifier: Apache-2.0
 *
 * frequency_seen - what of a function is known to have been executed at all.
 *
 * Where samples landed, or which way they went on, was executed, and so was what leads
 * there, or on from there, by no other way.  Of the rest nobody knows that it was: a
 * share that fits the samples best tells how often at most.
 */
#ifndef DWELL_ANALYZE_FREQUENCY_SEEN_H
#define DWELL_ANALYZE_FREQUENCY_SEEN_H

struct function_code;

/* Ranges of what nobody saw begin at nothing, or at what others leave to it: what comes
 * into a block leaves it.  For estimates, whose ends are all filled in. */
void frequency_seen_begin(struct function_code *c);

#endif
