/* SPDX-License-Identifier: Apache-2.0 */
#include "store/epoch_word.h"

#include <stdlib.h>
#include <string.h>

#define LAST "last"
#define TO   ".."

/* Where an epoch is, seen from the one that is named: below 0 before it, 0 it is. */
static int side_of(long named, const struct epoch_word_epoch *epoch)
{
	long long at = named < 0 ? -1 - (long long)epoch->n_newer : epoch->number;

	return (at > named) - (at < named);
}

/* At the front of *word, which is left behind it. */
static bool take_number(const char **word, long *ret)
{
	char *end;

	if (strncmp(*word, LAST, strlen(LAST)) == 0) {
		*word += strlen(LAST);
		*ret = -1;
		return true;
	}
	*ret = strtol(*word, &end, 10);
	if (end == *word)
		return false;
	*word = end;
	return true;
}

static bool is_in_range(const char *word, const struct epoch_word_epoch *epoch)
{
	bool has_first, has_last;
	long first, last;

	has_first = take_number(&word, &first);
	if (has_first && !*word)
		return side_of(first, epoch) == 0;
	if (strncmp(word, TO, strlen(TO)) != 0)
		return false;
	word += strlen(TO);
	has_last = take_number(&word, &last);
	return !*word && (has_first || has_last) &&
	       (!has_first || side_of(first, epoch) >= 0) &&
	       (!has_last || side_of(last, epoch) <= 0);
}

bool epoch_word_names(const char *word, const struct epoch_word_epoch *epoch)
{
	return (epoch->label && strcmp(epoch->label, word) == 0) ||
	       is_in_range(word, epoch);
}
