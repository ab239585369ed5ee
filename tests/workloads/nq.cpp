// SPDX-License-Identifier: Apache-2.0
// N queens with virtual calls in the inner loop.
//
//	usage: nq [N [x]]	(11; a second word chooses the derived class)
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

struct Board {
	int n;
	std::vector<char> column, rising, falling;
	long count = 0;

	explicit Board(int size)
	    : n(size), column(size), rising(2 * size), falling(2 * size + 1)
	{
	}
	virtual ~Board() = default;

	virtual bool ok(int row, int k)
	{
		return !column[k] && !rising[row + k] && !falling[row - k + n];
	}

	virtual void set(int row, int k, char v)
	{
		column[k] = rising[row + k] = falling[row - k + n] = v;
	}

	void solve(int row)
	{
		if (row == n) {
			count++;
			return;
		}
		for (int k = 0; k < n; k++) {
			if (!ok(row, k))
				continue;
			set(row, k, 1);
			solve(row + 1);
			set(row, k, 0);
		}
	}
};

struct Board2 : Board {
	using Board::Board;

	bool ok(int row, int k) override
	{
		return !(column[k] | rising[row + k] | falling[row - k + n]);
	}
};

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 11;
	std::unique_ptr<Board> board =
		argc > 2 ? std::make_unique<Board2>(n) : std::make_unique<Board>(n);

	board->solve(0);
	printf("%ld\n", board->count);
}
