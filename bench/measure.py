# SPDX-License-Identifier: Apache-2.0
"""Run commands, measure them in pairs, and take medians.

Single times mean nothing on a machine that others use; ratios of runs made side by
side do.  CPU time is user + system of the command and of all its reaped descendants."""
import ctypes
import os
import pathlib
import statistics
import subprocess
import threading
import time


ADDR_NO_RANDOMIZE = 0x0040000
UNSEEDED = {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}


def repeat_alike():
    """From here on the same command executes the same: two runs can be compared instruction by instruction.

    Addresses choose branches where they are hashed or aligned, and interpreters seed their tables by chance."""
    os.environ.update(UNSEEDED)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.personality(libc.personality(0xffffffff) | ADDR_NO_RANDOMIZE) < 0:
        raise OSError(ctypes.get_errno(), "personality")


class Run:
    """One finished command."""

    def __init__(self, words, timeout=600, env=None, stdout=subprocess.DEVNULL):
        started = time.perf_counter()
        self.process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=stdout,
                                        stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        usage = self._wait(timeout)
        self.wall_s = time.perf_counter() - started
        self.user_s, self.system_s = usage.ru_utime, usage.ru_stime
        self.cpu_s = self.user_s + self.system_s
        self.max_rss_mb = usage.ru_maxrss / 1024

    def _wait(self, timeout):
        """Blocks in wait4 itself: polling would round short runs up."""
        watchdog = threading.Timer(timeout, self.process.kill)
        watchdog.start()
        _, status, usage = os.wait4(self.process.pid, 0)
        watchdog.cancel()
        self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.timed_out = self.code == -9
        return usage


def text_of(words, timeout=600, env=None):
    """What a command prints; '' when it fails."""
    try:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=timeout, check=False,
                              errors="replace", env={**os.environ, **(env or {})})
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def pairs(n, base, tool):
    """n pairs of runs, the order within a pair alternating; base and tool make a Run."""
    made = []
    base()      # warms caches and clocks
    for i in range(n):
        if i % 2:
            t, b = tool(), base()
        else:
            b, t = base(), tool()
        made.append((b, t))
    return made


def is_delivered(pct):
    """Of the samples that were due: fewer were not taken, more are of something else."""
    return 99 <= pct <= 102


def size_of(path):
    """Bytes of a file, or of all files below a directory."""
    path = pathlib.Path(path)
    if path.is_dir():
        return sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    return path.stat().st_size if path.exists() else 0
