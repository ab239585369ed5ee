// SPDX-License-Identifier: Apache-2.0
//
// Blocks that are pointed to as a whole, and not at their beginning: objects at a base
// class, arrays behind their number, strings that are shared behind their length.  And an
// object and an array that are pointed to somewhere else within.
#include <cstdlib>
#include <string>

struct first {
	virtual ~first()
	{
	}
	long a = 1;
};

struct second {
	virtual ~second()
	{
	}
	long b = 2;
};

struct both : first, second {
	long c = 3;
};

struct counted {
	~counted()
	{
		value = 0;
	}
	long value = 4;
};

static second *volatile bases[10];
static counted *volatile array;
static std::string text;
static const volatile void *volatile within[2];

int main()
{
	for (auto &p : bases)
		p = new both;
	array = new counted[7];
	text.assign(100, 'x');
	within[0] = &(new both)->c;
	within[1] = new counted[5] + 1;
	_Exit(0);
}
