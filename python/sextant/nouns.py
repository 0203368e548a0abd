"""Problems, architectures, networks and constraints."""
from __future__ import annotations

import ctypes
import json
import os
import sys
import warnings
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _abi as abi
from ._library import Handle, check, lib, names_of, taken, text_of
from . import html
from .errors import InputWarning, UsageError

Path = Union[str, "os.PathLike[str]"]
Files = Union[Path, Sequence[Path]]


def _paths(files: Files) -> List[str]:
    return [os.fspath(files)] if isinstance(files, (str, os.PathLike)) else [os.fspath(f) for f in files]


def _nearest(word: str, names: Iterable[str]) -> str:
    import difflib
    near = difflib.get_close_matches(word, list(names), 1)
    return f"did you mean '{near[0]}'? " if near else ""


def _caller() -> int:
    """How far out the caller of this function sees the frame that called the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_code.co_filename.startswith(os.path.dirname(__file__)):
        frame, level = frame.f_back, level + 1
    return level


def _read_layers(source: Path, like: Optional[str], options: Dict[str, Any]) -> Handle:
    """The layers of what a person would give to --problem, with the program's options that say what is read."""
    if like not in (None, "timeloop"):
        raise ValueError(f"like is 'timeloop' or None, not {like!r}")
    texts: List[str] = ["like=timeloop"] if like else []
    for key, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and one is not False:
                texts.append(key.replace("_", "-") + ("" if one is True else f"={one}"))
    network, found = _new_network("network"), Handle(lib.sx_warnings_free, lib.sx_warnings_new)
    array = (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])
    check(lib.sx_read_layers(os.fsencode(source), array, len(texts), found, network))
    for warning in _texts_of(found):
        warnings.warn(warning, InputWarning, stacklevel=_caller())
    return network


def _settings(variables: Optional[Dict[str, Any]]) -> List[str]:
    return [f"{name}={value}" for name, value in (variables or {}).items()]


def _texts_of(found: Handle) -> List[str]:
    """The texts of a list of warnings, each with its place."""
    lib.sx_warnings_join_keys(found)
    texts: List[str] = []
    place = ctypes.c_char_p()
    while True:
        message: Optional[bytes] = lib.sx_warnings_at(found, len(texts), ctypes.byref(place))
        if message is None:
            return texts
        texts.append((f"{os.fsdecode(place.value)}: " if place.value else "") + message.decode(errors="replace"))


class Input:
    """Files and texts that are read together."""

    def __init__(self, files: Files = (), text: Optional[str] = None, name: str = "text",
                 variables: Optional[Dict[str, Any]] = None, remainders: bool = False, lenient: bool = False,
                 like: Optional[str] = None, estimator: Optional[str] = None, catalog: Optional[str] = None):
        if like not in (None, "timeloop"):
            raise ValueError(f"like is 'timeloop' or None, not {like!r}")
        self._handle = Handle(lib.sx_input_free, lib.sx_input_new)
        self._warned: List[str] = []
        for key, value in (variables or {}).items():
            check(lib.sx_input_set(self._handle, key.encode(), str(value).encode()))
        if remainders:
            lib.sx_input_read_as(self._handle, abi.SX_READ_REMAINDERS)
        if lenient:
            lib.sx_input_read_as(self._handle, abi.SX_READ_LENIENT)
        if like:
            lib.sx_input_read_as(self._handle, abi.SX_READ_LIKE_TIMELOOP)
        if estimator:
            check(lib.sx_input_estimate_by(self._handle, estimator.encode()))
        if catalog:
            check(lib.sx_input_add_arch(self._handle, catalog.encode()))
        for path in _paths(files):
            check(lib.sx_input_add_file(self._handle, os.fsencode(path)))
        if text is not None:
            data = text.encode()
            check(lib.sx_input_add_text(self._handle, name.encode(), data, len(data)))

    def read(self, function: Any, *arguments: Any) -> Any:
        """Reads a noun, the last of the arguments, which is returned."""
        check(function(self._handle, *arguments))
        self.warn()
        return arguments[-1]

    def check_settings(self) -> None:
        """Raises an error for a variable that nothing uses."""
        check(lib.sx_input_check_settings(self._handle))

    def add_ert_beside(self) -> Optional[str]:
        """Adds the energy table beside the architecture's file where its energies came from formulas; its path."""
        path = ctypes.c_void_p()
        check(lib.sx_input_add_ert_beside(self._handle, ctypes.byref(path)))
        return taken(path) if path else None

    def warn(self) -> None:
        """Issues the library's warnings as Python's, each once."""
        found = Handle(lib.sx_warnings_free, lib.sx_warnings_new)
        check(lib.sx_input_warnings(self._handle, found))
        for text in _texts_of(found):
            if text not in self._warned:
                self._warned.append(text)
                warnings.warn(text, InputWarning, stacklevel=_caller())

    @property
    def handle(self) -> Handle:
        return self._handle


def _new_problem() -> Handle:
    return Handle(lib.sx_problem_free, lib.sx_problem_new)


class Problem:
    """An einsum with its sizes.

    `Problem("O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}")`, `Problem("resnet-conv4")` of the catalog,
    `Problem("resnet18/conv1")` of a network, `Problem("64x64x64")` of a matrix product, `Problem("layer.yaml")`, or
    `Problem("model.onnx/LAYER")`. `like="timeloop"`: files are read as
    Timeloop reads them (`--like`).
    """

    def __init__(self, source: Files, variables: Optional[Dict[str, Any]] = None, like: Optional[str] = None):
        if not isinstance(source, (str, os.PathLike, list, tuple)):
            raise TypeError(f"a problem is given by text, a name or files, not by {type(source).__name__}")
        if isinstance(source, (list, tuple)):  # files that are read together
            given = Input(source, variables=variables, like=like)
            self._c = given.read(lib.sx_input_problem, _new_problem())
            given.check_settings()
            return
        layers = list(Network._of(_read_layers(source, like, {"set": _settings(variables)})).layers.items())
        if len(layers) != 1:
            raise UsageError(f"{os.fspath(source)} names {len(layers)} layers, not one problem",
                             f"Network({os.fspath(source)!r}) has them; one is {os.fspath(source)}/{layers[0][0]}")
        self._c = layers[0][1][0]._c

    @classmethod
    def from_text(cls, text: str, variables: Optional[Dict[str, Any]] = None, like: Optional[str] = None) -> "Problem":
        """A problem of YAML or JSON text."""
        given = Input(text=text, variables=variables, like=like)
        c = given.read(lib.sx_input_problem, _new_problem())
        given.check_settings()
        return cls._of(c)

    @classmethod
    def _of(cls, c: Handle) -> "Problem":
        self = cls.__new__(cls)
        self._c = c
        return self

    @classmethod
    def _copy(cls, c: Any) -> "Problem":
        """A problem that is another's, which may go before."""
        return cls._of(Handle(lib.sx_problem_free, lib.sx_problem_copy, c))

    @property
    def name(self) -> str:
        return str(lib.sx_problem_name(self._c).decode())

    @property
    def dims(self) -> Dict[str, int]:
        """The sizes of the dimensions, by name, in their order."""
        return {lib.sx_problem_dim_name(self._c, i).decode(): lib.sx_problem_dim_size(self._c, i)
                for i in range(lib.sx_problem_n_dims(self._c))}

    @property
    def tensors(self) -> List[str]:
        return [lib.sx_problem_tensor_name(self._c, i).decode() for i in range(lib.sx_problem_n_tensors(self._c))]

    @property
    def computes(self) -> int:
        """How many multiply-accumulates the problem takes."""
        return int(lib.sx_problem_computes(self._c))

    @property
    def einsum(self) -> str:
        return text_of(lib.sx_einsum_text, self._c)

    def to_yaml(self) -> str:
        return text_of(lib.sx_problem_write, self._c, abi.SX_YAML)

    def bound_to(self, arch: "Arch") -> "Problem":
        """The problem whose tensors also have the names that the architecture's levels use, by their roles."""
        bound = Problem._copy(self._c)
        check(lib.sx_problem_bind_to(bound._c, arch._c))
        return bound

    def __repr__(self) -> str:
        return f"Problem({self.einsum!r})"

    def _repr_html_(self) -> str:
        return html.text(self.einsum.split(" {")[0]) + html.table(["dimension", "size"], self.dims.items(), self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and bool(lib.sx_problem_equal(self._c, other._c))

    def __hash__(self) -> int:
        return hash((self.name, self.einsum))


def _new_arch() -> Handle:
    return Handle(lib.sx_arch_free, lib.sx_arch_new)


class Arch:
    """An architecture: `Arch("eyeriss")` of the catalog, or files: `Arch("chip.yaml")`, `Arch(["chip.yaml", "ert.yaml"])`.
    `lenient`: keys that look like known ones misspelt are ignored, with a warning; `like="timeloop"`: files are read as
    Timeloop reads them (`--like`), and models and searches of the architecture answer as Timeloop does; `estimator`: by whose
    rules energies that files do not state, and all of one of the catalog, are estimated (`--estimator`, docs/estimate.md). An
    energy table beside the file is read where energies would come from formulas, unless `no_ert` is set (`--no-ert`). A
    variable that nothing uses is an error."""

    def __init__(self, source: Files, variables: Optional[Dict[str, Any]] = None, lenient: bool = False,
                 like: Optional[str] = None, estimator: Optional[str] = None, no_ert: bool = False):
        if not isinstance(source, (str, os.PathLike, list, tuple)):
            raise TypeError(f"an architecture is given by a name or files, not by {type(source).__name__}")
        self._c = _new_arch()
        self._files: List[str] = []
        self._text: Optional[str] = None
        self._catalog: Optional[str] = None
        self._variables, self._lenient, self.like, self.estimator = variables, lenient, like, estimator
        self.energies = "built-in table"
        if isinstance(source, str) and any(source == name for name, _ in archs()):
            self._catalog = source
            Input(variables=variables, like=like).check_settings()
            if estimator:
                self._read()
            else:
                check(lib.sx_catalog_arch(source.encode(), self._c))
        elif isinstance(source, str) and not os.path.exists(source):
            raise UsageError(f"architecture '{source}': no such file, and no such name in the catalog",
                             _nearest(source, [n for n, _ in archs()]) + "sextant.archs() lists the names")
        else:
            self._files = _paths(source)
            self._read(beside=not no_ert)

    @classmethod
    def from_text(cls, text: str, variables: Optional[Dict[str, Any]] = None, lenient: bool = False,
                  like: Optional[str] = None, estimator: Optional[str] = None) -> "Arch":
        """An architecture of YAML or JSON text."""
        self = cls.__new__(cls)
        self._c, self._files, self._text, self._variables = _new_arch(), [], text, variables
        self._catalog, self._lenient, self.like, self.estimator = None, lenient, like, estimator
        self._read()
        return self

    def _input(self, files: Sequence[str] = (), remainders: bool = False) -> Input:
        """What the architecture was read from, with other files."""
        return Input(self._files + list(files), text=self._text, variables=self._variables, remainders=remainders,
                     lenient=self._lenient, like=self.like, estimator=self.estimator, catalog=self._catalog)

    def _read(self, beside: bool = False) -> None:
        source = self._input()
        source.read(lib.sx_input_arch, self._c)
        if beside:  # with the energy table beside it, as the program does
            path = source.add_ert_beside()
            if path:
                self._files = self._files + [path]
                source.read(lib.sx_input_arch, self._c)
        source.check_settings()
        self.energies = (lib.sx_input_energies(source.handle) or b"").decode()

    def estimates(self) -> Dict[str, Any]:
        """What every component costs by the estimator's rules, each figure with its source, rule and error band: the JSON of
        `sextant estimate` (docs/estimate.md) without the keys that every command adds (docs/answers.md)."""
        source = self._input()
        c = source.read(lib.sx_input_arch, _new_arch())
        return dict(json.loads(text_of(lib.sx_input_estimates, source.handle, c, abi.SX_JSON)))

    def tables(self) -> str:
        """The same as Accelergy's energy and area tables (ERT and ART), in YAML."""
        source = self._input()
        c = source.read(lib.sx_input_arch, _new_arch())
        return text_of(lib.sx_input_estimates, source.handle, c, abi.SX_YAML)

    @property
    def name(self) -> str:
        return str(lib.sx_arch_name(self._c).decode())

    @property
    def levels(self) -> List[str]:
        """The storage levels, innermost first."""
        return [lib.sx_arch_level_name(self._c, i).decode() for i in range(lib.sx_arch_n_levels(self._c))]

    def to_yaml(self) -> str:
        return text_of(lib.sx_arch_write, self._c, abi.SX_YAML)

    def constraints(self, problem: Problem, files: Files = (), remainders: bool = False) -> Any:
        """The constraints of the architecture's own files and of others, for a problem; None: there are none."""
        source = self.constraint_input(files, remainders)
        if source is None:
            return None
        return source.read(lib.sx_input_constraints, problem._c, self._c,
                           Handle(lib.sx_constraints_free, lib.sx_constraints_new))

    def constraint_input(self, files: Files = (), remainders: bool = False) -> Optional[Input]:
        """What the architecture was read from with other files, for their constraints; None: there are none."""
        if not self._files and not self._text and not self._catalog and not _paths(files):
            return None
        return self._input(_paths(files), remainders)

    def __repr__(self) -> str:
        return f"Arch({self.name!r}, levels={self.levels})"

    def _repr_html_(self) -> str:
        names = []
        for level in range(len(self.levels) - 1, -1, -1):
            x, y = ctypes.c_uint64(), ctypes.c_uint64()
            lib.sx_arch_fanout(self._c, level, ctypes.byref(x), ctypes.byref(y))
            names.append(self.levels[level] + (f", {x.value} x {y.value} below" if x.value * y.value > 1 else ""))
        return html.boxes(names + ["compute"], self.name)


def _new_network(name: str) -> Handle:
    return Handle(lib.sx_network_free, lib.sx_network_new, name.encode())


class Network:
    """Layers, each with how often it occurs: `Network("resnet18")`, `Network("net.graph.yaml")`, `Network("model.onnx")`, a
    `config.json` of a language model, or a list of problems or of (problem, count). `sizes` are those that a model leaves open;
    other options are those of the program, such as `phase="decode", context=4096`. `like="timeloop"`: a file is read as
    Timeloop reads it (`--like`)."""

    def __init__(self, source: Union[Path, Sequence[Any]], batch: int = 1, training: bool = False,
                 like: Optional[str] = None, sizes: Optional[Dict[str, Any]] = None, **options: Any):
        if isinstance(source, (list, tuple)):
            self._make(source)
            return
        if not isinstance(source, (str, os.PathLike)):
            raise TypeError(f"a network is given by a name, a file or a list, not by {type(source).__name__}")
        if batch != 1:
            options["batch"] = batch
        self._c = _read_layers(source, like, {**options, "training": training, "set": _settings(sizes)})

    @classmethod
    def _of(cls, c: Handle) -> "Network":
        self = cls.__new__(cls)
        self._c = c
        return self

    @classmethod
    def _copy(cls, c: Any) -> "Network":
        """A network of the library, which may go before."""
        self = cls.__new__(cls)
        self._c = _new_network(lib.sx_network_name(c).decode() or "network")
        for i in range(lib.sx_network_n_layers(c)):
            check(lib.sx_network_add(self._c, lib.sx_network_layer_name(c, i), lib.sx_network_layer_problem(c, i),
                                     lib.sx_network_layer_count(c, i)))
        return self

    def _make(self, source: Sequence[Any]) -> None:
        """Makes the layers of a list."""
        pairs: List[Tuple[Any, ...]] = [s if isinstance(s, tuple) else (s, 1) for s in source]
        if not pairs or not all(isinstance(p, Problem) and isinstance(n, int) and n > 0 for p, n in pairs):
            raise TypeError("a network is a list of Problem, or of (Problem, count)")
        self._c = _new_network("network" if len(pairs) > 1 else pairs[0][0].name or "layer1")
        for problem, count in pairs:
            check(lib.sx_network_add(self._c, None, problem._c, count))

    @property
    def name(self) -> str:
        return str(lib.sx_network_name(self._c).decode())

    @property
    def layers(self) -> Dict[str, Tuple[Problem, int]]:
        """The problem of every layer and how often it occurs, by the layer's name."""
        return {lib.sx_network_layer_name(self._c, i).decode():
                (Problem._copy(lib.sx_network_layer_problem(self._c, i)), lib.sx_network_layer_count(self._c, i))
                for i in range(len(self))}

    def layer(self, name: str) -> Problem:
        """The problem of a layer."""
        if name not in self.layers:
            raise UsageError(f"network {self.name} has no layer '{name}'",
                             _nearest(name, self.layers) + f"it has {len(self)} layers")
        return self.layers[name][0]

    def __len__(self) -> int:
        return int(lib.sx_network_n_layers(self._c))

    def __repr__(self) -> str:
        return f"Network({self.name!r}, {len(self)} layers)"

    def _repr_html_(self) -> str:
        return html.table(["layer", "times", "MACs", "einsum"],
                          [(name, count, problem.computes, problem.einsum) for name, (problem, count) in self.layers.items()],
                          self.name)


def archs() -> List[Tuple[str, str]]:
    """The architectures of the catalog, each with a line about it."""
    return list(names_of(abi.SX_LIST_ARCHS))


def problems() -> List[Tuple[str, str]]:
    """The problems of the catalog, each with a line about it."""
    return list(names_of(abi.SX_LIST_PROBLEMS))


def networks() -> List[Tuple[str, str]]:
    """The networks of the catalog, each with a line about it."""
    return list(names_of(abi.SX_LIST_NETWORKS))


def objectives() -> List[Tuple[str, str]]:
    """The objectives, each with a line about it."""
    return list(names_of(abi.SX_LIST_OBJECTIVES))


def mappers() -> List[Tuple[str, str]]:
    """The mappers, each with a line about it."""
    return list(names_of(abi.SX_LIST_MAPPERS))
