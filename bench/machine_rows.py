# SPDX-License-Identifier: Apache-2.0
"""From measurements to rows: medians, intervals, and what the bars ask for."""
import math

import machine_tools
import measure

WEEK_MINUTES = 7 * 24 * 60


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


def cost_s(m):
    """Of the load and of who profiles it."""
    return m["load_s"] + m["own_s"]


def expected(m):
    return m["busy_s"] * 1e9 / machine_tools.PERIOD_NS


def by_round(measured, tool):
    return {m["round"]: m for m in measured if m["tool"] == tool}


def joined(mine, other):
    """Pairs of the same round."""
    return [(mine[i], other[i]) for i in mine if i in other]


def slowdown_row(measured, tool, load):
    mine, bare, floor = (by_round(measured, t) for t in (tool, "nobody", "empty event"))
    beside_bare, beside_floor = joined(mine, bare), joined(mine, floor)
    cpu = [cost_s(m) / cost_s(b) for m, b in beside_bare] if load.has_work else []
    wall = [m["load_wall_s"] / b["load_wall_s"] for m, b in beside_bare] if load.has_work else []
    over = [100 * (cost_s(m) / cost_s(f) - 1) for m, f in beside_floor] if load.has_work else []
    each = list(mine.values())
    extra = [1e6 * (cost_s(m) - cost_s(b)) / m.get("samples", expected(m)) for m, b in beside_bare] if load.has_work else []
    return {
        "tool": tool,
        "runs": len(each),
        "CPU ratio": measure.median(cpu),
        "CPU, 95 %": between(cpu),
        "wall ratio": measure.median(wall),
        "wall, 95 %": between(wall),
        "over empty %": measure.median(over) if tool != "empty event" else None,
        "over, 95 %": between(over, 1) if tool != "empty event" else None,
        "us/sample": measure.median(extra),
        "own CPU %": measure.median([pct(m["own_s"], m["wall_s"]) for m in each]),
        "samples/s": round(measure.median([m["samples"] / m["wall_s"] for m in each])) if "samples" in each[0] else None,
        "delivered %": measure.median([pct(m["samples"], expected(m)) for m in each]) if "samples" in each[0] else None,
        "lost": sum(m["lost"] for m in each) if "lost" in each[0] else None,
    }


def slowdown(measured, load):
    """A row for each tool but nobody."""
    for tool in machine_tools.pairs_tools()[1:]:
        if by_round(measured, tool.name):
            yield slowdown_row(measured, tool.name, load)


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
    samples, minutes = grown(m, "samples"), m["wall_s"] / 60
    return {
        "tool": m["tool"],
        "s": round(m["wall_s"]),
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
        "daemon us": 1e6 * m["own_s"] / samples if samples else None,
        "resident MB": m["resident"] / 1e6,
        "peak MB": m["resident_peak"] / 1e6,
        "maps, rings MB": m["maps"] / 1e6,
        "KB/min": m["bytes"] / 1000 / minutes,
        "MB/week": m["bytes"] / 1e6 / minutes * WEEK_MINUTES,
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
        short = [f"{name}: {row['tool']} {row['delivered %']:.1f} %, {row['lost']} lost" for name, row in rows
                 if row["delivered %"] < 99 or row["lost"]]
        yield "costs count: >= 99 % delivered, nothing lost", not short, "; ".join(short) or "all loads"
