"""Which tests reach which lines, and how long they take: what a mutant is tried with.

A line is known by its file, its text and its number among equal lines, so that what was measured holds after changes
elsewhere. Tests are measured again when their program or their files changed.
"""
import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import zlib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

LABELS = {"unit", "property", "golden", "conform", "cli", "fuzz", "ranks"}
NOT_THESE = re.compile(r"^(python/|repository/|install/|cli/page-in-browser)")
# Property tests whose cases take little or much: how many times as many cases they get.
MORE = {"chain": 50, "check_cost": 0.25, "constraints": 8, "core_scores": 10, "densities": 4, "formats": 4, "least_factor": 10, "map_space": 2, "minimum": 10,
        "model_oracle": 8, "model_paths": 20, "model_windows": 8, "optimal": 2, "order_classes": 8, "sparse": 10, "systolic": 10, "verify": 0.25}
ENOUGH = {"unit": 40, "property": 10}  # seconds of processor time after which a test that is measured is ended; of other kinds 4
ENDED = 99  # its exit code then


def line_names(path, lines):
    """The names of the lines of a file, in order."""
    seen = defaultdict(int)
    names = []
    for line in lines:
        text = " ".join(line.split())
        names.append(f"{path}|{seen[text]}|{text}")
        seen[text] += 1
    return names


def list_tests(build):
    """The tests that can kill a mutant: name -> command, folder, and a hash of what they run."""
    listed = json.loads(subprocess.check_output(["ctest", "--test-dir", build, "--show-only=json-v1"]))
    tests = {}
    for test in listed["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if not set(properties.get("LABELS", [])) & LABELS or NOT_THESE.match(test["name"]) or "command" not in test:
            continue  # without a command: its program is not built
        command, more = test["command"], MORE.get(test["name"].removeprefix("property/"), 1)
        if command[-1].isdigit():
            command = [*command[:-1], str(int(more * int(command[-1])))]
        tests[test["name"]] = {
            "command": command,
            "folder": properties.get("WORKING_DIRECTORY", str(build)),
            "alone": bool(properties.get("RUN_SERIAL")),
            "key": hash_of(test["name"], command),
        }
    return tests


def hash_of(name, command):
    """A hash of a test's arguments, programs and, for a case of the program, its folder."""
    digest = hashlib.sha256(repr(command[1:]).encode())
    files = [Path(word) for word in command if os.path.isfile(word) and not word.endswith("/sextant")]
    if name.startswith("cli/"):
        files = sorted(p for p in Path("tests/cli/cases", name[4:]).glob("*") if p.is_file())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


running = set()


def stop_tests():
    """Ends the tests that run."""
    for group in list(running):
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def end_tests(*_):
    """Ends the tests that run, and this program: what a signal calls."""
    stop_tests()
    os._exit(1)


def environment_with(libraries, more=None):
    """The environment of a program that finds libraries first in some folders."""
    found = [*map(str, libraries), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(found), **(more or {})}


def run_test(test, libraries, limit, more=None):
    """Runs a test with libraries found first in some folders: its exit code, and the processor time it took. One that takes more
    than `limit` seconds of it, or waits for longer, is ended."""
    command = ["prlimit", f"--cpu={int(limit)}:{int(limit) + 5}", *test["command"]]
    process = subprocess.Popen(command, cwd=test["folder"], env=environment_with(libraries, more), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    running.add(process.pid)
    timer = threading.Timer(60 + 10 * limit, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    running.discard(process.pid)
    process.returncode = os.waitstatus_to_exitcode(status)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, usage.ru_utime + usage.ru_stime


def block_lines(library, root):
    """The address of each block of an instrumented library -> the name of the line where it starts."""
    text = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", library], text=True)
    places = re.findall(r"(?:call|bl)\s[^\n]*__sanitizer_cov_trace_pc[^\n]*\n\s*([0-9a-f]+):", text)
    out = subprocess.run(["addr2line", "-e", library], input="\n".join(places), capture_output=True, text=True).stdout
    names, found = {}, {}
    for place, line in zip(places, out.splitlines()):
        path, _, number = line.partition(" ")[0].rpartition(":")
        path = os.path.relpath(path, root)
        if not number.isdigit() or path.startswith("..") or not os.path.isfile(path):
            continue
        if path not in names:
            names[path] = line_names(path, Path(path).read_text().split("\n"))
        if 0 < int(number) <= len(names[path]):
            found[int(place, 16)] = names[path][int(number) - 1]
    return found


class Reach:
    """What was measured, kept in a file."""

    def __init__(self, file):
        self.file = Path(file)
        saved = json.loads(self.file.read_text()) if self.file.exists() else {"lines": [], "tests": {}}
        self.number = {name: i for i, name in enumerate(saved["lines"])}
        self.tests = saved["tests"]

    def save(self):
        self.file.write_text(json.dumps({"lines": list(self.number), "tests": self.tests}))

    def stale(self, tests):
        """The tests that are new or changed."""
        return [n for n, t in tests.items() if self.tests.get(n, {}).get("key") != t["key"]]

    def measure(self, tests, build, cover, jobs):
        """Measures what is new or changed with the instrumented library in `cover`; names tests that do not pass."""
        stale = self.stale(tests)
        blocks = block_lines(str(cover / "libwhole.so"), os.getcwd())
        for name in blocks.values():
            self.number.setdefault(name, len(self.number))
        print(f"measuring what {len(stale)} tests reach", flush=True)

        def measure_one(name):
            folder = tempfile.mkdtemp(prefix="reach")
            code, seconds = run_test(tests[name], [cover, build], ENOUGH.get(name.partition("/")[0], 4), {"SEXTANT_REACH": folder})
            lines = set()
            for file in Path(folder).iterdir():
                lines.update(blocks.get(int(place, 16)) for place in file.read_text().split())
            shutil.rmtree(folder)
            bits = bytearray(len(self.number) // 8 + 1)
            for line in lines - {None}:
                bits[self.number[line] // 8] |= 1 << self.number[line] % 8
            reached = base64.b64encode(zlib.compress(bytes(bits))).decode() if code in (0, ENDED) else ""
            return name, {"key": tests[name]["key"], "seconds": round(seconds, 2), "code": code, "lines": reached}

        together = sorted((n for n in stale if not tests[n]["alone"]), key=lambda n: n.startswith("conform/"))
        with ThreadPoolExecutor(jobs) as pool:
            for i, (name, result) in enumerate(pool.map(measure_one, together)):
                self.tests[name] = result
                if i % 50 == 49:
                    self.save()
        for name in stale:
            if tests[name]["alone"]:
                self.tests[name] = measure_one(name)[1]
        self.save()
        for name in stale:
            code = self.tests[name]["code"]
            if code not in (0, ENDED):
                print(f"left out: {name} ({'skipped' if code == 77 else f'exit code {code}'})")

    def index(self, tests):
        """The tests that reach each line, quick ones first: name of the line -> names of tests."""
        by_line = defaultdict(list)
        lines = list(self.number)
        for name in sorted((n for n in tests if n in self.tests), key=lambda n: self.tests[n]["seconds"]):
            if not self.tests[name]["lines"]:
                continue
            bits = zlib.decompress(base64.b64decode(self.tests[name]["lines"]))
            for i, byte in enumerate(bits):
                while byte:
                    low = byte & -byte
                    by_line[lines[i * 8 + low.bit_length() - 1]].append(name)
                    byte ^= low
        return by_line
