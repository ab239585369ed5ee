# SPDX-License-Identifier: Apache-2.0
"""What is known of the workloads (their first comments say why)."""

# Shares of main, in percent: exclusive, inclusive.
CPU = {"main": (6.25, 100), "A": (0, 31.25), "B": (15.625, 62.5), "C": (15.625, 78.125), "E": (31.25, 31.25),
       "F": (15.625, 31.25), "G": (15.625, 15.625)}


def deviation(answer):
    """The largest difference from the truth in percentage points, (exclusive, inclusive):
    shares of all of main's weight.  None where the tool has no such number."""
    whole = answer.seconds
    if not whole:
        return None, None

    def worst(shares, which):
        return max(abs(100 * shares.get(name, 0) / whole - want[which]) for name, want in CPU.items())

    return worst(answer.exclusive, 0), worst(answer.inclusive, 1)


def forky_processes(n):
    """Processes that forky.sh N makes: true and a subshell each, and pipelines of three."""
    return 1 + 2 * n + 3 * (n // 4)
