#!/usr/bin/env python3
"""Replays the mutants of tests/mutants/: the test that each names must fail. See tools/mutants."""
import argparse
import os
import sys
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
    if kind == "cli":
        return Path("tests/cli/cases", name, "cmd")
    if kind == "conform":
        rows = Path("src/registry/navigators.def").read_text()
        return Path("tests/conform/conform.c") if f"NAVIGATOR({name}," in rows else Path()
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

    def __init__(self):
        build(BUILD, "", "all")
        self.tests = list_tests(BUILD)
        self.compiler = Compiler(0, *compile_commands())
        self.seconds = {}

    def runs_of(self, test):
        """The ways to run a test."""
        few = self.tests[test]
        return [few, {**few, "command": few["command"][:-1]}] if test.startswith("property/") else [few]

    def time_alone(self, test, way, run):
        """The processor time that a test takes without any mutant, with which it has to pass."""
        if (test, way) not in self.seconds:
            code, self.seconds[test, way] = run_test(run, [BUILD], 600)
            if code != 0:
                sys.exit(f"{test} fails without any mutant")
        return self.seconds[test, way]

    def is_killed(self, mutant):
        if not self.compiler.make(mutant):
            sys.exit(f"{mutant.name} does not compile, or changes no code")
        for way, run in enumerate(self.runs_of(mutant.test)):
            limit = 10 + 4 * self.time_alone(mutant.test, way, run)
            if run_test(self.compiler.own_program(run), [self.compiler.folder, BUILD], limit)[0] != 0:
                return True
        return False


def main():
    parser = argparse.ArgumentParser(prog="tools/mutants")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of tests/mutants/ (all)")
    parser.add_argument("--check", action="store_true", help="only see that every mutant can still be applied")
    options = parser.parse_args()
    os.chdir(ROOT)
    mutants = [read_mutant(name) for name in options.names or sorted(os.listdir(FOLDER))]
    if options.check:
        print(f"{len(mutants)} mutants can be applied")
        return 0
    replay = Replay()
    survived = 0
    for mutant in mutants:
        killed = replay.is_killed(mutant)
        survived += not killed
        print(f"killed   {mutant.name} by {mutant.test}" if killed else f"SURVIVED {mutant.name}: {mutant.test} passes", flush=True)
    print(f"{len(mutants) - survived} killed, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
