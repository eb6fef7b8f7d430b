# SPDX-License-Identifier: Apache-2.0
"""Writes ETMv4 packets and the frames of a sink.

Sources: Arm IHI 0064 (ETMv4), chapter 6; Arm CoreSight Architecture Specification v3.0, D4.2.
"""
import random

# Atoms of formats 4 and 5, the oldest first, by the packet's byte.
FOUR = {'NEEE': 0xdc, 'NNNN': 0xdd, 'NENE': 0xde, 'ENEN': 0xdf}
FIVE = {'NEEEE': 0xf5, 'NNNNN': 0xd5, 'NENEN': 0xd6, 'ENENE': 0xd7}
RETURNS = 3  # that a unit's return stack holds
THRESHOLD = 4  # of cycle counts
CALL, DATA_FAULT, IRQ = 2, 12, 14  # types of exceptions


def uleb(value):
    out = b''
    while value >= 0x80:
        out += bytes([0x80 | value & 0x7f])
        value >>= 7
    return out + bytes([value])


class Etm:
    """The trace unit of a CPU. `form` says which of the optional packets it writes."""

    def __init__(self, form, seed):
        self.form, self.random = form, random.Random(seed)
        self.out, self.atoms = b'', ''
        self.history, self.returns = [], []
        self.context = None  # as of the last packet that has one
        self.group = 0  # offset of the last group that begins with an A-sync

    def put(self, *values):
        self.flush()
        self.out += bytes(values)

    def flush(self):
        while self.atoms:
            fits = self.fitting() if self.form.compress else [(1, 0xf6 | (self.atoms[0] == 'E'))]
            length, byte = self.random.choice(fits)
            self.out += bytes([byte])
            self.atoms = self.atoms[length:]

    def fitting(self):
        """(number of atoms, byte) of each packet that could be next."""
        bits = [int(atom == 'E') for atom in self.atoms[:3]]
        found = [(1, 0xf6 | bits[0])]
        if len(bits) > 1:
            found.append((2, 0xd8 | bits[0] | bits[1] << 1))
        if len(bits) > 2:
            found.append((3, 0xf8 | bits[0] | bits[1] << 1 | bits[2] << 2))
        for table in FOUR, FIVE:
            found += [(len(atoms), byte) for atoms, byte in table.items() if self.atoms.startswith(atoms)]
        run = len(self.atoms) - len(self.atoms.lstrip('E'))
        for last, bit in ('E', 0), ('N', 0x20):
            before = min(run, len(self.atoms) - 1, 23)
            before -= last == 'E' and before == run
            if before >= 3 and self.atoms[before] == last:
                found.append((before + 1, 0xc0 | bit | (before - 3)))
        return found

    def atom(self, taken):
        self.atoms += 'E' if taken else 'N'
        if self.form.cycles and self.random.random() < 0.1:
            # The unit knows the count, or does not.
            self.put(*(b'\x0e' + uleb(self.random.randrange(1, 5000)) if self.random.random() < 0.9 else b'\x0f'))
        if self.form.compress and self.random.random() < 0.02:
            self.put(self.random.choice([0x70, 0x71, 0x7f]))  # ignore, events

    def remember(self, pc):
        self.history = [pc, *self.history[:2]]

    def address(self, pc):
        """The target of an indirect branch, or an exception's return address."""
        last = self.history[0] if self.form.compress and self.history else None
        low = pc >> 2 & 0x7f
        if last is not None and pc in self.history and self.random.random() < 0.8:
            self.put(0x90 | self.history.index(pc))
        elif last is not None and pc >> 9 == last >> 9:
            self.put(0x95, low)
        elif last is not None and pc >> 17 == last >> 17:
            self.put(0x95, 0x80 | low, pc >> 9 & 0xff)
        elif last is not None and pc >> 32 == last >> 32:
            self.put(0x9a, low, *self.rest(pc, 4))
        else:
            self.put(0x9d, low, *self.rest(pc, 8))
        self.remember(pc)

    @staticmethod
    def rest(pc, size):
        return [pc >> 9 & 0x7f, *(pc >> shift & 0xff for shift in range(16, 8 * size, 8))]

    def with_context(self, pc, tid):
        """An address, and whose it is: user code of 64 bits."""
        words = tid.to_bytes(4, 'little')
        known = self.form.compress and self.context == tid and self.history
        head = 0x10 | 0x20 | (0x40 if self.form.vmid else 0x80)
        self.context = tid
        if known and self.random.random() < 0.5:
            self.put(0x80)
            self.address(pc)
        elif self.form.compress and self.random.random() < 0.3:
            self.put(0x81, head, *words)
            self.address(pc)
        elif self.form.compress and self.history and self.history[0] >> 32 == pc >> 32:
            self.put(0x82, pc >> 2 & 0x7f, *self.rest(pc, 4), head, *words)
            self.remember(pc)
        else:
            self.put(0x85, pc >> 2 & 0x7f, *self.rest(pc, 8), head, *words)
            self.remember(pc)

    def sync(self, pc, tid, stamp):
        """A group of packets at which decoders begin. @pc is where the last packets lead to."""
        self.flush()
        self.group = len(self.out)
        self.put(*[0] * 11, 0x80, 1, *((9, 1, THRESHOLD) if self.form.cycles else (1, 0)))
        self.history, self.returns, self.context = [], [], None
        self.with_context(pc, tid)
        self.time(stamp)

    def trace_on(self, pc, tid, stamp):
        self.put(4)
        self.returns = []
        self.with_context(pc, tid)
        self.time(stamp)

    def time(self, stamp):
        if self.form.times:
            counts = self.form.cycles
            self.put(2 | counts, *uleb(stamp), *(uleb(self.random.randrange(100)) if counts else b''))

    def call(self, back):
        self.returns = [*self.returns, back][-RETURNS:]

    def indirect(self, to, link):
        """The target of an indirect branch, which the return stack may know."""
        if not link and self.form.return_stack and self.returns and self.returns[-1] == to:
            self.returns.pop()
        else:
            self.address(to)

    def exception(self, kind, back, merged=False):
        """@merged: the address is also the target of the branch before."""
        self.put(6, kind << 1 | (0x40 if merged else 1))
        self.address(back)


class Frames:
    """The frames of a sink. In each an even byte is data without its lowest bit, which byte 15 has, or a trace ID."""

    def __init__(self):
        self.out, self.frame, self.last, self.id = b'', [], 0, None

    def end_if_full(self):
        if len(self.frame) == 15:
            self.out += bytes([*self.frame, self.last])
            self.frame, self.last = [], 0

    def byte(self, value):
        if len(self.frame) % 2:
            self.frame.append(value)
        else:
            self.last |= (value & 1) << len(self.frame) // 2
            self.frame.append(value & 0xfe)
        self.end_if_full()

    def switch(self, trace_id):
        """At an odd place the ID takes the place of the byte before, which comes behind it with a bit that says so."""
        self.id = trace_id
        at = len(self.frame) // 2
        if len(self.frame) % 2:
            value = self.frame.pop() | self.last >> at & 1
            self.last |= 1 << at
            self.frame += [trace_id << 1 | 1, value]
        else:
            self.frame.append(trace_id << 1 | 1)
        self.end_if_full()

    def put(self, trace_id, data):
        for value in data:
            # An ID is named anew at least in each tenth frame.
            if trace_id != self.id or (not self.frame and len(self.out) % 160 == 0):
                self.switch(trace_id)
            self.byte(value)

    def finish(self):
        if self.frame:
            self.switch(0)
        while self.frame:
            self.byte(0)
        return self.out
