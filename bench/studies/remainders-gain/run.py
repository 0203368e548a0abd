#!/usr/bin/env python3
"""The share of the gain by remainders that the default finds, and what it takes.

usage: run.py PROGRAM [PAIRS [AT_ONCE]]

PAIRS: a table of machine, problem, utilization and EDP of the optimum of tiles that divide, and the largest gain known
(tests/golden/remainders/pairs.csv). One line for each pair: the share of the logarithm of the gain that `map` finds, EDPs
without and with remainders, and CPU seconds of both. Then the mean share of the pairs with a gain above 0.1 %, and the
ratio of CPU seconds, of all pairs and of those without a gain.
"""
import concurrent.futures
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

LEAST_GAIN = 1.001


def search(program, machine, problem, *options):
    """The EDP of the answer, and CPU seconds."""
    command = [program, "map", "-a", machine, "-p", problem, "--threads", "1", "--json", "-q", *options]
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return json.load(out)["results"][0]["best"]["objective"], used.ru_utime


def study(program, row):
    machine, problem, known = row["arch"], row["problem"], float(row["best_known_gain"])
    divided, before = search(program, machine, problem, "--no-remainders")
    any_tiles, after = search(program, machine, problem)
    share = math.log(divided / any_tiles) / math.log(known) if known > LEAST_GAIN else None
    return machine, problem, known, share, divided, any_tiles, before, after


def report(name, rows):
    if rows:
        before, after = sum(row[6] for row in rows), sum(row[7] for row in rows)
        print("%s: %d pairs, CPU %.1f -> %.1f s, %.2f times" % (name, len(rows), before, after, after / before))


def main():
    program = sys.argv[1]
    pairs = sys.argv[2] if len(sys.argv) > 2 else "tests/golden/remainders/pairs.csv"
    with open(pairs, newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    found = []
    with concurrent.futures.ThreadPoolExecutor(int(sys.argv[3]) if len(sys.argv) > 3 else 1) as pool:
        for row in pool.map(lambda row: study(program, row), table):
            print("%-14s %-60s gain %8.4f of %8.4f, share %s (%.2f, %.2f CPU s)" % (
                row[0], row[1], row[4] / row[5], row[2], "-" if row[3] is None else "%.3f" % row[3], row[6], row[7]), flush=True)
            found.append(row)
    gains = [row for row in found if row[3] is not None]
    print("mean share of the log gain: %.3f of %d pairs; above 0.9: %d" % (
        sum(min(row[3], 1) for row in gains) / max(len(gains), 1), len(gains), sum(row[3] >= 0.9 for row in gains)))
    print("worse than tiles that divide: %d" % sum(row[5] > row[4] * (1 + 1e-12) for row in found))
    report("all", found)
    report("with a gain", gains)
    report("without", [row for row in found if row[3] is None])


if __name__ == "__main__":
    main()
