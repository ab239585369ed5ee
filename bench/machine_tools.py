# SPDX-License-Identifier: Apache-2.0
"""Who profiles the machine: nobody, an event that nobody handles, perf, the daemon.

Each is started once and switched on and off around pieces of the load: on a machine that
others use, too, only what was measured within a second can be compared."""
import json
import os
import re
import select
import shutil
import signal
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
    """What the others inherit; under it on and off are the same, which tells what the
    method itself cannot tell apart."""
    name, missing = "nobody", None

    def start(self, bench):
        """Ready, and off."""
        del bench

    def settle(self, work):
        """Before anything counts."""

    def switch(self, is_on):
        """Done when it returns."""
        del is_on

    def own_s(self):
        """CPU seconds of the profiler itself until now."""
        return 0.0

    def stop(self):
        """{"samples": while it was on, "lost": …}, as far as it can tell."""
        return {}


class Floor(Nobody):
    name = "empty event"

    def start(self, bench):
        self.child = subprocess.Popen([bench.helper("empty_machine"), str(PERIOD_NS)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        self._expect("ready")

    def _expect(self, word):
        if self.child.stdout.readline() != word + "\n":
            raise RuntimeError("no empty event")

    def switch(self, is_on):
        self.child.stdin.write("+" if is_on else "-")
        self.child.stdin.flush()
        self._expect("on" if is_on else "off")

    def stop(self):
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
        self.out, fifos = bench.scratch("machine.data"), [bench.scratch("control"), bench.scratch("answers")]
        for path in fifos:
            path.unlink(missing_ok=True)
            os.mkfifo(path)
        self.child = subprocess.Popen(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(HZ), "-D", "-1",
                                       "--control", f"fifo:{fifos[0]},{fifos[1]}", *self.words, "-o", self.out],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.control, self.answers = (os.open(path, os.O_RDWR) for path in fifos)
        self.switch(False)

    def switch(self, is_on):
        os.write(self.control, b"enable\n" if is_on else b"disable\n")
        ready, _, _ = select.select([self.answers], [], [], PATIENCE_S)
        if not ready or not os.read(self.answers, 100).startswith(b"ack"):
            raise RuntimeError("perf does not answer")

    def own_s(self):
        return cpu_s_of(self.child.pid)

    def stop(self):
        self.child.send_signal(signal.SIGINT)
        self.child.wait(PATIENCE_S)
        os.close(self.control)
        os.close(self.answers)
        found = {"samples": self._samples(), "lost": self._lost()}
        self.out.unlink()
        return found

    def _samples(self):
        """Of who ran: the idle task's are another matter."""
        pids = measure.text_of(["perf", "script", "-F", "pid", "-i", self.out]).split()
        return sum(pid != "0" for pid in pids)

    def _lost(self):
        stats = measure.text_of(["perf", "report", "--stats", "-i", self.out])
        return sum(int(n) for n in re.findall(r"LOST(?:_SAMPLES)? events:\s+(\d+)", stats))


def bpf_maps():
    """{id: bytes} of all maps in the kernel."""
    text = measure.text_of(["bpftool", "-j", "map", "show"])
    return {m["id"]: m.get("bytes_memlock", 0) for m in json.loads(text or "[]")}


class Daemon(Nobody):
    """has_more: events beside the clock, of which fewer samples are not a loss."""

    def __init__(self, name, *options, has_more=False):
        self.name, self.options, self.has_more = name, options, has_more
        self.missing = None if os.geteuid() == 0 else "not root"

    def measured(self):
        return Daemon(self.name, *self.options, "--measure")

    def start(self, bench):
        self.dwell, self.db, self.socket = bench.dwell, bench.scratch("db"), bench.scratch("socket")
        shutil.rmtree(self.db, ignore_errors=True)
        maps = bpf_maps()
        self.child = subprocess.Popen([self.dwell, "daemon", "--db", self.db, "--socket", self.socket, "-F", str(HZ),
                                       "--merge", "1h", *self.options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self._ctl("status"), self.child, "the daemon")
        self.maps_bytes = sum(n for i, n in bpf_maps().items() if i not in maps)
        self.pid = self.child.pid

    def settle(self, work):
        """It reads each file that it meets once."""
        work()
        self.switch(False)
        self.samples_before = self.status()["samples"]

    def _ctl(self, *words):
        return measure.text_of([self.dwell, "ctl", "--socket", self.socket, *words])

    def status(self):
        return json.loads(self._ctl("--json", "status"))

    def switch(self, is_on):
        self._ctl("resume" if is_on else "pause")

    def own_s(self):
        return self.status()["cpu-ns"] / 1e9

    def flush(self):
        """Bytes of the database, when all that was taken is in it."""
        self._ctl("flush")
        return measure.size_of(self.db)

    def stop(self):
        status = self.status()
        self._ctl("quit")
        self.child.wait(PATIENCE_S)
        found = {"samples": status["samples"] - self.samples_before, "lost": status["lost"]}
        return {"lost": found["lost"], "of_all": found["samples"]} if self.has_more else found

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


FLAT, STACKS = Daemon("dwell flat", "--flat"), Daemon("dwell stacks")
TWO = Daemon("dwell 2 events", "-e", "cpu-clock,page-faults", has_more=True)
TURNS = Daemon("dwell in turns", "-e", "cpu-clock,page-faults,context-switches", "--multiplex", "1", has_more=True)


def pairs_tools():
    """In the order of the table."""
    return [Nobody(), Floor(), FLAT, STACKS, TWO, TURNS, Perf(False), Perf(True)]
