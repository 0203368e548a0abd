"""Every command of the program as a function: `codesign`, `compare`, `systolic`, `place`, `train`, `verify`, `calibrate`, ...

    import sextant

    answer = sextant.codesign(arch="glb128", problem="alexnet", choose="GLB=32768,131072")
    print(answer["best"])

Options are keyword arguments with underscores for hyphens; a flag is True, an option that may be given several times a list.
Problems, architectures and mappings may be objects of this package. What a function returns is an `Answer`: the JSON of the
command. Ctrl-C ends the command, and the answer is the best so far. The functions and their options are those that
`sextant help --json` lists; `help(sextant.codesign)` shows them.
"""
from __future__ import annotations

import functools
import inspect
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional

from . import html
from .errors import BY_CODE, NAMES, Error, FileError, InputWarning, InternalError, UsageError
from .mappings import Mapping
from .nouns import Arch, Problem

_HERE = pathlib.Path(__file__).resolve().parent
EXIT_NONE, EXIT_BAD, EXIT_OPEN = 1, 2, 4


def program() -> str:
    """The program `sextant`: SEXTANT_PROGRAM, in the package, in the build tree, or on the path."""
    if "SEXTANT_PROGRAM" in os.environ:
        return os.environ["SEXTANT_PROGRAM"]
    for path in (_HERE / "sextant", _HERE.parents[1] / "build" / "sextant"):
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("sextant")
    if not found:
        raise FileError("the program sextant is not there", "build it (make build), install it, or set SEXTANT_PROGRAM")
    return found


class Answer:
    """The answer of a command: its JSON as `raw`, with its keys as items; `exit_code` is 0, 1 where there is no legal answer, or
    4 where what was asked stays undecided; `text` is what the program said where that was no JSON."""

    def __init__(self, command: str, raw: Any, text: str, exit_code: int, interrupted: bool):
        self.command, self.raw, self.text, self.exit_code, self.interrupted = command, raw, text, exit_code, interrupted

    def __getitem__(self, key: Any) -> Any:
        return self.raw[key]

    def __contains__(self, key: Any) -> bool:
        return key in self.raw

    def __iter__(self) -> Iterator[Any]:
        return iter(self.raw)

    def keys(self) -> Any:
        return self.raw.keys()

    def __repr__(self) -> str:
        return f"<Answer of sextant {self.command}: {', '.join(self.raw) if isinstance(self.raw, dict) else self.text[:60]!r}>"

    def _repr_html_(self) -> str:
        return html.tree(f"sextant {self.command}", self.raw) if self.raw is not None else html.text(self.text)


@functools.lru_cache(maxsize=None)
def _table(path: str) -> Dict[str, Dict[str, Any]]:
    """The commands of a program, by name."""
    said = subprocess.run([path, "help", "--json"], check=True, capture_output=True, text=True).stdout
    return {command["name"]: command for command in json.loads(said)["commands"]}


def _as_text(value: Any, folder: str, suffix: str) -> str:
    """A value as the command line has it; an object becomes a file, but one of the catalog, which has constraints, its name."""
    if isinstance(value, Arch) and value._catalog and not value.estimator:
        return str(value._catalog)
    if isinstance(value, (Arch, Problem, Mapping)):
        path = os.path.join(folder, f"{len(os.listdir(folder))}{suffix}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(value.to_yaml())
        return path
    return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)


def _arguments(command: Dict[str, Any], options: Dict[str, Any], folder: str) -> List[str]:
    known = {option["name"].replace("-", "_"): option for option in command["options"]}
    out: List[str] = []
    for key, value in options.items():
        if key not in known:
            from difflib import get_close_matches
            near = get_close_matches(key, known, 1)
            raise UsageError(f"{command['name']}() has no option '{key}'", f"did you mean {near[0]}?" if near else None)
        name, argument = "--" + known[key]["name"], known[key]["argument"]
        values = value if isinstance(value, (list, tuple)) else [value]
        for one in values:
            if one is None or one is False:
                continue
            if argument is None or one is True:
                out.append(name)
            elif argument.startswith("[="):
                out.append(f"{name}={_as_text(one, folder, key)}")
            else:
                out += [name, _as_text(one, folder, key)]
    return out


def _failure(out: str, said: str, code: int) -> Error:
    """The exception for a command that failed: of the error in its JSON, or of what it said."""
    try:
        error = json.loads(out)["error"]
        kind = NAMES.index(error["code"]) if error["code"] in NAMES else NAMES.index("internal")
        return BY_CODE[kind](error["message"], error.get("hint"), error.get("file"), error.get("line", 0), error.get("column", 0))
    except (ValueError, KeyError, TypeError):
        pass
    lines = [line for line in said.splitlines() if line.startswith(("error: ", "hint: "))]
    message = next((line[7:] for line in lines if line.startswith("error: ")), said.strip() or f"exit code {code}")
    hint = next((line[6:] for line in lines if line.startswith("hint: ")), None)
    return (UsageError if code == EXIT_BAD else InternalError)(message, hint)


def run(name: str, *operands: Any, **options: Any) -> Answer:
    """Runs a command and returns its answer."""
    path = program()
    command = _table(path).get(name)
    if command is None:
        raise UsageError(f"there is no command '{name}'", "commands: " + ", ".join(_table(path)))
    has_json = any(option["name"] == "json" for option in command["options"])
    with tempfile.TemporaryDirectory() as folder:
        asked = dict(options, json=True) if has_json and "json" not in options else options
        line = [path, name] + [_as_text(o, folder, "operand") for o in operands] + _arguments(command, asked, folder)
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err, interrupted = "", "", False
        try:
            out, err = process.communicate()
        except KeyboardInterrupt:  # the command has it, too, and ends with the best so far
            interrupted = True
            out, err = process.communicate()
    if process.returncode not in (0, EXIT_NONE, EXIT_OPEN):
        raise _failure(out, err, process.returncode)
    for warning in err.splitlines():
        if warning.startswith("warning: "):
            warnings.warn(warning[9:], InputWarning, stacklevel=3)
    raw: Any = None
    if out.lstrip().startswith(("{", "[")):
        raw = json.loads(out)
    interrupted |= isinstance(raw, dict) and raw.get("interrupted") is True
    return Answer(name, raw, out, process.returncode, interrupted)


def main() -> None:
    """The command `sextant` that pip installs: runs the program of the package."""
    path = program()
    os.execv(path, [path] + sys.argv[1:])


def function(name: str) -> Optional[Callable[..., Answer]]:
    """The function of a command; None where the program has none of that name."""
    command = _table(program()).get(name)
    if command is None:
        return None

    def call(*operands: Any, **options: Any) -> Answer:
        return run(name, *operands, **options)

    lines = [command["about"][0].upper() + command["about"][1:] + ".", ""]
    kinds = [inspect.Parameter("operands", inspect.Parameter.VAR_POSITIONAL)]
    for option in command["options"]:
        key = option["name"].replace("-", "_")
        if option["name"] not in ("help", "json"):
            kinds.append(inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None))
            lines.append(f"{key}: {option['text']}")
    call.__name__ = call.__qualname__ = name
    call.__doc__ = "\n".join(lines)
    call.__signature__ = inspect.Signature(kinds, return_annotation=Answer)  # type: ignore[attr-defined]
    return call


def __getattr__(name: str) -> Callable[..., Answer]:
    found = None if name.startswith("_") else function(name)
    if found is None:
        raise AttributeError(f"module 'sextant' has no attribute '{name}'")
    return found
