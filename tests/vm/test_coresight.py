# SPDX-License-Identifier: GPL-2.0
"""The truth about traces of CoreSight, stepped on an arm64 kernel, and a decoder that runs there."""
import functools
import sys
import tempfile

from lab import DIR, FILES, TOP, call, guest, kernel, path_of, ringtail, said

sys.path.insert(0, TOP + '/tests/cli')
from cs_recording import Form, make  # pylint: disable=wrong-import-position

DATA = TOP + '/tests/data/coresight'
PROGRAM = '/usr/bin/program'  # in the guest, and in the recordings that are read there
FORMS = {'frames': Form(), 'rings': Form(raw=True, compress=True, return_stack=True, cycles=True)}
OPTIONS = '--itrace=be', '-F', 'tid,time,ip,addr,flags,sym'
SCRIPT = f'''cs-step {PROGRAM} >steps; echo "stepped: $?"
for name in {' '.join(FORMS)}; do
	ringtail script -f -i /usr/lib/$name.data {' '.join(OPTIONS)} >$name.branches; echo "$name: $?"
done
emit steps *.branches
'''


@functools.cache
def recordings(name):
    """The path and the run of each form; the program is named so."""
    kernel('arm64', None)
    where = tempfile.mkdtemp(dir=FILES.name)
    return {form: (f'{where}/{form}.data', make(DATA + '/program', DATA + '/steps', FORMS[form], f'{where}/{form}.data', name))
            for form in FORMS}


def arm64_guest():
    packed = tuple(f'{path}=/usr/lib/{name}.data' for name, (path, _) in recordings(PROGRAM).items())
    # ringtail loads it when it decodes.
    name = 'libopencsd_c_api.so.1'
    library = f'{DIR}/arm64/root/usr/lib/aarch64-linux-gnu/{name}=/usr/lib/{name}'
    return guest('coresight', 'arm64', None, (), SCRIPT, packed=(f'{DATA}/program={PROGRAM}', library, *packed))


def test_a_stepped_program_goes_where_its_recorded_run_went():
    g = arm64_guest()
    assert said(g, 'stepped') == '0', g.log
    p = call(['diff', DATA + '/steps', path_of(g, 'steps')])
    assert p.returncode == 0, p.stdout[:2000]


def test_an_arm64_ringtail_decodes_coresight():
    """As one on this machine does, whose branches the suite itrace compares with the true ones."""
    g = arm64_guest()
    for name, (path, run) in recordings(None).items():
        assert said(g, name) == '0', g.log
        with open(path_of(g, name + '.branches'), encoding='utf-8') as f:
            theirs = f.read()
        assert len(theirs.splitlines()) == len(run.branches), theirs[:1000]
        assert theirs == ringtail('script', '-f', '-i', path, *OPTIONS), theirs[:1000]
