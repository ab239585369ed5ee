# SPDX-License-Identifier: Apache-2.0
"""The kernel's own trace of the switches between threads, as a second witness."""
import collections
import contextlib
import os
import re

TRACING = '/sys/kernel/tracing'
EVENTS = ('sched_switch', 'sched_waking', 'sched_wakeup_new')
LINE = re.compile(r'(\S.*)-(\d+)\s.* (\S+)\s+(\d+\.\d+): (sched_\w+): (.*)')
SWITCH = re.compile(r'prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+) ')
WOKEN = re.compile(r' pid=(\d+) ')


def available():
    return os.access(os.path.join(TRACING, 'instances'), os.W_OK)


def put(directory, name, text):
    with open(os.path.join(directory, name), 'w', encoding='ascii') as f:
        f.write(str(text))


@contextlib.contextmanager
def traced():
    """Yields what a child has to call before its exec, to be traced with its descendants;
    and the list into which the trace goes."""
    directory = os.path.join(TRACING, 'instances', f'dwell-test-{os.getpid()}')
    lines = []
    os.mkdir(directory)
    try:
        put(directory, 'buffer_size_kb', 16384)
        put(directory, 'options/event-fork', 1)
        for event in EVENTS:
            put(directory, f'events/sched/{event}/enable', 1)
        yield (lambda: put(directory, 'set_event_pid', os.getpid())), lines
        put(directory, 'tracing_on', 0)
        with open(os.path.join(directory, 'trace'), encoding='utf-8', errors='replace') as f:
            lines += f
    finally:
        os.rmdir(directory)


class Waker:
    """What waits came to that one waker ended: a process by name and pid of the thread, or
    'interrupt'."""

    def __init__(self):
        self.n = self.waited = self.latency = 0


class Thread:
    """What the trace says of one."""

    def __init__(self):
        self.wakers = collections.defaultdict(Waker)
        self.waker = None
        self.run = self.wait = self.blocked = 0
        self.n_waits = 0
        self.is_whole = True  # every switch of it was told
        self.where, self.since, self.woken = None, None, None
        self.early = None  # who woke it last while it ran

    def enters(self, t):
        if self.where in ('runs', None):
            self.is_whole = False
        elif self.where == 'waits':
            self.wait += t - self.since
        else:
            # Who is woken in the moment of leaving waits for a CPU from then on.
            if not self.woken and self.early:
                self.woken, self.waker = self.since, self.early
            woken = self.woken or t
            self.blocked += woken - self.since
            self.wait += t - woken
            self.n_waits += 1
            if self.woken:
                w = self.wakers[self.waker]
                w.n += 1
                w.waited += woken - self.since
                w.latency += t - woken
        self.where, self.since, self.woken = 'runs', t, None
        self.early = None

    def leaves(self, t, state):
        if self.where == 'runs':
            self.run += t - self.since
        else:
            self.is_whole = False
        self.where = 'waits' if state.startswith('R') else 'blocked'
        self.since, self.woken = t, None

    def is_woken(self, t, waker):
        if self.where == 'blocked' and not self.woken:
            self.woken, self.waker = t, waker
        elif self.where == 'runs':
            self.early = waker


def waker_of(name, tid, flags):
    """By the flags of a line: who runs, an interrupt, or either where the kernel does what
    interrupts have left behind."""
    if re.search('[hH]', flags):
        return 'interrupt'
    return 'either' if 's' in flags else (name, tid)


def threads_of(lines):
    """{tid: Thread}, times in ns; each from its first wake-up on."""
    threads = collections.defaultdict(Thread)
    for line in lines:
        m = LINE.search(line)
        if not m:
            continue
        waker = waker_of(m[1].strip(), int(m[2]), m[3])
        t, event, text = int(m[4].replace('.', '')) * 1000, m[5], m[6]
        if event == 'sched_switch':
            m = SWITCH.search(text + ' ')
            threads[int(m[1])].leaves(t, m[2])
            threads[int(m[3])].enters(t)
        elif event == 'sched_waking':
            threads[int(WOKEN.search(text)[1])].is_woken(t, waker)
        else:
            thread = Thread()
            thread.where, thread.since = 'waits', t
            threads[int(WOKEN.search(text)[1])] = thread
    return threads
