// SPDX-License-Identifier: Apache-2.0
// JIT-compiled code: naive Fibonacci numbers and a table.  usage: n.js [N]  (36)
function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function words(n) {
	const sums = {};

	for (let i = 0; i < n; i++) {
		const key = "k" + (i * 7919) % 1000;

		sums[key] = (sums[key] || 0) + i;
	}
	return Object.values(sums).reduce((a, b) => a + b, 0);
}

const n = +(process.argv[2] || 36);

console.log(fib(n), words(n * 50000));
