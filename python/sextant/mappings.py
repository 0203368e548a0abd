"""One mapping, and many."""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Optional

from . import _abi as abi
from ._library import lib, text_of
from .nouns import Arch, Input, Path, Problem

try:
    import numpy
except ImportError:  # arrays are then lists
    numpy = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Loop:
    """One loop of a mapping; `axis` is "X" or "Y" of a spatial loop, None of a temporal one."""

    level: str
    dim: str
    factor: int
    axis: Any = None


class Mapping:
    """How a problem's loops are tiled, ordered and spread over an architecture.

    `Mapping("map.yaml", problem, arch)` reads a file in Timeloop's format; `to_yaml` writes one. `like`: how the file is
    read, as the architecture was unless said.
    """

    def __init__(self, source: Path, problem: Problem, arch: Arch, like: Optional[str] = None):
        self.problem, self.arch = problem.bound_to(arch), arch
        self._c = self._read(Input(os.fspath(source), like=like or arch.like))

    @classmethod
    def from_text(cls, text: str, problem: Problem, arch: Arch, like: Optional[str] = None) -> "Mapping":
        """A mapping of YAML or JSON text."""
        self = cls.__new__(cls)
        self.problem, self.arch = problem.bound_to(arch), arch
        self._c = self._read(Input(text=text, like=like or arch.like))
        return self

    @classmethod
    def outermost(cls, problem: Problem, arch: Arch) -> "Mapping":
        """The mapping with all loops at the outermost level, a place to begin from."""
        self = cls.__new__(cls)
        self.problem, self.arch, self._c = problem.bound_to(arch), arch, abi.sx_mapping()
        lib.sx_mapping_init(ctypes.byref(self._c), ctypes.byref(self.problem._c), ctypes.byref(arch._c))
        return self

    @classmethod
    def _of(cls, c: Any, problem: Problem, arch: Arch) -> "Mapping":
        self = cls.__new__(cls)
        self.problem, self.arch, self._c = problem, arch, c
        return self

    def _read(self, source: Input) -> Any:
        return source.read(lib.sx_input_mapping, abi.sx_mapping(), ctypes.byref(self.problem._c),
                           ctypes.byref(self.arch._c))

    def _write(self, form: int) -> str:
        return text_of(lib.sx_mapping_write, ctypes.byref(self._c), ctypes.byref(self.problem._c),
                       ctypes.byref(self.arch._c), form)

    def to_yaml(self) -> str:
        """The mapping in Timeloop's format."""
        return self._write(abi.SX_YAML)

    def to_dict(self) -> Any:
        """The same as Python's lists and dictionaries."""
        return json.loads(self._write(abi.SX_JSON))

    def save(self, path: Path) -> None:
        """Writes the mapping to a file in Timeloop's format."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_yaml())

    @property
    def loops(self) -> List[Loop]:
        """The loops with more than one iteration, outermost first."""
        out: List[Loop] = []
        dims = list(self.problem.dims)
        for number in range(self._c.n_levels - 1, -1, -1):
            level, name = self._c.level[number], self.arch.levels[number]
            for dim in reversed(level.temporal_order[:len(dims)]):
                out.append(Loop(name, dims[dim], level.temporal[dim]))
            for place in range(len(dims) - 1, -1, -1):
                dim = level.spatial_order[place]
                factor, on_x = level.spatial[dim], place < level.split
                if level.x_part and place + 1 == level.split:
                    out.append(Loop(name, dims[dim], factor // level.x_part, "Y"))
                    factor = level.x_part
                out.append(Loop(name, dims[dim], factor, "X" if on_x else "Y"))
        return [loop for loop in out if loop.factor > 1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and hash(self) == hash(other)

    def __hash__(self) -> int:
        return int(lib.sx_mapping_hash(ctypes.byref(self._c)))

    def __str__(self) -> str:
        lines, indent, last = [], 0, None
        for loop in self.loops:
            if loop.level != last:
                lines.append(f"{'  ' * indent}{loop.level}:")
                indent, last = indent + 1, loop.level
            word = f"spatial {loop.axis}" if loop.axis else "for"
            lines.append(f"{'  ' * indent}{word} {loop.dim} in 0..{loop.factor}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Mapping of {self.problem.name or 'a problem'} onto {self.arch.name}: {len(self.loops)} loops>"


class Mappings:
    """Many mappings of one problem onto one architecture, one after another in memory.

    With numpy, `array` is a structured array whose fields `level["temporal"]`, `level["spatial"]` and so on are views.
    """

    def __init__(self, n: int, problem: Problem, arch: Arch):
        self.problem, self.arch, self._n = problem, arch, n
        self.stride = int(lib.sx_mapping_bytes(ctypes.byref(arch._c)))
        if numpy is not None:
            self._bytes = numpy.zeros(max(n * self.stride, 1), dtype=numpy.uint8)
            self._address = self._bytes.ctypes.data
        else:
            self._bytes = (ctypes.c_char * max(n * self.stride, 1))()
            self._address = ctypes.addressof(self._bytes)

    @classmethod
    def of(cls, mappings: Iterable[Mapping]) -> "Mappings":
        """Packs mappings of one problem onto one architecture."""
        given = list(mappings)
        if not given or not all(isinstance(m, Mapping) for m in given):
            raise TypeError("mappings are one or more Mapping objects")
        if any(m.problem != given[0].problem or bytes(m.arch._c) != bytes(given[0].arch._c) for m in given):
            raise ValueError("mappings of different problems or architectures cannot be packed together")
        out = cls(len(given), given[0].problem, given[0].arch)
        for i, mapping in enumerate(given):
            ctypes.memmove(out._address + i * out.stride, ctypes.byref(mapping._c), out.stride)
        return out

    @property
    def array(self) -> Any:
        """The mappings as a structured numpy array, without a copy: fields n_levels, n_dims, n_tensors and level."""
        if numpy is None:
            raise ImportError("Mappings.array needs numpy")
        level = numpy.dtype((numpy.dtype(abi.sx_mapping_level), (self.arch._c.n_levels,)))
        head = [("n_levels", "u1"), ("n_dims", "u1"), ("n_tensors", "u1"), ("padding", "u1", (5,))]
        return self._bytes[:self._n * self.stride].view(numpy.dtype(head + [("level", level)]))

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> Mapping:
        if not -self._n <= index < self._n:
            raise IndexError(f"there are {self._n} mappings")
        c = abi.sx_mapping()
        ctypes.memmove(ctypes.byref(c), self._address + index % self._n * self.stride, self.stride)
        return Mapping._of(c, self.problem, self.arch)

    def __iter__(self) -> Iterator[Mapping]:
        return (self[i] for i in range(self._n))

    def __repr__(self) -> str:
        return f"<{self._n} Mappings of {self.problem.name or 'a problem'} onto {self.arch.name}>"
