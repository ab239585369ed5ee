# SPDX-License-Identifier: Apache-2.0
"""From measurements to rows: medians, intervals, and what the bars ask for."""
import math
import random

import machine_tools
import measure

WEEK_MINUTES = 7 * 24 * 60
RESAMPLES = 1000


def interval(values, sure=0.95):
    """Two of the values between which the median of all that could have been measured lies
    in 95 % of all cases, whatever their distribution; all of them when they are few."""
    values, n = sorted(values), len(values)
    rank, tail = 0, 0.5 ** n
    while rank < n // 2 and 2 * (tail + math.comb(n, rank + 1) * 0.5 ** n) <= 1 - sure:
        rank += 1
        tail += math.comb(n, rank) * 0.5 ** n
    return values[rank], values[n - 1 - rank]


def between(values, digits=3):
    if not values:
        return None
    low, high = interval(values)
    return f"{low:.{digits}f}..{high:.{digits}f}"


def pct(part, whole):
    return 100 * part / whole if whole else None


def difference(mine, other, sure=0.95):
    """Of two medians, and the interval of it, by drawing the values again."""
    some, found = random.Random(1), []
    for _ in range(RESAMPLES):
        found.append(measure.median(some.choices(mine, k=len(mine))) - measure.median(some.choices(other, k=len(other))))
    found.sort()
    tail = int(RESAMPLES * (1 - sure) / 2)
    return measure.median(mine) - measure.median(other), f"{found[tail]:.1f}..{found[-1 - tail]:.1f}"


class Turns:
    """All groups of a load under a tool."""

    def __init__(self, runs):
        groups = [g for run in runs for g in run["groups"]]
        self.n, self.own_s = len(groups), sum(run["own_s"] for run in runs)
        self.on_s = sum(g[0] for g in groups)
        # What it uses itself is spread over the load that it was on for.
        share = self.own_s / self.on_s
        self.cpu = [g[0] / g[2] + share for g in groups]
        self.wall = [g[1] / g[3] for g in groups]
        self.samples = sum(run["samples"] for run in runs) if "samples" in runs[0] else None
        self.of_all = sum(run["of_all"] for run in runs) if "of_all" in runs[0] else self.samples
        self.lost = sum(run["lost"] for run in runs) if "lost" in runs[0] else None
        self.expected = (self.on_s + self.own_s) * 1e9 / machine_tools.PERIOD_NS

    def us_per_sample(self):
        extra_s = self.on_s * (measure.median(self.cpu) - 1) / measure.median(self.cpu)
        return 1e6 * extra_s / (self.of_all or self.expected)


def slowdown_row(tool, turns, floor):
    over, over_range = None, None
    if floor and tool != "empty event":
        over, over_range = difference([100 * c for c in turns.cpu], [100 * c for c in floor.cpu])
    return {
        "tool": tool,
        "groups": turns.n,
        "CPU ratio": measure.median(turns.cpu),
        "CPU, 95 %": between(turns.cpu),
        "wall ratio": measure.median(turns.wall),
        "wall, 95 %": between(turns.wall),
        "over empty %": over,
        "over, 95 %": over_range,
        "us/sample": turns.us_per_sample() if tool != "nobody" else None,
        "own us": 1e6 * turns.own_s / turns.of_all if turns.of_all else None,
        "samples": turns.of_all,
        "delivered %": pct(turns.samples, turns.expected) if turns.samples is not None else None,
        "lost": turns.lost,
    }


def slowdown(measured):
    runs = {t.name: [m for m in measured if m["tool"] == t.name] for t in machine_tools.pairs_tools()}
    turns = {name: Turns(of) for name, of in runs.items() if of}
    for name, of in turns.items():
        yield slowdown_row(name, of, turns.get("empty event"))


def is_stripped(image):
    """It is known, and has no name at the place."""
    return (image.get("problem") or "").startswith("no debug information")


def quality(report):
    """Of a report: shares of the samples, in percent."""
    if not report:
        return {}
    q, event = report["quality"], "cpu-time"
    total = report["total"].get(event, 0)
    truncated = q.get("truncated", {}).get(event, {})
    images = [i for i in q.get("unresolved_images", []) if i["event"] == event]
    stripped = sum(i["weight"] for i in images if is_stripped(i))
    return {"unknown": pct(q.get("unresolved", {}).get(event, 0) - stripped, total),
            "stripped": pct(stripped, total),
            "cut": pct(truncated.get("total", 0), total)}


def grown(m, name):
    return m["end"][name] - m["begin"][name]


def daemon(m):
    """The long run's row."""
    samples, seconds, own_ns = grown(m, "samples"), grown(m, "running-ns") / 1e9, grown(m, "cpu-ns")
    return {
        "tool": m["tool"],
        "s": round(seconds),
        "samples": samples,
        "lost": grown(m, "lost"),
        "unknown %": m["quality"].get("unknown"),
        "stripped %": m["quality"].get("stripped"),
        "cut %": m["quality"].get("cut"),
        "hit %": pct(grown(m, "hits"), samples),
        "hit ns": m["end"]["hit-ns-mean"],
        "miss ns": m["end"]["miss-ns-mean"],
        "kernel us": m["end"]["sample-ns-mean"] / 1000,
        "p90 us": m["end"]["sample-ns-p90"] / 1000,
        "daemon us": own_ns / 1000 / samples if samples else None,
        "own CPU %": own_ns / seconds / 1e7,
        "resident MB": m["resident"] / 1e6,
        "peak MB": m["resident_peak"] / 1e6,
        "maps, rings MB": m["maps"] / 1e6,
        "KB/min": m["bytes"] / 1000 / seconds * 60,
        "MB/week": m["bytes"] / 1e6 / seconds * 60 * WEEK_MINUTES,
    }


# What of a row a bar bounds: load (None: all), table, tool, column, limit, words.
BOUNDS = [
    (None, "slowdown", "dwell flat", "over empty %", 0.3, "BAR 3: <= 0.3 % above the empty event, flat"),
    ("storm", "slowdown", "dwell flat", "CPU ratio", 1.02, "BAR 3: compile storm <= 2 %, flat"),
    (None, "slowdown", "dwell stacks", "over empty %", 3, "BAR 4: <= 3 % above the empty event, stacks"),
    (None, "daemon", "dwell flat", "memory", 60, "BAR 5: <= 60 MB, flat"),
    (None, "daemon", "dwell stacks", "memory", 60, "BAR 5: <= 60 MB, stacks"),
    ("storm", "daemon", "dwell flat", "KB/min", 200, "BAR 5: <= 200 KB for 60 s of compiling, flat"),
    ("storm", "daemon", "dwell stacks", "KB/min", 1000, "BAR 5: <= 1 MB for 60 s of compiling, stacks"),
    (None, "daemon", "dwell flat", "unknown %", 0.05, "BAR 6: <= 0.05 % unknown, flat"),
    (None, "daemon", "dwell stacks", "unknown %", 0.05, "BAR 6: <= 0.05 % unknown, stacks"),
]


def value_of(row, column):
    if column == "memory":
        return row["peak MB"] + row["maps, rings MB"]
    return row[column]


def of_rate(row):
    """Of the clock's samples: nobody knows how many another event has."""
    return "" if row["delivered %"] is None else f"{row['delivered %']:.1f} %, "


def is_whole(row):
    return not row["lost"] and (row["delivered %"] is None or measure.is_delivered(row["delivered %"]))


def verdicts(shown):
    """(name, is met, text): a cost counts only where samples were delivered and none lost."""
    for load, part, tool, column, limit, words in BOUNDS:
        values = {s["load"]: value_of(row, column) for s in shown if load in (None, s["load"])
                  for row in s[part] if row["tool"] == tool and value_of(row, column) is not None}
        if values:
            text = ", ".join(f"{name} {value:.3g}" for name, value in values.items())
            yield words, max(values.values()) <= limit, text
    rows = [(s["load"], row) for s in shown for row in s["slowdown"] if row["tool"].startswith("dwell")]
    if rows:
        short = [f"{name}: {row['tool']} {of_rate(row)}{row['lost']} lost" for name, row in rows if not is_whole(row)]
        yield "costs count: 99 to 102 % delivered, nothing lost", not short, "; ".join(short) or "all loads"
