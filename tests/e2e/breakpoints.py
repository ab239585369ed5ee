# SPDX-License-Identifier: Apache-2.0
"""Signals that come to a process at a certain instruction, by ptrace()."""
import ctypes
import os
import re
import signal

PEEK, POKE, CONT, STEP, GETREGS, SETREGS, ATTACH, DETACH = 1, 4, 7, 9, 12, 13, 16, 17
RIP, N_REGS = 16, 27
INT3 = 0xcc

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.restype = ctypes.c_long
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, pid, addr=0, data=0):
    ctypes.set_errno(0)
    result = LIBC.ptrace(request, pid, addr, data)
    if result == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result & (1 << 64) - 1


def is_blocked(pid, number):
    with open(f'/proc/{pid}/status', encoding='ascii') as f:
        return int(re.search(r'SigBlk:\s*(\w+)', f.read())[1], 16) >> number - 1 & 1


def wait(pid):
    _, status = os.waitpid(pid, 0)
    assert os.WIFSTOPPED(status), status
    return os.WSTOPSIG(status)


class Breakpoint:
    """At an address of a process without threads, which is stopped."""

    def __init__(self, pid, addr):
        self.pid, self.addr, self.code = pid, addr, 0

    def __enter__(self):
        ptrace(ATTACH, self.pid)
        wait(self.pid)
        self.code = ptrace(PEEK, self.pid, self.addr)
        self.set(True)
        return self

    def __exit__(self, *_):
        """It stands where it was met."""
        self.set(False)
        ptrace(DETACH, self.pid)

    def set(self, is_set):
        ptrace(POKE, self.pid, self.addr, self.code & ~0xff | INT3 if is_set else self.code)

    def meet(self, number=0):
        """Goes on with a signal until it is there again."""
        ptrace(CONT, self.pid, 0, number)
        while (stop := wait(self.pid)) != signal.SIGTRAP:
            ptrace(CONT, self.pid, 0, stop)
        regs = (ctypes.c_uint64 * N_REGS)()
        ptrace(GETREGS, self.pid, 0, ctypes.addressof(regs))
        assert regs[RIP] == self.addr + 1, hex(regs[RIP])
        regs[RIP] = self.addr
        ptrace(SETREGS, self.pid, 0, ctypes.addressof(regs))

    def step_over(self):
        self.set(False)
        ptrace(STEP, self.pid)
        assert wait(self.pid) == signal.SIGTRAP
        self.set(True)
