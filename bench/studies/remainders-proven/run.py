#!/usr/bin/env python3
"""Which optima with remainders are proven: the share of (layer, machine) pairs that `map --remainders` proves, and the gaps.

usage: run.py PROGRAM [SECONDS [AT_ONCE [MAPPER]]]

SECONDS, 30 unless given, is the time of a search on one thread, 0: as long as the mapper (`auto`) takes. One line for each
pair: gap, value, lower bound, CPU seconds. Then the shares, of all pairs and of matrix products alone.
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

MACHINES = ["glb128", "edge-unified", "accel-a", "accel-b", "mind-mappings", "eyeriss", "simba"]
PRODUCTS = [(197, 768, 768), (197, 3072, 768), (1500, 384, 384), (251, 509, 1021), (197, 197, 64), (127, 127, 127)]
LAYERS = ["resnet18/layer1.0.conv1", "resnet18/layer3.0.conv2", "alexnet/conv2", "mobilenet-v2/block3.project"]


def problems():
    for m, n, k in PRODUCTS:
        yield "product", "O[m,n] += A[m,k]*B[k,n] {m:%d,n:%d,k:%d}" % (m, n, k)
    for layer in LAYERS:
        yield "layer", layer


def search(program, seconds, mapper, machine, kind, problem):
    command = [program, "map", "-a", machine, "-p", problem, "--remainders", "--threads", "1", "--json", "-q"]
    if float(seconds) > 0:
        command += ["--time", seconds]
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command + ["--mapper", mapper], stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if child.returncode != 0:
            return machine, kind, problem, None, "exit code %d" % child.returncode, used.ru_utime
        result = json.load(out)["results"][0]
    value, bound = result["best"]["objective"], result.get("lower_bound", 0)
    gap = 0 if result.get("optimal") else value / bound - 1 if bound > 0 else float("inf")
    return machine, kind, problem, gap, "%.9g %.9g" % (value, bound), used.ru_utime


def shares(name, gaps):
    near = sum(gap <= 0.05 for gap in gaps)
    if gaps:
        print("%s: %d pairs, %d proven, %d within 5 %%" % (name, len(gaps), sum(gap == 0 for gap in gaps), near))


def main():
    program, seconds, at_once, mapper = (sys.argv[1:] + ["30", "1", "auto"][len(sys.argv) - 2:])[:4]
    pairs = [(machine, kind, problem) for machine in MACHINES for kind, problem in problems()]
    found = []
    with concurrent.futures.ThreadPoolExecutor(int(at_once)) as pool:
        for row in pool.map(lambda pair: search(program, seconds, mapper, *pair), pairs):
            gap = "failed" if row[3] is None else "proven" if row[3] == 0 else "%.3f %%" % (100 * row[3])
            print("%-14s %-52s %-10s %s (%.1f CPU s)" % (row[0], row[2], gap, row[4], row[5]), flush=True)
            found.append(row)
    gaps = [row for row in found if row[3] is not None]
    shares("all", [row[3] for row in gaps])
    shares("matrix products", [row[3] for row in gaps if row[1] == "product"])
    for machine in MACHINES:
        shares(machine, [row[3] for row in gaps if row[0] == machine])


if __name__ == "__main__":
    main()
