# SPDX-License-Identifier: Apache-2.0
"""A terminal for tests: tmux, which types keys and reads what stands in the cells."""
import itertools
import os
import shlex
import subprocess
import time

NUMBERS = itertools.count()
PATIENCE = int(os.environ.get("PATIENCE", "60"))  # seconds until what is waited for must be there


class Terminal:
    """A command in a terminal of its own. Behind its end the shell writes 'status=N'."""

    def __init__(self, folder, argv, columns=100, lines=24, **env):
        self.socket = os.path.join(folder, f'tmux-{next(NUMBERS)}')
        command = ' '.join(shlex.quote(word) for word in argv)
        setting = ' '.join(f'{name}={shlex.quote(value)}' for name, value in env.items())
        script = f'cd {shlex.quote(folder)}; {setting} {command}; echo status=$?; stty -a; exec sleep 1000'
        self._tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(columns), '-y', str(lines), 'bash', '--norc', '-c',
                   script)
        self._tmux('set-option', '-s', 'set-clipboard', 'on')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(['tmux', '-S', self.socket, 'kill-server'], check=False, capture_output=True)

    def _tmux(self, *args):
        env = dict(os.environ, LC_ALL='C.UTF-8', TERM='xterm-256color')
        p = subprocess.run(['tmux', '-S', self.socket, *args], check=True, capture_output=True, env=env, timeout=60)
        return p.stdout.decode(errors='replace')

    def press(self, *keys):
        """Types keys, as tmux spells them (Enter, Down, C-c)."""
        self._tmux('send-keys', *keys)

    def type(self, text):
        self._tmux('send-keys', '-l', text)

    def resize(self, columns, lines):
        self._tmux('resize-window', '-x', str(columns), '-y', str(lines))

    def lines(self, escapes=False):
        return self._tmux('capture-pane', '-p', *(['-e', '-N'] if escapes else [])).split('\n')

    def copied(self):
        """What the program has put into the clipboard."""
        return self._tmux('show-buffer')

    def pid(self, name):
        """The process @name that runs in the terminal."""
        shell = self._tmux('display-message', '-p', '#{pane_pid}').strip()
        found = subprocess.run(['pgrep', '-P', shell, '-x', name], capture_output=True, check=True, text=True)
        return int(found.stdout.split()[0])

    def wait(self, what, so):
        """Waits until so(lines) is true. Returns the lines."""
        end = time.monotonic() + PATIENCE
        while True:
            lines = self.lines()
            if so(lines):
                return lines
            if time.monotonic() > end:
                raise TimeoutError(f'{what}: ' + ' | '.join(line.rstrip() for line in lines if line.strip()))
            time.sleep(0.05)

    def wait_for(self, text):
        """Waits until a line has @text."""
        return self.wait(text, lambda lines: any(text in line for line in lines))

    def wait_gone(self, text):
        return self.wait('not ' + text, lambda lines: not any(text in line for line in lines))
