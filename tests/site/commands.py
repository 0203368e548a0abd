"""Runs every command line of the documentation, each for a moment: none may be refused as wrong.

usage: commands.py PROGRAM      from the root of the repository

Commands are the lines of code in docs/*.md that begin with `sextant`; those with placeholders (ARCH, FOLDER, [...], ...) are
left out. They run in a scratch folder in which the files that pages speak of stand for others of this repository, and are
interrupted after a moment, which is no failure. A command fails if it exits with 2, is killed, or says `error:`.
"""
import concurrent.futures
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 0.3  # before the interrupt
FILES = {  # what pages call files of the user
    "arch.yaml": "examples/archs/annotated.yaml", "chip.yaml": "examples/archs/annotated.yaml",
    "my-arch.yaml": "examples/archs/annotated.yaml", "mine.yaml": "examples/archs/annotated.yaml",
    "arch.ert.yaml": "tests/cli/files/grid.ert.yaml", "conv.yaml": "examples/problems/conv3x3.yaml",
    "next.yaml": "examples/problems/conv3x3.yaml", "conv1.yaml": "examples/problems/conv3x3.yaml",
    "problems": "examples/problems", "model.onnx": "tests/cli/files/onnx/small.onnx",
    "config.json": "tests/cli/files/llm/config.json", "buffers.csv": "tests/cli/files/five.buffers.csv",
    "board": "tests/cli/files/judge-map", "measured.csv": "tests/golden/gemmini/measured.csv",
    "operators.csv": "tests/cli/cases/calibrate-operators/rows.csv",
}
ELSEWHERE = {  # pages on which a name is another file
    "placement.md": {"mine.yaml": "tests/cli/files/small.chip.yaml", "model.yaml": "tests/cli/files/block.graph.yaml"},
    "networks.md": {"mine.yaml": "tests/cli/files/block.graph.yaml"},
}
PLACEHOLDER = re.compile(r"\b(ARCH|PROBLEM|FOLDER|FILE|NAME|NETWORK|EINSUM)\b|\[|\.\.\.(?!\d)")
LEFT_OUT = {  # a reason for each
    "--gpu": "needs a GPU", "simulate.py": "a program of the user's", "--chip mine.yaml --evaluator": "a program of the user's",
    "verify ": "needs what another command writes", "report ": "needs what another command writes",
    "fused.yaml": "needs what another command writes", "my.surrogate": "needs what another command writes",
    "--policy resnet50.policy": "needs what another command writes", "resnet50.yaml": "needs what another command writes",
    "mapping.yaml": "needs what another command writes", "sparse.yaml": "files of a design of the user's",
    "constraints.yaml mapper.yaml": "files of a design of the user's", "timeloop-mapper.map.txt": "files of a design of the user's",
    "source=mine": "a column of the user's",
}


def commands(page):
    """The commands of a page, each on one line."""
    text = re.sub(r" *\\\n\s*", " ", page.read_text(encoding="utf-8"))
    for line in text.split("\n"):
        found = re.match(r"(?:    |\$ )(?:\$ )?(sextant [a-z].*)", line)
        if found and not PLACEHOLDER.search(found[1]) and not any(word in found[1] for word in LEFT_OUT):
            open_size = " --set batch=1" if "model.onnx" in found[1] and "--set" not in found[1] else ""  # of the model that stands for it
            yield re.sub(r"\s+#.*", "", found[1]) + open_size


def prepare(folder, page):
    """Puts the files that a page speaks of into a folder."""
    os.symlink(TOP / "examples", folder / "examples")
    for name, path in {**FILES, **ELSEWHERE.get(page, {})}.items():
        (shutil.copytree if (TOP / path).is_dir() else shutil.copy)(TOP / path, folder / name)


def run(program, page, command):
    """What is wrong with a command; None: nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder, page)
        process = subprocess.Popen(["sh", "-c", "exec " + command.replace("sextant", program, 1)], cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, said = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
    wrong = process.returncode in (2, 3) or process.returncode < 0 or "error:" in said
    return f"{page}: {command}\n  exit {process.returncode}: {said.strip()}" if wrong and process.returncode != -signal.SIGINT \
        else None


def main():
    program = os.path.abspath(sys.argv[1])
    pages = [pathlib.Path(path) for path in sorted(glob.glob(str(TOP / "docs" / "*.md")))]
    jobs = [(page.name, command) for page in pages for command in commands(page)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [fault for fault in pool.map(lambda job: run(program, *job), jobs) if fault]
    print("\n".join(faults))
    print(f"{len(jobs)} commands, {len(faults)} of them wrong")
    return 1 if faults or len(jobs) < 50 else 0


sys.exit(main())
