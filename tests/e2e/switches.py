# SPDX-License-Identifier: Apache-2.0
"""The kernel's own trace of the switches between threads, as a second witness."""
import collections
import contextlib
import os
import re

TRACING = '/sys/kernel/tracing'
EVENTS = ('sched_switch', 'sched_waking', 'sched_wakeup_new')
LINE = re.compile(r'\s+(\d+\.\d+): (sched_\w+): (.*)')
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


class Thread:
    """What the trace says of one."""

    def __init__(self):
        self.run = self.wait = self.blocked = 0
        self.n_waits = 0
        self.is_whole = True  # every switch of it was told
        self.where, self.since, self.woken = None, None, None

    def enters(self, t):
        if self.where in ('runs', None):
            self.is_whole = False
        elif self.where == 'waits':
            self.wait += t - self.since
        else:
            woken = self.woken or t
            self.blocked += woken - self.since
            self.wait += t - woken
            self.n_waits += 1
        self.where, self.since, self.woken = 'runs', t, None

    def leaves(self, t, state):
        if self.where == 'runs':
            self.run += t - self.since
        else:
            self.is_whole = False
        self.where = 'waits' if state.startswith('R') else 'blocked'
        self.since, self.woken = t, None

    def is_woken(self, t):
        if self.where == 'blocked' and not self.woken:
            self.woken = t


def threads_of(lines):
    """{tid: Thread}, times in ns; each from its first wake-up on."""
    threads = collections.defaultdict(Thread)
    for line in lines:
        m = LINE.search(line)
        if not m:
            continue
        t, event, text = int(m[1].replace('.', '')) * 1000, m[2], m[3]
        if event == 'sched_switch':
            m = SWITCH.search(text + ' ')
            threads[int(m[1])].leaves(t, m[2])
            threads[int(m[3])].enters(t)
        elif event == 'sched_waking':
            threads[int(WOKEN.search(text)[1])].is_woken(t)
        else:
            thread = Thread()
            thread.where, thread.since = 'waits', t
            threads[int(WOKEN.search(text)[1])] = thread
    return threads
