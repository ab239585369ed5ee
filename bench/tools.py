# SPDX-License-Identifier: Apache-2.0
"""The profilers that are compared: how each records, and what it says afterwards."""
import json
import re
import shutil

import measure


class Answer:
    """What a profile says: seconds of CPU time, samples, and shares by function."""

    def __init__(self, seconds=0.0, samples=0, lost=0, exclusive=None, inclusive=None):
        self.seconds, self.samples, self.lost = seconds, samples, lost
        self.exclusive, self.inclusive = exclusive or {}, inclusive or {}     # in seconds


class Tool:
    """name; missing: why it cannot be used here, or None."""
    suffix = ""

    def __init__(self, name, missing=None):
        self.name, self.missing = name, missing

    def record(self, out, interval_us, command):
        raise NotImplementedError

    def answer(self, out):
        raise NotImplementedError


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
        text = measure.text_of([self.dwell, "report", "--json", "--no-inline", "-e", "cpu-time", out])
        if not text:
            return Answer()
        report = json.loads(text)
        answer = Answer(report["total"].get("cpu-time", 0) / 1e9, report["events"][0]["samples"],
                        report["quality"]["lost"])
        for row in report["rows"]:      # a name may be in several images
            for metric in ("exclusive", "inclusive"):
                seconds = getattr(answer, metric)
                seconds[row["name"]] = seconds.get(row["name"], 0) + row[metric].get("cpu-time", 0) / 1e9
        return answer

    def facts(self, out):
        report = json.loads(measure.text_of([self.dwell, "report", "--json", out]) or "{}")
        return {(f["kind"], f["name"]): f["value"] for f in report.get("quality", {}).get("facts", [])}


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
        answer = Answer(lost=self._lost(out))
        for paragraph in text.split("\n\n"):
            head, *frames = paragraph.strip("\n").split("\n")
            period = re.match(r"\s*(\d+)\s", head)
            if not period:
                continue
            seconds = int(period[1]) / 1e9
            names = [f.split(None, 1)[1] if len(f.split(None, 1)) > 1 else "?" for f in frames]
            answer.seconds += seconds
            answer.samples += 1
            for name in set(names):
                answer.inclusive[name] = answer.inclusive.get(name, 0) + seconds
            if names:
                answer.exclusive[names[0]] = answer.exclusive.get(names[0], 0) + seconds
        return answer

    @staticmethod
    def _lost(out):
        stats = measure.text_of(["perf", "report", "--stats", "-i", out])
        found = re.search(r"LOST events:\s+(\d+)", stats)
        return int(found[1]) if found else 0


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
