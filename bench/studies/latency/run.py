#!/usr/bin/env python3
"""What a latency changes: the best mappings of networks on gemmini by Timeloop's cycles and by the tile pipeline's latency, in
both figures.

usage: run.py PROGRAM [SECONDS [NETWORK...]]

SECONDS (10 unless given) are the most for a layer and objective. All searches have the tile pipeline's legality, so that every
mapping has a latency. One line for each layer that differs: how often it occurs, then cycles and latency of the best by cycles
with ties by energy, by cycles with ties by latency, and by latency with ties by energy. "!" marks a search whose least first
criterion is not proven (within the 0.1 % that lists of criteria take for equal), "?" one whose ties are not. Then the sums.
"""
import json
import subprocess
import sys

OBJECTIVES = ["delay,energy", "delay,latency", "latency,energy"]
TIE = 0.001


def layers(program, network):
    said = json.loads(subprocess.run([program, "list", network, "--json"], check=True, capture_output=True, text=True).stdout)
    seen = {}
    for layer in said["layers"]:
        key = layer["einsum"]
        name, count = seen.get(key, (layer["name"], 0))
        seen[key] = (name, count + layer.get("count", 1))
    return list(seen.values())


def search(program, seconds, layer, objective):
    command = [program, "map", "-a", "gemmini", "-p", layer, "--latency", "tile", "--mapper", "optimal", "--objective", objective,
               "--time", seconds, "--json", "-q"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["results"][0]
    best = result["best"]
    least = result.get("lower_bound", 0) >= best["objective"] / (1 + TIE) * (1 - 1e-9)
    mark = "" if result.get("optimal") else "?" if least else "!"
    return best["cycles"], best.get("latency", best["cycles"]), mark


def main():
    program, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "10"
    for network in sys.argv[3:] or ["resnet50", "bert-base"]:
        sums = [[0, 0] for _ in OBJECTIVES]
        open_firsts, open_ties, n = 0, 0, 0
        for name, count in layers(program, network):
            row = [search(program, seconds, "%s/%s" % (network, name), objective) for objective in OBJECTIVES]
            print("%-24s %3d %s" % (name, count, "  ".join("%11d %11.0f%1s" % found for found in row)), flush=True)
            for total, found in zip(sums, row):
                total[0] += count * found[0]
                total[1] += count * found[1]
            open_firsts += sum(found[2] == "!" for found in row)
            open_ties += sum(found[2] == "?" for found in row)
            n += len(row)
        print("%s: %s; %d of %d searches with a least first criterion proven, %d of them with ties" % (
            network, "; ".join("by %s %d cycles, latency %.0f" % (o, *s) for o, s in zip(OBJECTIVES, sums)),
            n - open_firsts, n, n - open_firsts - open_ties))


if __name__ == "__main__":
    main()
