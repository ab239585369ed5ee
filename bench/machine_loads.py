# SPDX-License-Identifier: Apache-2.0
"""What the machine does while it is profiled.

A load is a command with a fixed amount of work, a tenth of a second or two, that ends by
itself and reaps all its processes: their CPU time is that of the command.  It is run many
times."""
import pathlib
import random
import shlex
import shutil
import signal
import socket
import subprocess
import time

SERVED_BYTES = 16384


class Load:
    """name; what, in words; words: the command; missing: why it cannot be run, or None.
    has_work: its CPU time says how much slower it became.  Between begin() and end() it
    can be run."""

    def __init__(self, name, what, words, missing=None, has_work=True):
        self.name, self.what, self.words, self.missing, self.has_work = name, what, words, missing, has_work

    def begin(self):
        pass

    def end(self):
        pass

    def helpers_s(self):
        """CPU seconds until now of what begin() started."""
        return 0.0


def needs(*programs):
    found = [p for p in programs if not shutil.which(p)]
    return f"no {', '.join(found)}" if found else None


def text_file(bench, megabytes):
    """Words at random, the same each time: compresses as prose does."""
    path = bench.scratch(f"text{megabytes}")
    if not path.exists():
        some = random.Random(1)
        words = ["".join(some.choices("etaoinshrdlu", k=some.randint(2, 9))) for _ in range(5000)]
        with open(path, "w", encoding="ascii") as f:
            while f.tell() < megabytes * (1 << 20):
                f.write(" ".join(some.choices(words, k=1000)) + "\n")
    return path


def xz(bench):
    return Load("xz", "xz -9 of 200 KB of text", ["xz", "-9", "-T1", "-k", "-c", text_file(bench, 0.2)], needs("xz"))


SOURCE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int f%d(char **words, int n)
{
\tint s = %d;

\tqsort(words, n, sizeof(*words), compare);
\tfor (int i = 0; i < n; i++)
\t\ts += printf("%%s\\n", words[i]) * (s ^ i);
\treturn s;
}
"""


def storm(bench, n=6):
    """Each is gcc, cc1 and as, two at a time."""
    directory = bench.scratch("storm")
    if not directory.exists():
        directory.mkdir()
        for i in range(n):
            (directory / f"{i}.c").write_text(SOURCE % (i, i), encoding="ascii")
    compile_one = f"gcc -O1 -c {shlex.quote(str(directory))}/$1.c -o /dev/null; /bin/true; /bin/true"
    script = f"seq 0 {n - 1} | xargs -n 1 -P 2 sh -c {shlex.quote(compile_one)} sh"
    return Load("storm", f"{n} small files compiled, {6 * n} processes", ["sh", "-c", script], needs("gcc", "xargs"))


NGINX = """daemon off;
user root;
worker_processes 2;
error_log {0}/error;
pid {0}/pid;
events {{ worker_connections 256; }}
http {{
    access_log {0}/access;
    client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
    uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
    keepalive_requests 1000000;
    server {{ listen 127.0.0.1:{1}; root {0}; gzip on; gzip_types text/plain; gzip_min_length 1; default_type text/plain; }}
}}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server(Load):
    """nginx is there as long as the load is; ab asks it."""

    def __init__(self, bench, n=3000):
        self.directory, port = bench.scratch("server"), free_port()
        self.directory.mkdir(exist_ok=True)
        (self.directory / "conf").write_text(NGINX.format(self.directory, port), encoding="ascii")
        (self.directory / "page").write_bytes(text_file(bench, 0.2).read_bytes()[:SERVED_BYTES])
        super().__init__("server", f"nginx, {n} requests for {SERVED_BYTES // 1024} KB that it compresses",
                         ["timeout", "60", "ab", "-q", "-k", "-n", n, "-c", 8, "-H", "Accept-Encoding: gzip",
                          f"http://127.0.0.1:{port}/page"], needs("nginx", "ab"))

    def begin(self):
        self.child = subprocess.Popen(["nginx", "-p", self.directory, "-c", self.directory / "conf"],
                                      stderr=subprocess.DEVNULL)
        time.sleep(0.5)

    def helpers_s(self):
        pids = pathlib.Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read_text(encoding="ascii").split()
        return sum(int(pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) for pid in pids) / 1e9

    def end(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(30)


def make(bench):
    """All, in the order of the table."""
    own = bench.helper("machine_load")
    return [
        Load("idle", "nothing", ["sleep", "0.5"], has_work=False),
        xz(bench),
        storm(bench),
        Load("switches", "two processes on one CPU that wake each other", [own, "switches", 15000]),
        Load("sleepers", "1,000 processes that wake each 0.1 s", [own, "sleepers", 1000, 2]),
        Load("memory", "a loop over more memory than caches hold, on each CPU", [own, "memory", 20]),
        Load("parallel", "four threads, a lock and a barrier", [bench.workload("mt"), 600]),
        Server(bench),
    ]
