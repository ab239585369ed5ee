# SPDX-License-Identifier: Apache-2.0
"""BAR 14: what a region costs its program."""
import measure

# Beyond two reads of the clock that it takes.
NS_BEYOND = 10
COLUMNS = ("empty call", "two counter reads", "two clock reads", "region", "region off")


def rounds(bench, command):
    text = measure.text_of(list(map(str, command)))
    return [list(map(float, line.split())) for line in text.splitlines() if line]


class Bar:
    what = "a begin and an end of a region"

    def __init__(self, bench):
        self.bench = bench
        self.program = [bench.helper("region_load"), 10 if bench.is_short else 50]
        self.notes = ["nanoseconds a time, of 200,000 times in turns; medians of rounds in one run"]

    def rows(self):
        record = [self.bench.dwell, "run", "-q", "-e", "regions", "-o", self.bench.scratch("regions.dwell"), "--"]
        for name, command in (("alone", self.program), ("dwell regions", [*record, *self.program])):
            made = rounds(self.bench, command)
            row = {"tool": name, **{c: measure.median([r[i] for r in made]) for i, c in enumerate(COLUMNS)}}
            # Of the same round: the machine's pace changes.
            row["beyond"] = measure.median([r[3] - r[1] for r in made])
            yield row

    @staticmethod
    def verdicts(rows):
        alone, recorded = rows
        yield (f"<= two reads and {NS_BEYOND} ns", recorded["beyond"] <= NS_BEYOND,
               f"{recorded['region']:.1f} ns, of which two reads {recorded['two counter reads']:.1f}")
        yield ("<= 2 ns where nobody records", alone["region"] - alone["empty call"] <= 2,
               f"{alone['region'] - alone['empty call']:.2f} ns above an empty call")
