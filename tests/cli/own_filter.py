# SPDX-License-Identifier: Apache-2.0
"""Builds filter.c for script --dlfilter, and the program that a recording of it is about."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, '..', '..', 'src')


def build(name, folder):
    """Returns the path of the filter @name, without its .c, in @folder."""
    path = os.path.join(folder, f'{name}.so')
    subprocess.run(['cc', '-shared', '-fPIC', '-iquote', SOURCES, os.path.join(HERE, f'{name}.c'), '-o', path], check=True)
    return path


def program(folder):
    """Builds filtered.c. Returns its path, and the addresses of its functions by name."""
    path = os.path.join(folder, 'filtered')
    subprocess.run(['cc', '-O1', '-g', '-no-pie', '-fno-pie', '-fcf-protection=none', os.path.join(HERE, 'filtered.c'), '-o',
                    path], check=True)
    lines = subprocess.run(['nm', path], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    return path, {line.split()[2]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}
