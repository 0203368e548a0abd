"""Sextant: mapping tensor computations onto hardware accelerators.

    import sextant

    arch = sextant.Arch("eyeriss")
    result = sextant.map("resnet18/conv1", arch)
    print(result.edp, result.optimal)
    print(result.mapping)

Problems, architectures and mappings are objects over the C library; `map` searches as `sextant map` does, `evaluate` costs
one mapping or a million, `Space.search` takes a callback and a cost function of your own. Errors are exceptions with place
and hint (`sextant.Error` and its kinds). numpy and pandas are used where they are there. docs/python.md is the manual.
"""
from typing import Callable as _Callable

from ._library import VERSION as __version__
from ._library import lib as _lib
from . import commands
from .commands import Answer
from .errors import (Error, FileError, InputError, InputWarning, Interrupted, InternalError, LibraryError,
                     LimitError, OutOfMemory, ProgramError, UsageError, WriteError)
from .figures import Figure
from .mappings import Loop, Mapping, Mappings
from .model import Cost, LevelCost, Model, NetworkCost, Score, Scores, TensorCost, evaluate
from .nouns import Arch, Network, Problem, archs, mappers, networks, objectives, problems
from .search import Found, Progress, SearchResult, Space, search
from .session import LayerResult, MapResult, map

__all__ = [
    "Answer", "Arch", "Cost", "Error", "Figure", "FileError", "Found", "InputError", "InputWarning", "Interrupted", "InternalError",
    "LayerResult", "LevelCost", "LibraryError", "LimitError", "Loop", "MapResult", "Mapping", "Mappings", "Model", "Network", "NetworkCost",
    "OutOfMemory", "Problem", "ProgramError", "Progress", "Score", "Scores", "SearchResult", "Space", "TensorCost",
    "UsageError", "WriteError", "archs", "evaluate", "features", "map", "mappers", "networks", "objectives", "problems",
    "search",
]


def __getattr__(name: str) -> _Callable[..., Answer]:
    """The commands of the program that are not functions of the library, such as codesign (sextant.commands)."""
    return commands.__getattr__(name)


def features() -> str:
    """The optional parts that the library was built with, a line each."""
    return (_lib.sx_features() or b"").decode()
