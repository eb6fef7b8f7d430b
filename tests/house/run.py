#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tree's own rules: floors, sizes, names, contracts, state, format, spelling.

usage: run.py [NAME ...]     NAME selects checks by substring

checks.py has the checks; broken.py has, for each, a small tree that breaks it, and the check must find it.
Prints the graph of floors and the modules without a unit test of their name, then `ok NAME`, `FAIL NAME reason`
for each fault, or `skip NAME reason`; exit status 1 on failure.
"""
import os
import sys

import broken
import checks

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def print_floors(house):
    """Prints the floors, the lowest first, each with the floors that it includes."""
    print('floors, from the bottom up: what each includes')
    edges = house.edges()
    for floor in house.order:
        print(f'  {floor:<17}', ' '.join(other for other in house.order if other in edges.get(floor, ())) or '-')


def print_untested(house):
    """Prints the modules that have no test of their own name."""
    tests = [(floor, name) for _, floor, name in checks.unit_tests(house)]
    print('modules without a unit test of their name')
    for floor in house.order:
        without = [module for module in house.modules(floor)
                   if not any(where == floor and (name == module or name.startswith(module + '_'))
                              for where, name in tests)]
        if without:
            print(f'  {floor:<17}', ' '.join(without))


def run_check(check, house):
    """Runs a check and prints its result. Returns False if it failed."""
    name = check.__name__
    try:
        faults = list(check(house))
    except checks.Skip as reason:
        print('skip', name, reason)
        return True
    for fault in faults:
        print('FAIL', name, fault)
    if not faults:
        print('ok', name)
    return not faults


def main():
    wanted, fine = sys.argv[1:], True
    house = checks.House(TOP)
    if not wanted:
        print_floors(house)
        print_untested(house)
    for check in checks.ALL:
        if not wanted or any(word in check.__name__ for word in wanted):
            fine &= run_check(check, house)
            fine &= broken.try_check(check)
    return 0 if fine else 1


sys.exit(main())
