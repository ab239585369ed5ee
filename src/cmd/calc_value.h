/* SPDX-License-Identifier: Apache-2.0
 *
 * calc_value - how often and how long, as `dwell calc` prints it: numbers where all was
 * counted, ranges where samples tell.
 *
 * The writers fill the caller's buffer (TEXT_MAX is enough) and return it.
 */
#ifndef DWELL_CMD_CALC_VALUE_H
#define DWELL_CMD_CALC_VALUE_H

/* 12.3 for what is short, 1,234 for what is long, nothing for what is not known. */
char *calc_value_cycles(char *s, double cycles);
/* 0.4–2.1, 12–31; ~12 if they are the same in two digits, a number if they are one. */
char *calc_value_cycles_range(char *s, double low, double high);
/* A bound of cycles: what rounds to nothing has another digit, and none is 0.00. */
char *calc_value_bound(char *s, double cycles);
/* Of all cycles those of each of so many times; nothing where it was never executed. */
char *calc_value_each(char *s, double cycles, double low, double high);
/* 1,234,567, or nothing. */
char *calc_value_times(char *s, double times);
/* 95–440 M; as one number if they are the same. */
char *calc_value_times_range(char *s, double low, double high);

#endif
