# SPDX-License-Identifier: Apache-2.0
"""Interpreted code: naive Fibonacci numbers and a dictionary.  usage: py.py [N]"""
import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def words(n):
    counts = {}
    for i in range(n):
        key = "k%d" % (i * 7919 % 1000)
        counts[key] = counts.get(key, 0) + i
    return sum(counts.values())


n = int(sys.argv[1]) if len(sys.argv) > 1 else 25
print(fib(n), words(n * 20000))
