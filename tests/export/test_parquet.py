# SPDX-License-Identifier: Apache-2.0
"""Parquet: two engines, which share no code, read the tables; SQL gives what report says."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess

from lab import EVENTS, Skipped, escape, expect, from_npm, node
from recording import BUILD_ID, CODE, FUNCTION

TABLES = ['maps.parquet', 'samples.parquet', 'stacks.parquet']
DUCKDB = '''
const {DuckDBInstance} = require('@duckdb/node-api');
(async () => {
    const connection = await (await DuckDBInstance.create()).connect(), rows = [];
    for (const query of JSON.parse(require('fs').readFileSync(0)))
        rows.push((await connection.runAndReadAll(query)).getRows());
    console.log(JSON.stringify(rows, (key, value) => typeof value == 'bigint' ? Number(value) : value));
})();
'''
CHDB = '''
const {query} = require('chdb'), rows = [];
for (const text of JSON.parse(require('fs').readFileSync(0)))
    rows.push(query(text, 'JSONCompactEachRow').split('\\n').filter(line => line).map(line => JSON.parse(line)));
console.log(JSON.stringify(rows));
'''


def export(bench, kind, *args):
    """Returns the folder of an export."""
    folder = bench.path(f'parquet-{kind}')
    shutil.rmtree(folder, ignore_errors=True)
    bench.run(kind, '--to', 'parquet', '-o', folder, *args)
    expect('tables', sorted(os.listdir(folder)) == TABLES, os.listdir(folder))
    return folder


class Engine:
    """Answers queries, in which FROM names a table of an export as {samples}, {stacks} or {maps}."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        package, self.program, self.table = {
            'duckdb': ('@duckdb/node-api', DUCKDB, "read_parquet('{}/{}.parquet')"),
            'chdb': ('chdb', CHDB, "file('{}/{}.parquet', Parquet)")}[name]
        self.argv = [node(), '-e', self.program]
        self.cwd = os.path.dirname(from_npm(package))

    def ask(self, *queries):
        """Returns a list of rows for each query."""
        tables = {name: self.table.format(self.folder, name) for name in ('samples', 'stacks', 'maps')}
        p = subprocess.run(self.argv, cwd=self.cwd, input=json.dumps([query.format(**tables) for query in queries]),
                           capture_output=True, text=True, timeout=120, check=False)
        if 'ERR_DLOPEN_FAILED' in p.stderr:
            raise Skipped(f'{self.name} does not run here')
        expect(f'{self.name} {queries}:', p.returncode == 0, p.stderr[-600:])
        return [[[int(v) if isinstance(v, str) and re.fullmatch(r'-?\d{1,19}', v) and v == str(int(v)) else v for v in row]
                 for row in rows] for rows in json.loads(p.stdout)]


def compare(bench, kind, engine):
    """Checks that an engine finds each sample with its stack, in order."""
    _, names, samples = bench.recording(kind)
    rows, stacks, maps = Engine(engine, export(bench, kind)).ask(
        'SELECT time, event, cpu, pid, tid, comm, cgroup, period, stack, address FROM {samples} ORDER BY time',
        'SELECT stack, depth, function, inlined, map FROM {stacks} ORDER BY stack, depth',
        'SELECT map, file, build_id FROM {maps}')
    frames = collections.defaultdict(list)
    for stack, depth, function, inlined, number in stacks:
        expect('depths count from 0', depth == len(frames[stack]) and not inlined, depth)
        frames[stack].append(str(function))
        expect('map', number in range(len(maps)), number)
    expect('stacks are distinct', len(set(map(tuple, frames.values()))) == len(frames))
    known = [[EVENTS[s.event], s.cpu, s.pid, s.tid, escape(s.comm), '/unit' if kind == 'plain' else '/"\\xff\\x0a',
              s.period, [names[f] for f in s.functions], CODE + s.functions[0] * FUNCTION + 8] for s in samples]
    ours = [[*row[1:8], frames[row[8]], row[9]] for row in rows]
    for our, one in zip(ours, known):
        expect(f'{engine}: samples differ:', our == one, our, one)
    expect('number of samples', len(ours) == len(known), len(ours))
    expect('times', all(b[0] - a[0] >= 1000000 for a, b in zip(rows, rows[1:])))
    expect('the map of the program', [0, '/program', BUILD_ID.hex()] in maps, maps)
    if kind == 'plain':
        report = rows_of_report(bench)
        for event in EVENTS:
            top, = Engine(engine, export(bench, kind)).ask(
                'SELECT sum(period) AS total, function FROM {samples} AS s JOIN {stacks} AS k ON s.stack = k.stack '
                f"WHERE depth = 0 AND event = '{event}' GROUP BY function ORDER BY total DESC LIMIT 10")
            expect(f'top of {event}', [tuple(row) for row in top] == report[event][:10], top, report[event][:10])


def rows_of_report(bench):
    """{event: [(period, symbol)]} of the tables of report."""
    text = bench.report('plain', '--no-children', '-g', 'none', '-F', 'period,sym')
    tables = {event: text.split(f"of event '{event}'")[1].split('# Samples')[0] for event in EVENTS}
    return {event: [(int(number), name) for number, name in re.findall(r'^ +(\d+) +\[.\] (.*?) *$', table, re.M)]
            for event, table in tables.items()}


def test_duckdb_reads_each_sample(bench):
    compare(bench, 'plain', 'duckdb')


def test_duckdb_reads_hostile_names(bench):
    compare(bench, 'hostile', 'duckdb')


def test_clickhouse_reads_each_sample(bench):
    compare(bench, 'plain', 'chdb')


def test_clickhouse_reads_hostile_names(bench):
    compare(bench, 'hostile', 'chdb')


def test_files_begin_and_end_as_parquet(bench):
    for kind in 'plain', 'hostile':
        folder = export(bench, kind)
        for name in TABLES:
            with open(os.path.join(folder, name), 'rb') as f:
                data = f.read()
            length, = struct.unpack('<I', data[-8:-4])
            expect(name, data[:4] == data[-4:] == b'PAR1' and 40 < length < len(data) - 12, name, length)
            expect('mode', os.stat(os.path.join(folder, name)).st_mode & 0o777 == 0o600)


def test_without_samples(bench):
    export(bench, 'plain', '--pid', '4242')


def test_output_is_a_directory(bench):
    bench.run('plain', '--to', 'parquet', status=2)
    bench.run('plain', '--to', 'parquet', '-o', '-', status=2)
    bench.run('plain', '--to', 'parquet', '-o', '/dev/full', status=1)
    path = bench.path('parquet-links')
    os.mkdir(path)
    with open(bench.path('target'), 'wb') as f:
        f.write(b'target')
    os.symlink(bench.path('target'), path + '/stacks.parquet')
    bench.run('plain', '--to', 'parquet', '-o', path, status=1)
    expect('a link is not followed', os.path.getsize(bench.path('target')) == 6 and
           os.listdir(path) == ['stacks.parquet'], os.listdir(path))
    os.remove(path + '/stacks.parquet')
    os.mkfifo(path + '/kept')
    folder = export(bench, 'plain')
    for name in os.listdir(folder):
        shutil.copy(os.path.join(folder, name), os.path.join(path, name))
    os.chmod(path + '/maps.parquet', 0o600)
    bench.run('plain', '--to', 'parquet', '-o', path)
    expect('replaced in place', sorted(os.listdir(path)) == ['kept', *TABLES])
    os.symlink(path, bench.path('link-to-folder'))
    bench.run('plain', '--to', 'parquet', '-o', bench.path('link-to-folder'), status=1)
