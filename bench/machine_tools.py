# SPDX-License-Identifier: Apache-2.0
"""Who profiles the machine: nobody, an event that nobody handles, perf, the daemon.

Each is started, runs while the load does, and is stopped; what it says of the time
between two moments (marks) counts, not its start and its end."""
import json
import os
import re
import shutil
import subprocess
import time

import measure

HZ = 5200
PERIOD_NS = 1_000_000_000 // HZ
PATIENCE_S = 60


def cpu_s_of(pid):
    """CPU seconds of a process with one thread."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e9


def wait_until(is_so, child, what):
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if child.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{what} does not begin")
        time.sleep(0.05)


class Nobody:
    """The bare load; also what the others inherit.  mark() is called when the load begins
    and when it ends and gives numbers whose differences count."""
    name, missing, learns = "nobody", None, False

    def start(self, bench):
        del bench

    def mark(self):
        return {"cpu_s": 0.0}

    def stop(self, begin, end):
        """What is known of the time between two marks only afterwards."""
        del begin, end
        return {}


class Floor(Nobody):
    name = "empty event"

    def start(self, bench):
        self.child = subprocess.Popen([bench.helper("empty_machine"), str(PERIOD_NS)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "ready\n":
            raise RuntimeError("no empty event")

    def stop(self, begin, end):
        self.child.stdin.close()
        self.child.wait(PATIENCE_S)
        return {}


class Perf(Nobody):
    """Writes to a file; its own CPU time counts."""

    def __init__(self, has_stacks):
        self.name = "perf -g" if has_stacks else "perf"
        self.words = ["-g"] if has_stacks else []
        self.missing = None if shutil.which("perf") else "no perf"

    def start(self, bench):
        self.out = bench.scratch("machine.data")
        self.child = subprocess.Popen(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(HZ), "-k", "mono",
                                       *self.words, "-o", self.out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.out.exists() and self.out.stat().st_size > 4096, self.child, "perf")

    def mark(self):
        return {"cpu_s": cpu_s_of(self.child.pid), "bytes": self.out.stat().st_size}

    def stop(self, begin, end):
        self.child.send_signal(2)
        self.child.wait(PATIENCE_S)
        found = {"samples": self._samples(begin["time_s"], end["time_s"]), "lost": self._lost()}
        self.out.unlink()
        return found

    def _samples(self, begin_s, end_s):
        """Of who ran: the idle task's are another matter."""
        n = 0
        for line in measure.text_of(["perf", "script", "--ns", "-F", "pid,time", "-i", self.out]).splitlines():
            found = re.match(r"\s*(\d+)\s+(\d+\.\d+):", line)
            n += bool(found and int(found[1]) and begin_s <= float(found[2]) < end_s)
        return n

    def _lost(self):
        stats = measure.text_of(["perf", "report", "--stats", "-i", self.out])
        return sum(int(n) for n in re.findall(r"LOST(?:_SAMPLES)? events:\s+(\d+)", stats))


def bpf_maps():
    """{id: bytes} of all maps in the kernel."""
    text = measure.text_of(["bpftool", "-j", "map", "show"])
    return {m["id"]: m.get("bytes_memlock", 0) for m in json.loads(text or "[]")}


class Daemon(Nobody):
    learns = True       # it reads each file that it meets once

    def __init__(self, is_flat, is_measured=False):
        self.name = "dwell flat" if is_flat else "dwell stacks"
        self.options = ["--flat"] * is_flat + ["--measure"] * is_measured
        self.missing = None if os.geteuid() == 0 else "not root"

    def start(self, bench):
        self.dwell, self.db, self.socket = bench.dwell, bench.scratch("db"), bench.scratch("socket")
        shutil.rmtree(self.db, ignore_errors=True)
        maps = bpf_maps()
        self.child = subprocess.Popen([self.dwell, "daemon", "--db", self.db, "--socket", self.socket, "-F", str(HZ),
                                       "--merge", "1h", *self.options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self._ctl("status"), self.child, "the daemon")
        self.maps_bytes = sum(n for i, n in bpf_maps().items() if i not in maps)
        self.pid = self.child.pid

    def _ctl(self, *words):
        return measure.text_of([self.dwell, "ctl", "--socket", self.socket, *words])

    def mark(self):
        status = json.loads(self._ctl("--json", "status"))
        return {**status, "cpu_s": status["cpu-ns"] / 1e9}

    def flush(self):
        """Bytes of the database, when all that was taken is in it."""
        self._ctl("flush")
        return measure.size_of(self.db)

    def stop(self, begin, end):
        self._ctl("quit")
        self.child.wait(PATIENCE_S)
        return {"samples": end["samples"] - begin["samples"], "lost": end["lost"] - begin["lost"]}

    def report(self, *options):
        text = measure.text_of([self.dwell, "report", "--json", "--no-inline", *options, "--db", self.db])
        return json.loads(text) if text else None

    def resident_bytes(self):
        """Of the process, without what it maps of the kernel's maps."""
        total = is_counted = 0
        with open(f"/proc/{self.pid}/smaps", encoding="utf-8") as f:
            for line in f:
                if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                    is_counted = "bpf" not in line
                elif is_counted and line.startswith("Rss:"):
                    total += int(line.split()[1]) * 1024
        return total


def pairs_tools():
    """In the order of the table; nobody first."""
    return [Nobody(), Floor(), Daemon(True), Daemon(False), Perf(False), Perf(True)]
