# SPDX-License-Identifier: Apache-2.0
"""The profilers that are compared: how each records, and what it says afterwards."""
import json
import re
import shutil

import measure


class Answer:
    """What a profile says: seconds of CPU time, in all and by function."""

    def __init__(self, seconds=0.0):
        self.seconds, self.exclusive, self.inclusive = seconds, {}, {}


class Tool:
    """name; missing: why it cannot be used here, or None."""
    suffix = ""

    def __init__(self, name, missing=None):
        self.name, self.missing = name, missing

    def record(self, out, interval_us, command):
        raise NotImplementedError

    def answer(self, out):
        raise NotImplementedError

    def seconds(self, out):
        """CPU seconds alone: where the shares take long to read."""
        return self.answer(out).seconds

    def samples(self, out):
        """(taken, lost); 0 where the tool does not say."""
        del out
        return 0, 0


class Dwell(Tool):
    suffix = ".dwell"

    def __init__(self, dwell, source=None):
        super().__init__("dwell" + (f" ({source})" if source else ""))
        self.dwell, self.source = dwell, source

    def record(self, out, interval_us, command):
        source = ["--source", self.source] if self.source else []
        return [self.dwell, "run", "-q", "-e", "usertime", "-i", f"{interval_us}us", *source, "-o", out,
                "--", *command]

    def answer(self, out):
        report = self._report(out)
        if not report:
            return Answer()
        answer = Answer(report["total"].get("cpu-time", 0) / 1e9)
        for row in report["rows"]:      # a name may be in several images
            for metric in ("exclusive", "inclusive"):
                seconds = getattr(answer, metric)
                seconds[row["name"]] = seconds.get(row["name"], 0) + row[metric].get("cpu-time", 0) / 1e9
        return answer

    def samples(self, out):
        report = self._report(out)
        return (report["events"][0]["samples"], report["quality"]["lost"]) if report else (0, 0)

    def _report(self, out):
        text = measure.text_of([self.dwell, "report", "--json", "--no-inline", "-e", "cpu-time", out])
        return json.loads(text) if text else None


class Perf(Tool):
    suffix = ".data"

    def __init__(self, call_graph):
        super().__init__("perf " + call_graph, None if shutil.which("perf") else "no perf")
        self.call_graph = call_graph

    def record(self, out, interval_us, command):
        return ["perf", "record", "-q", "-e", "cpu-clock", "-c", interval_us * 1000, "--call-graph", self.call_graph,
                "-o", out, "--", *command]

    def answer(self, out):
        """Sums the samples' periods by function; the format is one sample a paragraph."""
        text = measure.text_of(["perf", "script", "--no-inline", "-F", "event,period,ip,sym", "-i", out])
        answer = Answer()
        for paragraph in text.split("\n\n"):
            head, *frames = paragraph.strip("\n").split("\n")
            period = re.match(r"\s*(\d+)\s", head)
            if not period:
                continue
            seconds = int(period[1]) / 1e9
            names = [f.split(None, 1)[1] if len(f.split(None, 1)) > 1 else "?" for f in frames]
            answer.seconds += seconds
            for name in set(names):
                answer.inclusive[name] = answer.inclusive.get(name, 0) + seconds
            if names:
                answer.exclusive[names[0]] = answer.exclusive.get(names[0], 0) + seconds
        return answer

    def seconds(self, out):
        return sum(map(int, measure.text_of(["perf", "script", "-F", "period", "-i", out]).split())) / 1e9

    def samples(self, out):
        stats = measure.text_of(["perf", "report", "--stats", "-i", out])
        found = [re.search(rf"{kind} events:\s+(\d+)", stats) for kind in ("SAMPLE", "LOST")]
        return tuple(int(f[1]) if f else 0 for f in found)


class Gprofng(Tool):
    suffix = ".er"

    def __init__(self):
        super().__init__("gprofng", None if shutil.which("gprofng") else "no gprofng")

    def record(self, out, interval_us, command):
        return ["gprofng", "collect", "app", "-p", interval_us / 1000, "-O", out, *command]

    def answer(self, out):
        text = measure.text_of(["gprofng", "display", "text", "-limit", "0", "-metrics", "e.totalcpu:i.totalcpu",
                                "-functions", out])
        answer = Answer()
        for exclusive, inclusive, name in re.findall(r"^(\d*\.\d*) +(\d*\.\d*) +(.+)$", text, re.MULTILINE):
            answer.exclusive[name] = float(exclusive or 0)
            answer.inclusive[name] = float(inclusive or 0)
        answer.seconds = answer.inclusive.pop("<Total>", 0)
        answer.exclusive.pop("<Total>", None)
        return answer
