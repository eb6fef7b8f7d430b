# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven by its DevTools protocol through a pipe. It notes errors and requests of the page."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--disable-extensions',
         '--allow-file-access-from-files=false', '--force-device-scale-factor=1', '--remote-debugging-pipe', '--hide-scrollbars']
PATIENCE = 60  # seconds for an answer


class Browser:
    """A browser with one page. `errors` are what its console and scripts complain of, `requests` what it asked for."""

    def __init__(self, folder, width=1280, height=800):
        self.errors, self.requests, self.rest, self.number, self.session = [], [], b'', 0, None
        ours, theirs_out = os.pipe()
        theirs_in, self.to = os.pipe()
        self.source = ours

        def place():  # Chromium reads from 3 and writes to 4
            high_in, high_out = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)
        argv = [shutil.which('chromium'), *FLAGS, '--user-data-dir=' + os.path.join(folder, 'profile'),
                f'--window-size={width},{height}', 'about:blank']
        self.child = subprocess.Popen(argv, preexec_fn=place, close_fds=False, pass_fds=(), stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=folder))
        os.close(theirs_in)
        os.close(theirs_out)
        page = next(t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=page['targetId'], flatten=True)['sessionId']
        for domain in 'Page', 'Runtime', 'Log', 'Network':
            self.call(domain + '.enable')
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call('Browser.close')
            self.child.wait(10)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()
        os.close(self.source)
        os.close(self.to)

    def _note(self, message):
        what, about = message.get('method'), message.get('params', {})
        if what == 'Runtime.exceptionThrown':
            details = about['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description') or details['text'])
        elif what == 'Runtime.consoleAPICalled' and about['type'] in ('error', 'warning', 'assert'):
            self.errors.append(' '.join(str(arg.get('value')) for arg in about['args']))
        elif what == 'Log.entryAdded':
            self.errors.append(about['entry']['text'])
        elif what == 'Network.requestWillBeSent':
            self.requests.append(about['request']['url'])

    def _read(self, deadline):
        while b'\0' not in self.rest:
            if not select.select([self.source], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError('Chromium does not answer')
            piece = os.read(self.source, 1 << 20)
            if not piece:
                raise EOFError('Chromium ended')
            self.rest += piece
        message, self.rest = self.rest.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **params):
        """Calls a method of the protocol and returns its result."""
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._read(deadline)
            if answer.get('id') != self.number:
                self._note(answer)
            elif 'error' in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer['result']

    def resize(self, width, height, dark=False):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def run(self, script):
        """Returns what an expression of JavaScript gives."""
        result = self.call('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            details = result['exceptionDetails']
            raise RuntimeError(details.get('exception', {}).get('description') or details['text'])
        return result['result'].get('value')

    def open(self, path, fragment='', patience=PATIENCE):
        """Opens a file and waits until it is shown. Returns whether it could be."""
        self.call('Page.navigate', url='about:blank')
        self.requests.clear()
        self.call('Page.navigate', url=f'file://{path}{fragment}')
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            state = self.run('location.protocol === "file:" ? document.documentElement?.dataset.state : null')
            if state:
                return state == 'ready'
            time.sleep(0.05)
        raise TimeoutError('the page is not shown')

    def key(self, key, shift=False):
        """Presses a key: a character, or a name such as Enter."""
        text = {'Enter': '\r'}.get(key, key if len(key) == 1 else None)
        codes = {'Enter': 13, 'Escape': 27, 'ArrowLeft': 37, 'ArrowUp': 38, 'ArrowRight': 39, 'ArrowDown': 40, 'Backspace': 8}
        event = {'key': key, 'modifiers': 8 if shift else 0, 'windowsVirtualKeyCode': codes.get(key, 0)}
        self.call('Input.dispatchKeyEvent', type='keyDown', **event, **({'text': text} if text else {}))
        self.call('Input.dispatchKeyEvent', type='keyUp', **event)

    def type(self, text):
        for c in text:
            self.key(c)

    def box(self, selector):
        """Returns (x, y, width, height) of an element."""
        return self.run(f'(b => [b.x, b.y, b.width, b.height])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())')

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y, button='left', clickCount=1)
        self.mouse('mouseReleased', x, y, button='left', clickCount=1)

    def click_on(self, selector):
        x, y, width, height = self.box(selector)
        self.click(x + width / 2, y + height / 2)

    def drag(self, x, y, to_x, to_y):
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y, button='left', clickCount=1)
        self.mouse('mouseMoved', (x + to_x) / 2, (y + to_y) / 2, button='left', buttons=1)
        self.mouse('mouseMoved', to_x, to_y, button='left', buttons=1)
        self.mouse('mouseReleased', to_x, to_y, button='left', clickCount=1)

    def picture(self, path):
        """Writes what is shown as PNG."""
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.call('Page.captureScreenshot', format='png')['data']))
