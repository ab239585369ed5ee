# SPDX-License-Identifier: Apache-2.0
"""The results as one aligned table per bar."""


def number(value):
    """Ratios and counts as people compare them."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if value != 0 and abs(value) < 0.01:
        return f"{value:.4f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def print_bar(bar):
    print(f"\nBAR {bar['bar']}: {bar['what']}")
    for line in bar.get("notes", []):
        print("  " + line)
    columns = list(bar["rows"][0])
    cells = [columns] + [[number(row.get(c)) for c in columns] for row in bar["rows"]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for n, row in enumerate(cells):
        print("  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))))
        if n == 0:
            print("  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
    for name, is_met, text in bar["verdicts"]:
        print(f"  {'met   ' if is_met else 'MISSED' if is_met is False else '–     '}  {name}: {text}")
