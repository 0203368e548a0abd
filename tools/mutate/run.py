#!/usr/bin/env python3
"""Makes mutants of the files of some folders and tries whether a test notices them: see tools/mutants."""
import argparse
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import nullcontext
from pathlib import Path

from changes import changes_of
from reach import Reach, end_tests, line_names, list_tests, run_test, stop_tests

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "build-mutants"
BUILD, COVER = SCRATCH / "build", SCRATCH / "cover"
EQUIVALENT = ROOT / "tests" / "mutants-equivalent"
# What a mutant that is no program in C looks like: types that do not fit.
REFUSED = [f"-Werror={w}" for w in ("incompatible-pointer-types", "int-conversion", "implicit-function-declaration",
                                    "discarded-qualifiers", "return-type", "format", "div-by-zero")]
REFUSED += ["-Wno-format-truncation", "-Wno-format-overflow"]  # which sanitizers make gcc guess
# What the sanitizers of `make check` would end: undefined behaviour at once, of survivors bad accesses to memory and leaks.
ENDS = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
ADDRESS = ["-fsanitize=address"]
RELEASED = ["-O3", "-DNDEBUG"]
CASES = 400  # of a property test
QUICK = 1.5  # seconds of a test that is tried before all others
BRISK = 6  # the same of one of FIRST
WIDE = 20  # files that include a header: mutants of headers of more are left out
REACHED = "-fno-inline;-fsanitize-coverage=trace-pc"


def build(folder, flags, target, kind="Debug"):
    """Builds a target in a folder of build-mutants/, the library with more options."""
    cache = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    quietly(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DCMAKE_BUILD_TYPE={kind}", "-DSEXTANT_MUTANTS=ON",
             "-DCMAKE_C_COMPILER=gcc", "-DSEXTANT_WERROR=OFF", "-DSEXTANT_WITH_CUDA=OFF", f"-DSEXTANT_CASES={CASES}",
             f"-DSEXTANT_MUTANTS_FLAGS={flags}", *cache])
    quietly(["cmake", "--build", folder, "--target", target])


def build_instrumented():
    """Builds the library that records what tests reach."""
    build(COVER, REACHED, "sextant_whole")
    quietly(["gcc", "-O2", "-shared", "-fPIC", "-o", COVER / "libmutant.so", ROOT / "tools/mutate/reach.c"])


def quietly(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}tools/mutants: {command[0]} failed")


# The folders that a proof of optimality rests on: the place `proof`; `rest` are the others.
PROOF = ["bound", "check", "model", "mapspace", "space", "verify"]

# The tests that a folder's mutants are tried with after its unit tests and before all others that reach them.
FIRST = {
    "bound": r"unit/verify/effort|property/(bounds|optimal)",
    "calibrate": r"cli/calibrate",
    "check": r"unit/verify/effort|property/check",
    "cli": r"cli/",
    "codesign": r"property/codesign|cli/codesign",
    "core": r"property/core",
    "frontend": r"golden/golden_(timeloop|onnx)|property/round_trip",
    "text": r"golden/golden_timeloop|property/round_trip",
    "fuse": r"property/fuse|cli/map-fuse",
    "ir": r"property/(constraints|answers|round_trip)",
    "mappers": r"property/(optimal|answers|exhaustive)",
    "model": r"golden/golden_(perfect|remainders|sparse|timeloop)|property/(model|sparse|core_scores|formats|densities|zeros|minimum)",
    "navigators": r"conform/",
    "oracle": r"property/(zeros|model_oracle)|golden/golden_(perfect|remainders)",
    "placement": r"property/(placement|allocate|addresses)|golden/golden_minimalloc|cli/(place|allocate)",
    "gpu": r"property/gpu",
    "scale": r"ranks/",
    "mapspace": r"property/(map|order|constraints|exhaustive)",
    "systolic": r"property/systolic|golden/golden_odyssey|cli/systolic",
    "verify": r"property/verify|cli/verify",
}


class Mutant:
    """A change of a file: its place, the lines before and after it, and a number that orders a sample."""

    def __init__(self, path, source, change, seed, occurrence):
        self.path, self.change = path, change
        self.line = source.count("\n", 0, change.start) + 1
        first = source.rfind("\n", 0, change.start) + 1
        last = source.find("\n", change.end)
        self.before = " ".join(source[first:last].split())
        self.after = " ".join((source[first:change.start] + change.text + source[change.end:last]).split())
        self.key = f"{path} | {self.before} | {self.after}"
        self.order = hashlib.sha256(f"{seed} {self.key} {occurrence}".encode()).hexdigest()
        self.text = source[: change.start] + change.text + source[change.end :]

    def __str__(self):
        return f"{self.path}:{self.line}: {self.change.kind}: {self.before} => {self.after}"


def mutants_of(paths, seed):
    """All mutants of some files in the order of the sample, those known to be equivalent left out."""
    equivalent = set()
    for line in EQUIVALENT.read_text().split("\n") if EQUIVALENT.exists() else []:
        if line and not line.startswith("#"):
            equivalent.add(" | ".join(line.split(" | ")[:-1]))
    found, occurrences, known = [], defaultdict(int), 0
    for path in paths:
        source = Path(path).read_text()
        for change in changes_of(source):
            mutant = Mutant(path, source, change, seed, 0)
            occurrences[mutant.key] += 1
            known += mutant.key in equivalent
            if mutant.key not in equivalent:
                found.append(Mutant(path, source, change, seed, occurrences[mutant.key]))
    return sorted(found, key=lambda m: m.order), known


class Compiler:
    """Compiles mutants in a copy of src/, tests/looptree/ and generated files made of links, which is this worker's own."""

    def __init__(self, number, commands, dependents, users):
        self.folder = SCRATCH / f"worker{number}"
        shutil.rmtree(self.folder, ignore_errors=True)
        for path in [*Path("src").rglob("*"), *Path("tests/looptree").rglob("*")]:
            if path.suffix in (".c", ".h", ".def", ".inc"):
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / path).symlink_to(ROOT / path)
        for path in Path("tests").iterdir():
            if path.name != "looptree":
                (self.folder / path).symlink_to(ROOT / path)
        for path in commands:
            if not path.startswith(("src/", "tests/")):
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / path).symlink_to(ROOT / path)
        self.commands, self.dependents, self.users, self.original = commands, dependents, users, {}
        self.programs = {}  # of unit tests with a mutant's header in them: the program -> the one to run instead

    def compile(self, path, output, more=()):
        words = self.commands[path] + REFUSED + [*more, "-o", output, "-c", path]
        done = subprocess.run(words, cwd=self.folder, capture_output=True)
        return Path(self.folder, output).read_bytes() if done.returncode == 0 else None

    def make(self, mutant, more=()):
        """Whether libmutant.so holds the mutant now, compiled with more options: False when it does not compile or is the same code."""
        objects = self.compile_changed(mutant, [*ENDS, *more])
        if objects:
            subprocess.run(["gcc", "-shared", *more, "-o", "libmutant.so", *objects], cwd=self.folder, check=True)
        return bool(objects)

    def is_same_released(self, mutant):
        """Whether a mutant of a file that no other includes is the same code as the original in a release build."""
        return mutant.path.endswith(".c") and not self.compile_changed(mutant, RELEASED)

    def compile_changed(self, mutant, options):
        """The objects of a mutant that differ from the original's with some options; none when it does not compile."""
        files = [mutant.path] if mutant.path.endswith(".c") else sorted(self.dependents[mutant.path])
        for path in files:
            if (path, *options) not in self.original:
                self.original[(path, *options)] = self.compile(path, "original.o", options)
        place = self.folder / mutant.path
        place.unlink()
        place.write_text(mutant.text)
        try:
            objects, self.programs = [], {}
            for i, path in enumerate(files):
                code = self.compile(path, f"mutant{i}.o", options)
                if code is None:
                    return []
                if code != self.original[(path, *options)]:
                    objects.append(f"mutant{i}.o")
            if objects and options != RELEASED:
                self.link_users(mutant.path)
            return objects
        finally:
            place.unlink()
            place.symlink_to(ROOT / mutant.path)

    def own_program(self, test):
        """A test, by the program that has the mutant in it, where there is one."""
        program = self.programs.get(tuple(test["command"][:2]))
        return {**test, "command": [program, *test["command"][1:]]} if program else test

    def link_users(self, header):
        """Links the programs of the unit tests that include a header again, with what it is now."""
        for test in sorted(self.users.get(header, ())):
            folder, name = re.fullmatch(r"tests/(.*)/test_(\w+)\.c", test).groups()
            target, own = "tests/" + folder.replace("/", "-"), self.folder / f"{folder}/{name}".replace("/", "-")
            if self.compile(test, f"{own}.o", ENDS) is None:
                continue
            link = subprocess.check_output(["ninja", "-C", BUILD, "-t", "commands", "-s", target], text=True)
            words = [word for word in shlex.split(link.split("\n")[-2]) if word not in (":", "&&")]
            words = [f"{own}.o" if word.endswith(f"/test_{name}.c.o") else word for word in words]
            words[words.index("-o") + 1] = str(own)
            subprocess.run(words, cwd=BUILD, check=True)
            self.programs[str(BUILD / target), name] = str(own)


@functools.cache
def address_environment():
    """What a program needs to run with a mutant whose accesses to memory are checked."""
    library = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    found = {"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=1"}
    leaks = subprocess.run(["true"], env={**os.environ, **found}, capture_output=True).returncode == 0
    return found if leaks else {**found, "ASAN_OPTIONS": "detect_leaks=0"}


def compile_commands(folder=BUILD):
    """The compiler and its options for each file of src/, tests/looptree/ and unit test, as in a folder of build-mutants/, with include paths into
    the copy; and which files and which unit tests include each header."""
    commands, dependents, users = {}, defaultdict(set), defaultdict(set)
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        path = os.path.relpath(entry["file"], ROOT)
        if not path.startswith(("src/", "tests/looptree/", "tests/unit/", os.path.relpath(folder / "core", ROOT))):
            continue
        words = shlex.split(entry["command"])
        words = words[: words.index("-o")] if "-o" in words else words
        if words[0].endswith("ccache"):
            words = words[1:]
        commands[path] = ["-Isrc" if word == f"-I{ROOT / 'src'}" else word for word in words
                          if word != "-g" and not word.startswith("-W")] + ["-fPIC"]
    listed = subprocess.check_output(["ninja", "-C", folder, "-t", "deps"], text=True)
    for block in listed.split("\n\n"):
        names = [os.path.relpath(os.path.join(folder, line.strip()), ROOT) for line in block.split("\n")[1:]]
        for name in names:
            if names[0] in commands and name.endswith((".h", ".inc")):
                (users if names[0].startswith("tests/unit/") else dependents)[name].add(names[0])
    return commands, dependents, users


class Trial:
    """Tries mutants: who notices each."""

    def __init__(self, options):
        self.options, self.over = options, False
        self.end = options.start + options.time
        self.tests = list_tests(BUILD)
        self.reach = Reach(SCRATCH / "reach.json")
        if not options.measured and self.reach.stale(self.tests):
            build_instrumented()
            self.reach.measure(self.tests, BUILD, COVER, options.jobs)
        self.unknown = set(self.reach.stale(self.tests))
        self.index = self.reach.index(self.tests)
        self.commands, self.dependents, self.users = compile_commands()
        self.lines, self.seconds = {}, {}
        self.kills = defaultdict(Counter)
        self.alone = threading.Lock()
        self.free = [Compiler(i, self.commands, self.dependents, self.users) for i in range(options.jobs)]

    def tests_of(self, mutant):
        """The tests that reach a mutant's line, quick ones before others: unit tests of its folder first, then those of FIRST, then
        others; of each kind those that killed more mutants of its file first, then quicker ones."""
        reached = self.tests_at(mutant.path, mutant.line - 1)
        folder = mutant.path.split("/")[1]
        command = re.match(r"src/cli/cmd_([a-z]+)", mutant.path)
        own, first = f"cli/{command[1]}" if command else f"unit/{folder}/", re.compile(FIRST.get(folder, "$"))
        more = {n for n in self.unknown if n.startswith(own) or first.match(n)}
        more |= {re.sub(r"^tests/(.*)test_(\w+)\.c$", r"\1\2", user) for user in self.users.get(mutant.path, ())}
        reached = reached + sorted(more - set(reached))
        kills = self.kills[mutant.path]

        def rank(name):
            kind = 0 if name.startswith(own) else 1 if first.match(name) else 2
            slow = self.reach.tests.get(name, {"seconds": 0})["seconds"] > (BRISK if kind == 1 else QUICK)
            return slow, kind, -kills[name]

        return sorted(reached, key=rank)

    def tests_at(self, path, at):
        """The tests that reach a line: those of the nearest line above it in the same function that any reaches, since a
        block of code need not be said to start at its first line; of the first lines of a function, the nearest below."""
        if path not in self.lines:
            lines = Path(path).read_text().split("\n")
            self.lines[path] = lines, line_names(path, lines)
        lines, names = self.lines[path]
        for step in (-1, 1):
            near = at
            while 0 <= near < len(lines) and lines[near] != "}":
                if self.index.get(names[near]):
                    return self.index[names[near]]
                near += step
        return []

    def is_left_out(self, mutant):
        """Whether a mutant is of a file that is not built, or of a header in more files than are worth compiling."""
        if mutant.path.endswith(".c"):
            return mutant.path not in self.commands
        return len(self.dependents[mutant.path]) > WIDE

    def try_one(self, mutant):
        """None for a mutant that is none, else its killer's name, or "" when it survives, and what was run."""
        compiler = self.free.pop()
        try:
            if self.is_left_out(mutant) or compiler.is_same_released(mutant) or not compiler.make(mutant):
                return None
            names = self.tests_of(mutant)
            killer, ran = self.first_failing(names, compiler, self.options.limit)
            account = f"{ran} of {len(names)} tests" + (", limit reached" if ran < len(names) else "")
            checked = [n for n in names[:ran] if n.startswith(("unit/", "property/"))]
            if not killer and checked and not self.over and compiler.make(mutant, ADDRESS):
                killer, _ = self.first_failing(checked, compiler, self.options.limit / 2, address_environment())
            return killer, account
        finally:
            self.free.append(compiler)

    def first_failing(self, names, compiler, limit, more=None):
        """The first test that fails, "" where none does within a time, and how many were run."""
        spent = 0.0
        for ran, name in enumerate(names):
            if spent > limit or self.over:
                return "", ran
            failed, took = self.run(name, compiler, more)
            spent += took
            if failed:
                return name, ran + 1
        return "", len(names)

    def run(self, name, compiler, more):
        """Whether a test fails, and its processor time. One that takes twice as long as without the mutant has failed; one
        that does not pass without it within the limit of all tests has not."""
        test, alone = compiler.own_program(self.tests[name]), self.seconds_alone(name, more)
        if alone is None:
            return False, 0.0
        with self.alone if test["alone"] else nullcontext():
            code, took = run_test(test, [compiler.folder, BUILD], 5 + (4 if more else 2) * alone, more)
        return code != 0, took

    def seconds_alone(self, name, more):
        """The processor time of a test without a mutant, or with instrumentation; None where it does not pass in time."""
        measured = self.reach.tests.get(name, {})
        if not more and name not in self.unknown and measured["code"] == 0:
            return measured["seconds"]
        known = name, bool(more)
        if known not in self.seconds:
            code, took = run_test(self.tests[name], [BUILD], self.options.limit, more)
            self.seconds[known] = took if code == 0 else None
        return self.seconds[known]

    def try_samples(self, samples):
        """Tries mutants of each sample in order until its count is reached, those first of which the smallest share is tried; ends
        with the time of the run."""
        with ThreadPoolExecutor(self.options.jobs) as pool:
            waiting = {}
            while self.seconds_left() > 0:
                while len(waiting) < self.options.jobs:
                    sample = min((s for s in samples if s.wants_more()), key=Sample.share, default=None)
                    if sample is None:
                        break
                    mutant = sample.next_mutant()
                    waiting[pool.submit(self.try_one, mutant)] = sample, mutant
                if not waiting:
                    return
                for done in wait(waiting, self.seconds_left(), FIRST_COMPLETED).done:
                    self.note(*waiting.pop(done), done.result())
            print(f"the time is over: {len(waiting)} mutants were not tried to the end", flush=True)
            self.over = True
            stop_tests()

    def note(self, sample, mutant, result):
        """Counts what became of a mutant, and prints it."""
        sample.waiting -= 1
        if result is None:
            return
        killer, account = result
        self.kills[mutant.path][killer] += 1
        (sample.killed if killer else sample.survivors).append(mutant)
        if not killer:
            print(f"SURVIVED {account}: {mutant}", flush=True)
        elif self.options.verbose:
            print(f"killed by {killer}: {mutant}", flush=True)

    def seconds_left(self):
        """The time that is left to the run; without a limit the longest that one can wait for."""
        return min(max(0.0, self.end - time.monotonic()), threading.TIMEOUT_MAX / 2)


class Sample:
    """The mutants of a place, how many of them to try, and what became of them."""

    def __init__(self, place, default, seed, again=None):
        self.place, _, count = place.partition("=")
        self.count = int(count or default)
        name, _, line = self.place.partition(":")
        mutants, self.known = mutants_of(files_of(name), seed)
        self.mutants = [m for m in mutants if (not line or m.line == int(line)) and (again is None or m.key in again)]
        self.at = self.waiting = 0
        self.killed, self.survivors = [], []

    def tried(self):
        return len(self.killed) + len(self.survivors)

    def wants_more(self):
        return self.at < len(self.mutants) and self.tried() + self.waiting < self.count

    def share(self):
        return (self.tried() + self.waiting) / self.count

    def next_mutant(self):
        self.at, self.waiting = self.at + 1, self.waiting + 1
        return self.mutants[self.at - 1]

    def rate(self):
        return 100 * len(self.killed) / self.tried() if self.tried() else 100.0

    def __str__(self):
        return (f"{self.place:<16} {len(self.killed):>4} of {self.tried():>4} killed  {self.rate():5.1f} %  of {len(self.mutants)} "
                f"possible; {self.known} known to be equivalent left out")


def files_of(name):
    """The files of a folder of src/, or a file."""
    path = Path(name) if name.startswith("src/") else Path("src", name)
    if path.is_file():
        return [str(path)]
    files = sorted(str(p) for p in path.rglob("*") if p.suffix in (".c", ".h"))
    if not files:
        sys.exit(f"tools/mutants: there is no file in {path}")
    return files


def survivors_of(file):
    """The keys of the mutants that survived in the output of an earlier run."""
    found = re.findall(r"^SURVIVED [^:]*: (src/\S+?):\d+: [a-z ]+: (.*) => (.*)$", Path(file).read_text(), re.M)
    return {" | ".join(words) for words in found}


def places_of(name):
    """The folders that proof, rest or all stands for, or the one place of a name, each with the count that follows it."""
    name, equals, count = name.partition("=")
    every = sorted(p.name for p in Path("src").iterdir() if p.is_dir())
    folders = {"all": every, "proof": PROOF, "rest": [f for f in every if f not in PROOF]}.get(name, [name])
    return [folder + equals + count for folder in folders]


def main():
    parser = argparse.ArgumentParser(prog="tools/mutants --make")
    parser.add_argument("places", nargs="+", metavar="FOLDER|FILE[:LINE][=COUNT]", help="of src/; proof, rest, all: folders of it")
    parser.add_argument("--count", type=int, default=20, help="mutants for each place (20)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--limit", type=float, default=60, help="seconds of tests for a mutant (60)")
    parser.add_argument("--time", type=float, default=float("inf"), help="seconds of the whole run, after which to print what there is")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time (all processors)")
    parser.add_argument("--least", type=float, default=0, help="kill rate in percent below which to fail (0)")
    parser.add_argument("--measured", action="store_true",
                        help="measure no tests; new and changed ones count as reaching all of their folder")
    parser.add_argument("--again", metavar="FILE", help="try only what survived in an earlier run, by its output")
    parser.add_argument("--list", action="store_true", help="list the sample; try nothing")
    parser.add_argument("--verbose", action="store_true", help="also say what killed each")
    options = parser.parse_args()
    options.start = time.monotonic()
    os.chdir(ROOT)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_tests)
    again = survivors_of(options.again) if options.again else None
    samples = [Sample(p, options.count, options.seed, again) for place in options.places for p in places_of(place)]
    if options.list:
        for sample in samples:
            print(*sample.mutants[: sample.count], sep="\n")
        return 0
    build(BUILD, "", "all")
    trial = Trial(options)
    print(f"mutants are tried from second {time.monotonic() - options.start:.0f} on", flush=True)
    trial.try_samples(samples)
    print(*samples, sep="\n", flush=True)
    return 1 if any(sample.rate() < options.least for sample in samples) else 0


if __name__ == "__main__":
    sys.exit(main())
