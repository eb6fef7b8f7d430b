# SPDX-License-Identifier: Apache-2.0
"""Random sets of options for `ringtail record`, the load that each records, and the expected result.

A seed and a number determine a set, so that it can be made again. This module runs nothing."""
import os
import random

CPUS = sorted(os.sched_getaffinity(0))
CLOCKS = ('monotonic', 'monotonic_raw', 'CLOCK_MONOTONIC')
MORE_CLOCKS = ('realtime', 'boottime', 'tai')  # of clocks and counts of software

# (options, which must be refused, words that the sentence names, whether a set can have them)
REFUSED = (
    (['-F', '99', '-c', '2'], ('-F', '-c'), lambda s: True),
    (['--all-user', '--all-kernel'], ('--all-user', '--all-kernel'), lambda s: True),
    (['--kernel-callchains', '--user-callchains'], ('--kernel-callchains', 'choose one'), lambda s: True),
    (['--kernel-callchains', '--call-graph', 'dwarf'], ('--kernel-callchains', 'choose one'), lambda s: True),
    (['-a', '-p', '1'], ('-a', '-p'), lambda s: True),
    (['-C', str(CPUS[0]), '-t', '1'], ('-C', '-t'), lambda s: True),
    (['--snapshot-on-exit'], ('-M',), lambda s: not s.memory),
    (['--snapshot-on-crash'], ('-M',), lambda s: not s.memory),
    (['--last', '10s'], ('-M',), lambda s: not s.memory),
    (['--since-last'], ('-M',), lambda s: not s.memory),
    (['--trigger', 'every:10s'], ('-M',), lambda s: not s.memory),
    (['--overwrite'], ('-M', '--overwrite'), lambda s: s.memory),
    (['--switch-max-files', '3'], ('--switch-output',), lambda s: not s.cuts),
    (['--switch-output'], ('--switch-output', '-o -'), lambda s: s.container == '-'),
    (['--timestamp-filename'], ('--timestamp-filename', '-o -'), lambda s: s.container == '-'),
    (['--control', 'fd:1'], ('--control', '-o -'), lambda s: s.container == '-'),
    (['-m', '0'], ('-m',), lambda s: True),
    (['-z23'], ('-z',), lambda s: True),
    (['--aio=0'], ('--aio',), lambda s: True),
    (['--flush-interval', '2h'], ('--flush-interval',), lambda s: True),
    (['--max-size', '12'], ('--max-size',), lambda s: True),
    (['-k', 'sundial'], ('-k',), lambda s: True),
    (['--affinity', 'moon'], ('--affinity',), lambda s: True),
    (['--no-such-option'], ('--no-such-option',), lambda s: True),
)


class Event:
    """One event of a set: its text, and the words of the load that make it happen."""

    def __init__(self, kind):
        self.kind = kind

    # kind: (event, filter, words that make one each, words whose threads or children make one each)
    KINDS = {
        'enter': ('raw_syscalls:sys_enter', 'id == {number}', ('call',), ('callthread', 'callfork')),
        'exit': ('raw_syscalls:sys_exit', 'id == {number}', ('call',), ('callthread', 'callfork')),
        'named': ('syscalls:sys_enter_getppid', None, ('call',), ('callthread', 'callfork')),
        # No "fork": the kernel does not see uprobes in children of a process that is recorded alone.
        'probe': ('uprobe:{program}:work', None, ('work',), ('thread',)),
        'return': ('uretprobe:{program}:work', None, ('work',), ('thread',)),
        # :u, since an exec clears variables in the kernel.
        'write': ('mem:{program}:written:w:u', None, ('write',), ()),
        'faults': ('page-faults/period=1/', None, None, None),
        'switches': ('context-switches/period=1/', None, None, None),
        'clock': ('cpu-clock/freq=997/', None, None, None),
    }
    TRACEPOINTS = 'enter', 'exit', 'named'
    SOFTWARE = 'faults', 'switches'

    @property
    def text(self):
        return self.KINDS[self.kind][0]

    @property
    def exact(self):
        return self.kind != 'clock'

    def filter(self, whole):
        """Returns the filter for a system-wide recording, which would also count other programs' calls; else
        None."""
        own = self.KINDS[self.kind][1]
        comm = 'comm == "{comm}"' if whole and self.kind in self.TRACEPOINTS else None
        return ' && '.join(filter(None, (own, comm))) or None

    def made_by(self, word, n, children):
        """Returns how often a word of the load makes the event happen; `children`: whether its children are
        recorded."""
        _, _, direct, started = self.KINDS[self.kind]
        return n if word in direct or children and word in started else 0


class OptionSet:
    """The attributes hold the choices; `argv()` returns the arguments of record."""

    CUTS = 'signal', 'size', 'time'

    def __init__(self, seed, index):
        self.name = f'{seed}.{index}'
        self.random = random.Random(self.name)
        self.choose_target()
        self.choose_output()
        self.choose_events()
        self.choose_control()
        self.choose_load()
        self.options = self.where() + self.writing() + self.carried() + self.begin_and_end()
        self.refused = self.choose_refusal()

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, *choices):
        return self.random.choice(choices)

    # --- what is recorded ---

    def choose_target(self):
        self.target = self.pick('command', '-p', '-t', '-a', '-C')
        self.whole = self.target in ('-a', '-C')
        self.inherit = self.whole or self.chance(75)
        self.tasks = 1 if self.target == 'command' else self.pick(1, 1, 2, 3)
        self.cpus = sorted(self.random.sample(CPUS, self.random.randint(1, len(CPUS)))) if self.target == '-C' else CPUS
        self.sanitized = self.chance(33)

    def choose_events(self):
        kinds = ['enter', 'enter', 'exit', 'named', 'probe', 'return']
        if not self.whole:
            kinds += ['write', 'faults', 'switches']
        self.period = self.pick(2, 3, 10, 100) if self.chance(12) else None
        self.frequency = not self.period and self.chance(4)
        if self.period:  # a remainder is kept by each event of each task on each CPU
            self.tasks = 1
            kinds = ['enter', 'exit', 'named']
        count = self.pick(1, 1, 1, 2, 3)
        chosen = list(dict.fromkeys(self.pick(*kinds) for _ in range(count)))
        self.group = self.chance(12)
        if self.group:  # with one filter for both
            chosen = ['enter', 'exit'] + [kind for kind in chosen if kind not in ('enter', 'exit')]
        if self.chance(12) and not self.period:
            chosen.append('clock')
        self.events = [Event(kind) for kind in chosen]

    @property
    def software(self):
        return any(event.kind in Event.SOFTWARE for event in self.events)

    @property
    def soft(self):
        return all(event.kind in (*Event.SOFTWARE, 'clock') for event in self.events)

    def choose_load(self):
        """Chooses the phases, [(task, word, n)], and the action after each phase but the last."""
        dwarf, slow = self.stacks, self.unbuffered or self.sanitized
        most = 600 if dwarf else 3000 if slow else 30000
        words = ['call', 'call', 'work', 'touch', 'write']
        if not self.period:
            words += ['callthread', 'callfork', 'thread']
        self.phases = []
        for _ in range(self.pick(1, 2, 2, 3)):
            phase = []
            for task in range(self.tasks):
                for _ in range(self.pick(1, 2, 3)):
                    word = self.pick(*words)
                    limit = {'touch': 300, 'work': 3000, 'thread': 3000, 'write': 3000}.get(word, most)
                    phase.append((task, word, self.random.randint(1, min(limit, most))))
            self.phases.append(phase)
        acts = ['nothing', 'disable', 'ping', 'stats']
        if self.memory:
            acts += ['snapshot'] * 3 + ['sigusr2'] * 2
        if self.rotation in self.CUTS:
            acts += ['rotate'] * 3 + ['sigusr2'] * 2
        if self.rotation == 'time':
            acts += ['pause'] * 3
        self.acts = [self.pick(*acts) for _ in self.phases[1:]]
        self.stalls = [self.chance(12) for _ in self.phases]

    # --- where it goes ---

    def choose_output(self):
        self.container = self.pick('file', 'file', 'directory', '-')
        self.threads = self.pick(*[None] * 6, '--threads', *map('--threads={}'.format, self.masks()))
        if self.threads and self.container == 'file':
            self.container = 'directory'
        rotations = [None] * 4 + ['overwrite', 'max-size', 'memory', 'memory']
        if self.container != '-':
            rotations += ['signal', 'size', 'time']
        self.rotation = self.pick(*rotations)
        self.memory = self.rotation == 'memory'
        self.unbuffered = self.chance(6)
        self.chains = self.pick(None, None, None, 'fp', 'dwarf', 'online')

    @property
    def stacks(self):
        return self.chains in ('dwarf', 'online')

    def masks(self):
        first, last = self.cpus[0], self.cpus[-1]
        each = ':'.join(f'{cpu}/{cpu}' for cpu in self.cpus)
        return 'cpu', 'core', 'socket', 'numa', f'{first}/{last}', each

    def writing(self):
        """Chooses the options for the output."""
        options = ['-o', {'file': 'p.data', 'directory': 'p.data/', '-': '-'}[self.container]]
        options += [self.threads] if self.threads else []
        options += [self.pick('--aio', '--aio=1', '--aio=2', '--aio=16')] if self.chance(35) else []
        options += [self.pick('-z', '-z1', '-z3', '--compression-level=9', '-z19')] if self.chance(40) else []
        options += ['-m', self.pick('1', '4', '16K', '64K', '256K', '512', '1M', '4M')] if self.chance(75) else []
        options += ['--flush-interval', self.pick('1', '10ms', '50ms', '1s', '5s')] if self.chance(60) else []
        options += ['--mmap-flush', self.pick('1', '4K', '64K', '1M')] if self.chance(12) else []
        options += ['--affinity', self.pick('sys', 'node', 'cpu')] if self.chance(12) else []
        options += ['--buffer-memory', self.pick('1M', '8M', '64M')] if self.chance(15) else []
        options += ['-r', self.pick('1', '20')] if self.chance(8) else []
        options += ['--no-buffering'] if self.unbuffered else []
        return options + self.rotating()

    def rotating(self):
        self.max_files = self.pick(1, 2, 4) if self.rotation in self.CUTS and self.chance(25) else None
        options = {'signal': [self.pick('--switch-output', '--switch-output=signal')],
                   'size': [f'--switch-output={self.pick("8K", "64K", "256K", "2M")}'],
                   'time': ['--switch-output=1s'],
                   'overwrite': ['--overwrite'],
                   'max-size': [f'--max-size={self.pick("16K", "256K", "1M")}'],
                   'memory': ['-M', self.pick('64K', '512K', '4M', '64M')]}.get(self.rotation, [])
        self.cuts, self.repeats = self.rotation in self.CUTS, False  # files that have samples of each other
        if self.memory:
            options += ['--snapshot-on-exit'] if self.chance(60) else []
            options += ['--last', self.pick('1s', '100ms', '64K', 'all')] if self.chance(20) else []
            options += ['--trigger', self.pick('every:20ms', 'every:500ms,limit=1/1s')] if self.chance(20) else []
            since = self.chance(30)
            options += ['--since-last'] if since else []
            if self.container != '-' and self.chance(30):
                options += ['--switch-output']
                self.cuts = True
                self.repeats = not since
                self.max_files = self.pick(1, 2, 4) if self.chance(25) else None
        if self.container != '-' and self.chance(8):
            options += ['--timestamp-filename']
        return options + (['--switch-max-files', str(self.max_files)] if self.max_files else [])

    # --- what samples carry, when it begins and ends ---

    def where(self):
        options = {'-C': ['-C', ','.join(map(str, self.cpus))], '-a': ['-a'], 'command': []}.get(
            self.target, [self.target, '{tasks}'])
        return options + ([] if self.inherit else ['-i'])

    def carried(self):
        options = {'fp': [self.pick('-g', '--call-graph=fp')],
                   'dwarf': [self.pick('--call-graph=dwarf', '--call-graph=dwarf,1024')],
                   'online': [self.pick('--call-graph=dwarf,online', '--call-graph=dwarf,1024,online')]}.get(
                       self.chains, [])
        options += ['--user-callchains'] if self.chains and self.chance(15) else []
        options += ['--kernel-callchains'] if self.chains == 'fp' and '--user-callchains' not in options and \
            self.chance(15) else []
        for option in '-B', '-d', '-P', '-R', '-T', '--sample-cpu', '--namespaces', '-N', '--tail-synthesize':
            options += [option] if self.chance(10) else []
        options += ['-k', self.pick(*CLOCKS, *(MORE_CLOCKS if self.soft else ()))] if self.chance(20) else []
        options += ['-c', str(self.period)] if self.period else []
        options += ['-F', '499'] if self.frequency else []
        return options

    def choose_control(self):
        self.fifo = self.chance(35)
        self.socket = not self.fifo or self.chance(60)
        self.start = '-1' if self.target == 'command' and self.software else self.pick('now', 'now', 'now', '-1', '20')
        # A command that is ended from outside ends in its own time: what it does then is no known number.
        self.end = 'close' if self.target == 'command' and self.software else \
            self.pick('close', 'SIGINT', 'SIGTERM', 'stop')
        # Of whole CPUs only a command's end, or somebody, ends it.
        self.sleeper = self.target != 'command' and self.chance(50)
        if self.whole and not self.sleeper and self.end == 'close':
            self.end = 'stop'

    def begin_and_end(self):
        self.fails_on_loss = self.chance(15)
        options = ['--control', 'fifo:{to},{from}'] if self.fifo else []
        options += [] if self.socket else ['--no-control-socket']
        options += [] if self.start == 'now' else ['-D', self.start]
        options += ['--fail-on-loss'] if self.fails_on_loss else []
        return options + (['-v'] if self.chance(10) else [])

    def choose_refusal(self):
        """Returns (options, words) that make the set one that is refused, or None."""
        fitting = [(options, words) for options, words, fits in REFUSED if fits(self)]
        return self.pick(*fitting) if self.chance(12) else None

    # --- the whole ---

    def argv(self, command, names):
        """Returns the words after `ringtail record`; @names has the values known only at run time."""
        options = list(self.options)
        for i, event in enumerate(self.events):
            if i == 1 and self.group:
                continue
            both = f'{{{{{event.text},{self.events[1].text}}}}}' if i == 0 and self.group else event.text
            options += ['-e', both]
            if event.filter(self.whole):
                options += ['--filter', event.filter(self.whole)]
        if self.refused:
            options += self.refused[0]
        words = [word.format(**names) if '{' in word else word for word in options]
        return words + (['--', *command] if command else [])

    def title(self):
        return ' '.join(self.options + [event.kind for event in self.events] + ['refused'] * bool(self.refused))

    @property
    def every(self):
        """Returns N if one event of N is a sample; with -P the kernel samples each hit of a tracepoint."""
        return self.period if self.period and '-P' not in self.options else 1

    def expected(self, event, enabled):
        """Returns the number of samples of an event, if the load determines it; @enabled: for each phase, whether
        events count."""
        count = 0
        for phase, counts in zip(self.phases, enabled):
            for task, word, n in phase:
                if counts and CPUS[task % len(CPUS)] in self.cpus:
                    count += event.made_by(word, n, self.inherit)
        return count // self.every
