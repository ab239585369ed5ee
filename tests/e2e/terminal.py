# SPDX-License-Identifier: Apache-2.0
"""A terminal that a test looks at: runs a program in a pty and keeps what its screen shows.
It knows the sequences that dwell sends and refuses all others."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

SEQUENCE = re.compile(r'\x1b\[(\??)([0-9;]*)([A-Za-z])')


class Terminal:
    def __init__(self, argv, columns=80, rows=24, **env):
        self.is_other = False  # screen
        self.has_cursor = True
        self.tail = b''
        self.before = ''  # what was printed on the usual screen
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # Not before the size is known.
            os.read(0, 1)
            os.execve(argv[0], argv, {**os.environ, 'TERM': 'xterm-256color', **env})
        self.settings = termios.tcgetattr(self.fd)
        self.resize(columns, rows)
        os.write(self.fd, b'\n')

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def clear(self):
        self.cells = [[' '] * self.columns for _ in range(self.rows)]
        self.reversed = [False] * self.rows
        self.y = self.x = 0
        self.is_reverse = False

    # What the screen shows.

    def lines(self):
        return [''.join(row).rstrip() for row in self.cells]

    def text(self):
        return '\n'.join(self.lines())

    def selected(self):
        """The line that stands out, or None."""
        lines = [line for line, is_so in zip(self.lines(), self.reversed) if is_so]
        assert len(lines) <= 1, lines
        return lines[0] if lines else None

    # What the program sends.

    def control(self, private, numbers, final):
        n = [int(x) for x in numbers.split(';') if x]
        if not self.is_other and (private, numbers) != ('?', '1049'):
            if (private, numbers) == ('?', '25'):
                self.has_cursor = final == 'h'
            return  # whatever a shell does
        if private:
            mode = {1049: 'is_other', 25: 'has_cursor'}[n[0]]
            setattr(self, mode, final == 'h')
            if mode == 'is_other':
                self.clear()
        elif final == 'H':
            self.y, self.x = (n[0] - 1, n[1] - 1) if n else (0, 0)
            assert self.y < self.rows and self.x < self.columns, n
        elif final == 'J':
            assert n == [2], n
            self.cells = [[' '] * self.columns for _ in range(self.rows)]
            self.reversed = [False] * self.rows
        elif final == 'K':
            assert not n, n
            self.cells[self.y][self.x:] = [' '] * (self.columns - self.x)
        elif final == 'm':
            assert all(x in (0, 1, 2, 7) for x in n), n
            self.is_reverse = 7 in n
        else:
            raise AssertionError(f'an unknown sequence: {numbers}{final}')

    def show(self, text):
        for c in text:
            if not self.is_other:
                self.before += c
                continue
            assert c >= ' ', f'a control character: {c!r}'
            assert self.x < self.columns, f'beyond the line {"".join(self.cells[self.y])}'
            if self.x == 0:
                self.reversed[self.y] = self.is_reverse
            self.cells[self.y][self.x] = c
            self.x += 1

    def take(self, data):
        data = self.tail + data
        text = data.decode(errors='ignore')
        at = 0
        for m in SEQUENCE.finditer(text):
            self.show(text[at:m.start()])
            self.control(*m.groups())
            at = m.end()
        rest = text[at:]
        self.tail = b''
        if '\x1b' in rest:
            self.show(rest[:rest.index('\x1b')])
            self.tail = rest[rest.index('\x1b'):].encode()
        else:
            self.show(rest)
            # The rest of a character that was cut comes next time.
            whole = text.encode()
            self.tail = data[len(whole):] if data.startswith(whole) else b''

    def pump(self, seconds):
        """Takes what comes; False: the program has closed the terminal."""
        end = time.time() + seconds
        while (left := end - time.time()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                return True
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.take(data)
        return True

    def wait_for(self, what, seconds=60):
        """Until the screen shows the text, or what the function says is true."""
        end = time.time() + seconds
        shows = what if callable(what) else lambda t: what in t.text()
        while not shows(self):
            assert time.time() < end, f'no {what!r} on the screen:\n{self.text()}'
            assert self.pump(0.1) or shows(self), f'it ended:\n{self.text()}\n{self.before}'

    def keys(self, *keys):
        for key in keys:
            os.write(self.fd, key.encode())
            self.pump(0.15)

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self, seconds=30):
        """Its exit code, negative for a signal; the rest of what it said is taken."""
        end = time.time() + seconds
        while time.time() < end:
            self.pump(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pump(0.1)
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f'it goes on:\n{self.text()}')

    def is_restored(self):
        return (not self.is_other and self.has_cursor and
                termios.tcgetattr(self.fd) == self.settings)

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
