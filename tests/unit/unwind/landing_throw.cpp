// SPDX-License-Identifier: Apache-2.0
#include "landing_throw.h"

#include <string>

namespace
{
volatile int n_cleaned;

struct guard {
	~guard()
	{
		n_cleaned = n_cleaned + 1;
	}
};

__attribute__((noinline)) int dive(int depth, const std::string &text)
{
	guard g;

	if (!depth)
		throw static_cast<int>(text.size());
	return dive(depth - 1, text + "x") + 1;
}
} // namespace

int landing_throw(int depth)
{
	std::string text;

	try {
		return dive(depth, text);
	} catch (int thrown) {
		return thrown + n_cleaned;
	}
}
