#!/usr/bin/env python3
"""Searches with mutants of the search's rules, before the independent checker, which has none of them: see tools/mutants."""
import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from reach import environment_with
from replay import FOLDER, read_mutant
from run import ROOT, SCRATCH, Compiler, build, compile_commands, files_of, mutants_of

BUILD = SCRATCH / "released"  # without assertions, which would end a search before it claims anything
TEST = "tests/property-check_search"
RULES = ("src/bound/", "src/mappers/optimal/", "src/space/")
FIRST = 100  # number of the first worker: others are those of tools/mutants --make
DROPPED = ("guard dropped", "condition dropped", "statement deleted")
BATCH = 100  # spaces of one run of the test: what is lost where a mutant ends it
LIMIT = 60  # processor seconds of one
ENDED = 2  # runs of a mutant that end without an answer, after which to give it up
TALLY = re.compile(r"(\d+) optima: .* (\d+) are false: (\d+) accepted, (\d+) refused")


class Outcome(NamedTuple):
    """What the searches with a mutant came to: optima claimed, of these false, accepted, refused; runs without an answer."""

    optima: int = 0
    false: int = 0
    accepted: int = 0
    refused: int = 0
    ended: int = 0

    def __add__(self, other):
        return Outcome(*(a + b for a, b in zip(self, other)))

    def __str__(self):
        return (f"{self.false} of {self.optima} optima false: {self.refused} refused, "
                f"{self.false - self.refused - self.accepted} undecided, {self.accepted} accepted; {self.ended} runs ended early")


def search(libraries, seed):
    """Searches a batch of spaces, with the libraries of some folders."""
    command = ["prlimit", f"--cpu={LIMIT}", BUILD / TEST, str(BATCH), str(seed)]
    done = subprocess.run(command, env=environment_with(libraries), capture_output=True, text=True, errors="replace")
    found = TALLY.search(done.stdout + done.stderr)
    return Outcome(*map(int, found.groups())) if found else Outcome(ended=1)


def list_mutants(options):
    """Names and mutants: recorded ones of the search's rules, those of movable.c that drop something, and a sample of src/bound/."""
    names = options.names or [n for n in sorted(os.listdir(FOLDER)) if read_mutant(n).path.startswith(RULES)]
    mutants = [(name, read_mutant(name)) for name in names]
    if options.names:
        return mutants
    movable, _ = mutants_of(["src/bound/movable.c"], options.seed)
    made, _ = mutants_of(files_of("bound"), options.seed)
    for mutant in [m for m in movable if m.change.kind in DROPPED] + made[: options.count]:
        mutants.append((f"{mutant.path}:{mutant.line}: {mutant.before} -> {mutant.after}", mutant))
    return mutants


def main():
    parser = argparse.ArgumentParser(prog="tools/mutants --independent")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of tests/mutants/ (those of the search's rules, and made ones)")
    parser.add_argument("--spaces", type=int, default=2000, help="random spaces for each mutant (2000)")
    parser.add_argument("--enough", type=int, default=20, help="false optima of a mutant after which to end (20)")
    parser.add_argument("--count", type=int, default=20, help="mutants of a sample of src/bound/ (20)")
    parser.add_argument("--seed", type=int, default=0, help="of the spaces and the sample (0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time (all processors)")
    parser.add_argument("--time", type=float, default=float("inf"), help="seconds after which no other one is tried")
    options = parser.parse_args()
    end = time.monotonic() + options.time
    os.chdir(ROOT)
    mutants = list_mutants(options)
    build(BUILD, "", Path(TEST).name, "Release")
    free = Queue()
    for i in range(options.jobs):
        free.put(Compiler(FIRST + i, *compile_commands(BUILD)))
    honest = search([BUILD], options.seed)
    if honest.false or honest.ended:
        sys.exit(f"without any mutant: {honest}")

    def try_one(mutant):
        """The outcome of one; None where it does not compile, changes no code, or the time is over."""
        compiler, outcome = free.get(), Outcome()
        try:
            if time.monotonic() > end or mutant.path not in compiler.commands or not compiler.make(mutant):
                return None
            for i in range(0, options.spaces, BATCH):
                outcome += search([compiler.folder, BUILD], options.seed + i // BATCH)
                if outcome.false >= options.enough or outcome.accepted or outcome.ended >= ENDED:
                    break
            return outcome
        finally:
            free.put(compiler)

    total, tried, wrong = Outcome(), 0, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for (name, _), outcome in zip(mutants, pool.map(try_one, [m for _, m in mutants])):
            if outcome is None:
                continue
            tried, wrong, total = tried + 1, wrong + (outcome.false > 0), total + outcome
            print(f"{'ACCEPTED ' if outcome.accepted else ''}{name}: {outcome}", flush=True)
    print(f"{tried} of {len(mutants)} mutants tried, {wrong} with false optima; {total}")
    return 1 if total.accepted else 0


if __name__ == "__main__":
    sys.exit(main())
