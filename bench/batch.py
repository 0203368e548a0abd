#!/usr/bin/python3
"""How many mappings per second the batch door of the Python package draws and evaluates, by wall clock and by CPU time.

usage: PYTHONPATH=python bench/batch.py [MAPPINGS]
"""
import sys
import time

import sextant

CASES = (("resnet-conv4", "accel-a"), ("resnet-conv4", "accel-b"), ("resnet-conv4", "eyeriss"), ("mttkrp-0", "accel-a"))


def rate(function, n):
    """The result of a function, and n by the seconds it took: wall, CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, n / (time.perf_counter() - wall), n / (time.process_time() - cpu)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    print(f"{'problem':14}{'arch':10}{'threads':>8}{'drawn/s':>12}{'evaluated/s':>13}{'per CPU s':>12}")
    for problem, arch in CASES:
        model = sextant.Model(sextant.Problem(problem), sextant.Arch(arch))
        mappings, drawn, _ = rate(lambda: sextant.Space(model).sample(n), n)
        for threads in (1, 2):
            runs = [rate(lambda: model.evaluate_batch(mappings, threads=threads), n)[1:] for _ in range(5)]
            wall, cpu = max(r[0] for r in runs), max(r[1] for r in runs)
            print(f"{problem:14}{arch:10}{threads:8}{drawn:12,.0f}{wall:13,.0f}{cpu:12,.0f}")


main()
