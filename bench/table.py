# SPDX-License-Identifier: Apache-2.0
"""The results as one aligned table per bar."""

WIDTH_OF_NAMES, WIDTH_OF_NUMBERS, WIDTH_OF_RANGES = 13, 8, 12


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


class Table:
    """Prints each row as soon as it is known: a bench takes many minutes."""

    def __init__(self, out, width_of_names=WIDTH_OF_NAMES):
        self.out, self.columns, self.widths, self.width_of_names = out, None, [], width_of_names

    def say(self, line):
        self.out.write(line + "\n")
        self.out.flush()

    def begin(self, title, what, notes):
        self.say(f"\n{title}: {what}")
        for line in notes:
            self.say("  " + line)
        self.columns = None

    def row(self, row):
        if self.columns is None:
            self._head(list(row))
        self._line([number(row.get(c)) for c in self.columns])

    def verdict(self, name, is_met, text):
        self.say(f"  {'met   ' if is_met else 'MISSED' if is_met is False else '–     '}  {name}: {text}")

    def _head(self, columns):
        self.columns = columns
        least = [self.width_of_names if i == 0 else WIDTH_OF_RANGES if c.endswith("95 %") else WIDTH_OF_NUMBERS
                 for i, c in enumerate(columns)]
        self.widths = [max(len(c), w) for c, w in zip(columns, least)]
        self._line(columns)
        self.say("  " + "-" * (sum(self.widths) + 2 * (len(self.widths) - 1)))

    def _line(self, cells):
        aligned = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, self.widths))]
        self.say("  " + "  ".join(aligned).rstrip())
