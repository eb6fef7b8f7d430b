# SPDX-License-Identifier: GPL-2.0
"""record --kcore: the code of a real kernel and of a module, by ringtail and by perf, each read by both."""
import glob
import re

from lab import PERF, Skip, guest, modules, said, said_all, script


def kcore_guest():
    disassembler = glob.glob('/usr/lib/*/libcapstone.so.[0-9]')
    if not PERF or not disassembler:
        raise Skip('no perf, or no Capstone')
    packed = (*modules('amd64', '6.12'), PERF, disassembler[0])
    return guest('kcore', 'amd64', '6.12', ('-s', '2'), script('kcore'), packed=packed)


def test_kcore_of_an_earlier_recording_is_deleted_with_it():
    g = kcore_guest()
    assert [said(g, word) for word in ('first', 'kept', 'deleted')] == ['0', '0', '0'], g.log
    assert said(g, 'recordings') == 'again.data again.data.old', g.log


def test_perf_reads_the_kcore():
    g = kcore_guest()
    for name, symbol in ('ours', r'[a-z_]\w+'), ('module', 'axs_event_init'):
        assert said(g, name) == '0', g.log
        assert f'{name}.data/kcore_dir/kcore for kernel data' in said_all(g, f'perf-{name}-uses'), g.log
        assert re.search(rf'\[k\] {symbol}', said(g, f'perf-{name}-shows')), g.log


def test_code_and_symbols_come_from_the_kcore_alone():
    g = kcore_guest()
    for name, symbol in ('ours', r'[a-z_]\w+'), ('module', 'axs_event_init'), ('perf', r'[a-z_]\w+'):
        assert re.search(rf'\[k\] {symbol}', said(g, name + '-shows')), g.log
        assert said(g, name + '-annotate') == '0' and int(said(g, name + '-code')) >= 2, g.log
    assert said(g, 'none-annotate') != '0', g.log
