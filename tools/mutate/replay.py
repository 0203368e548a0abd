#!/usr/bin/env python3
"""Replays the mutants of tests/mutants/: the test that each names must fail. See tools/mutants."""
import argparse
import os
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from reach import list_tests, run_test
from run import BUILD, ROOT, Compiler, build, compile_commands

FOLDER = Path("tests/mutants")


class Recorded(NamedTuple):
    """A mutant: its name, the file that it changes, that file's text with it, and the test that must fail."""

    name: str
    path: str
    text: str
    test: str


def refuse(name, why):
    sys.exit(f"{FOLDER / name}: {why}")


def source_of(test):
    """The file that a test is made of."""
    kind, _, name = test.partition("/")
    if kind in ("cli", "faults") and Path("tests", test).is_file():
        return Path("tests", test)
    if kind == "faults":
        commands = Path("tests/faults/commands")
        return commands if f"\n{name}: " in commands.read_text() else Path()
    if kind == "cli":
        case = Path("tests/cli/cases", name, "cmd")
        return case if case.is_file() else Path("tests/cli", name)
    if kind == "state":
        return Path("tests/state/run")
    if kind == "conform":
        rows = Path("src/registry/navigators.def").read_text()
        return Path("tests/conform/conform.c") if f"NAVIGATOR({name}," in rows else Path()
    if kind == "faults":
        commands = Path("tests/faults/commands")
        return commands if f"\n{name}: " in "\n" + commands.read_text() else Path()
    return Path("tests", test).parent / f"test_{Path(test).name}.c"


def read_mutant(name):
    """A mutant of a file; ends the program where it cannot be applied."""
    parts = {"# ": [], "file ": [], "test ": [], "- ": [], "+ ": []}
    for number, line in enumerate((FOLDER / name).read_text().splitlines(), 1):
        begin = next((p for p in parts if (line + " ").startswith(p)), None)
        if begin is None:
            refuse(name, f"line {number} is none of #, file, test, - and +")
        parts[begin].append(line[len(begin) :])
    before, after = "\n".join(parts["- "]), "\n".join(parts["+ "])
    if len(parts["file "]) != 1 or len(parts["test "]) != 1 or not before or not parts["+ "] or before == after:
        refuse(name, "a file, a test, an original text and another one are wanted")
    path, test = parts["file "][0], parts["test "][0]
    if not Path(path).is_file():
        refuse(name, f"there is no file {path}")
    source = Path(path).read_text()
    if source.count(before) != 1:
        refuse(name, f"the original text occurs {source.count(before)} times in {path}, not once")
    if not source_of(test).is_file():
        refuse(name, f"there is no test '{test}'")
    return Recorded(name, path, source.replace(before, after), test)


class Replay:
    """Runs the tests of recorded mutants: property tests with few cases first, then with as many as `make check` does."""

    def __init__(self, options):
        build(BUILD, "", "all")
        self.end = options.start + options.time
        self.tests = list_tests(BUILD)
        commands = compile_commands()
        self.free = [Compiler(i, *commands) for i in range(options.jobs)]
        self.seconds, self.alone = {}, threading.Lock()

    def runs_of(self, test):
        """The ways to run a test."""
        few = self.tests[test]
        return [few, {**few, "command": few["command"][:-1]}] if test.startswith("property/") else [few]

    def time_alone(self, test, way, run):
        """The processor time that a test takes without any mutant; None where it does not pass."""
        if (test, way) not in self.seconds:
            code, seconds = run_test(run, [BUILD], 600)
            self.seconds[test, way] = seconds if code == 0 else None
        return self.seconds[test, way]

    def outcome(self, mutant):
        """What becomes of a mutant: killed, SURVIVED, or why it cannot be tried, and the line that says so."""
        if time.monotonic() > self.end:
            return "not tried", f"not tried {mutant.name}: the time is over"
        compiler = self.free.pop()
        try:
            if mutant.test not in self.tests:
                return "not tried", f"not tried {mutant.name}: {mutant.test} is not built here"
            if not compiler.make(mutant):
                return "refused", f"REFUSED  {mutant.name}: does not compile, or changes no code"
            for way, run in enumerate(self.runs_of(mutant.test)):
                with self.alone if run["alone"] else nullcontext():
                    alone = self.time_alone(mutant.test, way, run)
                    if alone is None:
                        return "refused", f"REFUSED  {mutant.name}: {mutant.test} fails without any mutant"
                    code, _ = run_test(compiler.own_program(run), [compiler.folder, BUILD], 10 + 4 * alone)
                if code != 0:
                    return "killed", f"killed   {mutant.name} by {mutant.test}"
            return "survived", f"SURVIVED {mutant.name}: {mutant.test} passes"
        finally:
            self.free.append(compiler)


def main():
    parser = argparse.ArgumentParser(prog="tools/mutants")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of tests/mutants/ (all)")
    parser.add_argument("--check", action="store_true", help="only see that every mutant can still be applied")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time (all processors)")
    parser.add_argument("--time", type=float, default=float("inf"), help="seconds after which no other one is tried")
    options = parser.parse_args()
    options.start = time.monotonic()
    os.chdir(ROOT)
    mutants = [read_mutant(name) for name in options.names or sorted(os.listdir(FOLDER))]
    if options.check:
        print(f"{len(mutants)} mutants can be applied")
        return 0
    replay = Replay(options)
    counts = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        for done in as_completed([pool.submit(replay.outcome, mutant) for mutant in mutants]):
            kind, line = done.result()
            counts[kind] += 1
            print(line, flush=True)
    more = "".join(f", {counts[kind]} {kind}" for kind in ("refused", "not tried") if counts[kind])
    print(f"{counts['killed']} killed, {counts['survived']} survived{more}")
    return 1 if counts["survived"] or counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
