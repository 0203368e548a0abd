"""One mapping, and many."""
from __future__ import annotations

import ctypes
import importlib
import json
import os
from dataclasses import dataclass, replace
from typing import Any, Dict, Iterable, Iterator, List, Optional

from . import _abi as abi
from ._library import Handle, check, lib, text_of
from . import html
from .nouns import Arch, Input, Path, Problem

try:
    numpy: Any = importlib.import_module("numpy")
except ImportError:  # arrays are then lists
    numpy = None


@dataclass(frozen=True)
class Loop:
    """One loop of a mapping; `axis` is "X" or "Y" of a spatial loop, None of a temporal one.

    `last`: the iterations where every outer loop of the dimension is at its last; below `factor` it is a remainder.
    """

    level: str
    dim: str
    factor: int
    axis: Optional[str] = None
    last: int = 0

    def __post_init__(self) -> None:
        if not self.last:
            object.__setattr__(self, "last", self.factor)

    def __str__(self) -> str:
        remainder = f", last {self.last}" if self.last != self.factor else ""
        word, axis = ("par-for", f" ({self.axis})") if self.axis else ("for", "")
        return f"{word} {self.dim} in [0:{self.factor}){remainder}{axis}"


def _with_remainders(loops: List[Loop], dims: Dict[str, int]) -> List[Loop]:
    """The loops with their last rounds: the digits of size - 1 in the mixed radix of the dimension's factors."""
    left, out = {dim: size - 1 for dim, size in dims.items()}, []
    for loop in reversed(loops):
        left[loop.dim], digit = divmod(left[loop.dim], loop.factor)
        out.append(replace(loop, last=digit + 1))
    return out[::-1]


def _new_mapping(problem: Problem, arch: Arch) -> Handle:
    return Handle(lib.sx_mapping_free, lib.sx_mapping_new, problem._c, arch._c)


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
        self.problem, self.arch = problem.bound_to(arch), arch
        self._c = _new_mapping(self.problem, arch)
        return self

    @classmethod
    def _copy(cls, c: Any, problem: Problem, arch: Arch) -> "Mapping":
        """A mapping of the library's, which may go before."""
        return cls._of(Handle(lib.sx_mapping_free, lib.sx_mapping_copy, c), problem, arch)

    @classmethod
    def _of(cls, c: Any, problem: Problem, arch: Arch) -> "Mapping":
        self = cls.__new__(cls)
        self.problem, self.arch, self._c = problem, arch, c
        return self

    def _read(self, source: Input) -> Any:
        return source.read(lib.sx_input_mapping, self.problem._c, self.arch._c, _new_mapping(self.problem, self.arch))

    def _write(self, form: int) -> str:
        return text_of(lib.sx_mapping_write, self._c, self.problem._c,
                       self.arch._c, form)

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
        c, dims, levels = self._c, list(self.problem.dims), self.arch.levels
        for number in range(len(levels) - 1, -1, -1):
            name, on_x = levels[number], lib.sx_mapping_on_x(c, number)
            x_part = lib.sx_mapping_x_part(c, number)
            for place in range(len(dims) - 1, -1, -1):
                dim = lib.sx_mapping_dim_at(c, number, abi.SX_LOOPS_TEMPORAL, place)
                out.append(Loop(name, dims[dim], lib.sx_mapping_factor(c, number, abi.SX_LOOPS_TEMPORAL, dim)))
            for place in range(len(dims) - 1, -1, -1):
                dim = lib.sx_mapping_dim_at(c, number, abi.SX_LOOPS_SPATIAL, place)
                factor = lib.sx_mapping_factor(c, number, abi.SX_LOOPS_SPATIAL, dim)
                if x_part and place + 1 == on_x:
                    out.append(Loop(name, dims[dim], factor // x_part, "Y"))
                    factor = x_part
                out.append(Loop(name, dims[dim], factor, "X" if place < on_x else "Y"))
        return _with_remainders([loop for loop in out if loop.factor > 1], self.problem.dims)

    @property
    def keeps(self) -> Dict[str, List[str]]:
        """The tensors that each level keeps, by the level's name, outermost first."""
        tensors = self.problem.tensors
        return {name: [tensor for v, tensor in enumerate(tensors) if lib.sx_mapping_keeps(self._c, number, v)]
                for number, name in reversed(list(enumerate(self.arch.levels)))}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and hash(self) == hash(other)

    def __hash__(self) -> int:
        return int(lib.sx_mapping_hash(self._c))

    def __str__(self) -> str:
        lines, depth, loops = [], 0, self.loops
        for level, tensors in self.keeps.items():
            lines.append(f"{level} keeps {', '.join(tensors) or 'nothing'}")
            for loop in (loop for loop in loops if loop.level == level):
                lines.append(f"| {'  ' * min(depth, 20)}{loop}")
                depth += 1
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html.nest(str(self).splitlines(), f"{self.problem.name or 'problem'} on {self.arch.name}")

    def __repr__(self) -> str:
        return f"<Mapping of {self.problem.name or 'a problem'} onto {self.arch.name}: {len(self.loops)} loops>"


class Mappings:
    """Many mappings of one problem onto one architecture, one after another in memory.

    With numpy, `array` is a structured array whose fields `level["temporal"]`, `level["spatial"]` and so on are views.
    """

    def __init__(self, n: int, problem: Problem, arch: Arch):
        self.problem, self.arch, self._n = problem, arch, n
        self._c = Handle(lib.sx_mappings_free, lib.sx_mappings_new, problem._c, arch._c, n)

    @classmethod
    def of(cls, mappings: Iterable[Mapping]) -> "Mappings":
        """Packs mappings of one problem onto one architecture."""
        given = list(mappings)
        if not given or not all(isinstance(m, Mapping) for m in given):
            raise TypeError("mappings are one or more Mapping objects")
        first = given[0]
        if any(m.problem != first.problem or not lib.sx_arch_equal(m.arch._c, first.arch._c) for m in given):
            raise ValueError("mappings of different problems or architectures cannot be packed together")
        out = cls(len(given), first.problem, first.arch)
        for i, mapping in enumerate(given):
            check(lib.sx_mappings_set(out._c, i, mapping._c))
        return out

    @classmethod
    def _copy(cls, c: Any, problem: Problem, arch: Arch) -> "Mappings":
        """Mappings of the library's, which may go before."""
        out = cls(int(lib.sx_mappings_count(c)), problem, arch)
        (into, layout), (source, _) = _memory(out._c), _memory(c)
        ctypes.memmove(into, source, len(out) * layout[0])
        return out

    def _fill(self, first: int, part: "Mappings") -> None:
        """Replaces the mappings from number `first` on by those of another."""
        (into, layout), (source, _) = _memory(self._c), _memory(part._c)
        ctypes.memmove(into + first * layout[0], source, len(part) * layout[0])

    @property
    def array(self) -> Any:
        """The mappings as a structured numpy array, without a copy: the field level, with the fields of a level."""
        if numpy is None:
            raise ImportError("Mappings.array needs numpy")
        address, (stride, offset, level_stride) = _memory(self._c)
        level = numpy.dtype({**_fields(), "itemsize": level_stride})
        kind = numpy.dtype({"names": ["level"], "formats": [(level, (len(self.arch.levels),))], "offsets": [offset],
                            "itemsize": stride})
        memory = (ctypes.c_char * (self._n * stride)).from_address(address)
        setattr(memory, "owner", self)
        return numpy.frombuffer(memory, dtype=kind)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> Mapping:
        if not -self._n <= index < self._n:
            raise IndexError(f"there are {self._n} mappings")
        c = _new_mapping(self.problem, self.arch)
        check(lib.sx_mappings_get(self._c, index % self._n, c))
        return Mapping._of(c, self.problem, self.arch)

    def __iter__(self) -> Iterator[Mapping]:
        return (self[i] for i in range(self._n))

    def __repr__(self) -> str:
        return f"<{self._n} Mappings of {self.problem.name or 'a problem'} onto {self.arch.name}>"


def _memory(c: Any) -> Any:
    """The address of packed mappings, and the bytes from one to the next, to its levels, and from level to level."""
    layout = [ctypes.c_size_t() for _ in range(3)]
    address = lib.sx_mappings_data(c, *[ctypes.byref(x) for x in layout])
    return address, [x.value for x in layout]


def _fields() -> Dict[str, List[Any]]:
    """The fields of a level as numpy's dtype takes them."""
    out: Dict[str, List[Any]] = {"names": [], "formats": [], "offsets": []}
    place = [ctypes.c_size_t() for _ in range(3)]
    while True:
        name = lib.sx_mappings_field(len(out["names"]), *[ctypes.byref(x) for x in place])
        if name is None:
            return out
        offset, elements, size = (x.value for x in place)
        out["names"].append(name.decode())
        out["formats"].append((f"u{size}", (elements,)) if elements > 1 else f"u{size}")
        out["offsets"].append(offset)
