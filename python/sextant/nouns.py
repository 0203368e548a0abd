"""Problems, architectures, networks and constraints."""
from __future__ import annotations

import ctypes
import os
import sys
import warnings
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _abi as abi
from ._library import check, handle_of, lib, names_of, text_of
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


class Input:
    """Files and texts that are read together."""

    def __init__(self, files: Files = (), text: Optional[str] = None, name: str = "text",
                 variables: Optional[Dict[str, Any]] = None, remainders: bool = False, lenient: bool = False,
                 like: Optional[str] = None):
        if like not in (None, "timeloop"):
            raise ValueError(f"like is 'timeloop' or None, not {like!r}")
        self._handle = ctypes.c_void_p()
        self._warned: List[str] = []
        check(lib.sx_input_new(ctypes.byref(self._handle)))
        for key, value in (variables or {}).items():
            check(lib.sx_input_set(self._handle, key.encode(), str(value).encode()))
        if remainders:
            lib.sx_input_allow_remainders(self._handle)
        if lenient:
            lib.sx_input_lenient(self._handle)
        if like:
            lib.sx_input_like_timeloop(self._handle)
        for path in _paths(files):
            check(lib.sx_input_add_file(self._handle, os.fsencode(path)))
        if text is not None:
            data = text.encode()
            check(lib.sx_input_add_text(self._handle, name.encode(), data, len(data)))

    def read(self, function: Any, noun: Any, *arguments: Any) -> Any:
        check(function(self._handle, *arguments, ctypes.byref(noun)))
        self._warn()
        return noun

    def check_settings(self) -> None:
        """Raises an error for a variable that nothing uses."""
        check(lib.sx_input_check_settings(self._handle))

    def _warn(self) -> None:
        """Issues the library's warnings as Python's, each once."""
        found, place, texts = handle_of(lib.sx_warnings_new), ctypes.c_char_p(), []
        try:
            check(lib.sx_input_warnings(self._handle, found))
            lib.sx_warnings_join_keys(found)
            for message in iter(lambda: lib.sx_warnings_at(found, len(texts), ctypes.byref(place)), None):
                where = f"{os.fsdecode(place.value)}: " if place.value else ""
                texts.append(where + message.decode(errors="replace"))
        finally:
            lib.sx_warnings_free(found)
        for text in texts:
            if text not in self._warned:
                self._warned.append(text)
                warnings.warn(text, InputWarning, stacklevel=_caller())

    @property
    def handle(self) -> ctypes.c_void_p:
        return self._handle

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.sx_input_free(self._handle)


class Problem:
    """An einsum with its sizes.

    `Problem("O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}")`, `Problem("resnet-conv4")` of the catalog,
    `Problem("resnet18/conv1")` of a network, or `Problem("layer.yaml")`. `like="timeloop"`: files are read as
    Timeloop reads them (`--like`).
    """

    def __init__(self, source: Files, variables: Optional[Dict[str, Any]] = None, like: Optional[str] = None):
        if not isinstance(source, (str, os.PathLike, list, tuple)):
            raise TypeError(f"a problem is given by text, a name or files, not by {type(source).__name__}")
        self._c = abi.sx_problem()
        given = Input(variables=variables, like=like)
        text = source if isinstance(source, str) else None
        if text is not None and "[" in text:
            check(lib.sx_einsum_parse(text.encode(), ctypes.byref(self._c)))
        elif text is not None and any(text == name for name, _ in problems()):
            check(lib.sx_catalog_problem(text.encode(), ctypes.byref(self._c)))
        elif text is not None and _is_layer(text):
            network, layer = text.split("/", 1)
            found = Network(network).layer(layer)
            ctypes.memmove(ctypes.byref(self._c), ctypes.byref(found._c), ctypes.sizeof(self._c))
        elif text is not None and not os.path.exists(text):
            raise UsageError(f"problem '{text}': no such file, and no such name in the catalog",
                             _nearest(text, [n for n, _ in problems()]) + "sextant.problems() lists the names")
        else:
            given = Input(source, variables=variables, like=like)
            given.read(lib.sx_input_problem, self._c)
        given.check_settings()

    @classmethod
    def from_text(cls, text: str, variables: Optional[Dict[str, Any]] = None, like: Optional[str] = None) -> "Problem":
        """A problem of YAML or JSON text."""
        given = Input(text=text, variables=variables, like=like)
        c = given.read(lib.sx_input_problem, abi.sx_problem())
        given.check_settings()
        return cls._of(c)

    @classmethod
    def _of(cls, c: Any) -> "Problem":
        self = cls.__new__(cls)
        self._c = abi.sx_problem()
        ctypes.memmove(ctypes.byref(self._c), ctypes.byref(c), ctypes.sizeof(self._c))
        return self

    @property
    def name(self) -> str:
        return self._c.name.decode()

    @property
    def dims(self) -> Dict[str, int]:
        """The sizes of the dimensions, by name, in their order."""
        return {self._c.dim_name[i].value.decode(): self._c.size[i] for i in range(self._c.n_dims)}

    @property
    def tensors(self) -> List[str]:
        return [self._c.tensor[i].name.decode() for i in range(self._c.n_tensors)]

    @property
    def computes(self) -> int:
        """How many multiply-accumulates the problem takes."""
        return int(lib.sx_problem_computes(ctypes.byref(self._c)))

    @property
    def einsum(self) -> str:
        return text_of(lib.sx_einsum_text, ctypes.byref(self._c))

    def to_yaml(self) -> str:
        return text_of(lib.sx_problem_write, ctypes.byref(self._c), abi.SX_YAML)

    def bound_to(self, arch: "Arch") -> "Problem":
        """The problem whose tensors also have the names that the architecture's levels use, by their roles."""
        bound = Problem._of(self._c)
        for name in arch._tensor_names():
            tensor = lib.sx_problem_role(ctypes.byref(bound._c), name)
            known = lib.sx_problem_tensor(ctypes.byref(bound._c), name) >= 0
            if not known and tensor >= 0 and not bound._c.tensor[tensor].alias:
                check(lib.sx_problem_bind(ctypes.byref(bound._c), tensor, name))
        return bound

    def __repr__(self) -> str:
        return f"Problem({self.einsum!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and bytes(self._c) == bytes(other._c)

    def __hash__(self) -> int:
        return hash(bytes(self._c))


def _is_layer(text: str) -> bool:
    known = "/" in text and not os.path.exists(text)
    return known and any(text.split("/", 1)[0].startswith(name) for name, _ in networks())


class Arch:
    """An architecture: `Arch("eyeriss")` of the catalog, or files: `Arch("chip.yaml")`, `Arch(["chip.yaml", "ert.yaml"])`.
    `lenient`: keys that look like known ones misspelt are ignored, with a warning; `like="timeloop"`: files are read as
    Timeloop reads them (`--like`), and models and searches of the architecture answer as Timeloop does. A variable that
    nothing uses is an error."""

    def __init__(self, source: Files, variables: Optional[Dict[str, Any]] = None, lenient: bool = False,
                 like: Optional[str] = None):
        if not isinstance(source, (str, os.PathLike, list, tuple)):
            raise TypeError(f"an architecture is given by a name or files, not by {type(source).__name__}")
        self._c = abi.sx_arch()
        self._files: List[str] = []
        self._text: Optional[str] = None
        self._variables, self._lenient, self.like = variables, lenient, like
        self.energies = "built-in table"
        if isinstance(source, str) and any(source == name for name, _ in archs()):
            Input(variables=variables, like=like).check_settings()
            check(lib.sx_catalog_arch(source.encode(), ctypes.byref(self._c)))
        elif isinstance(source, str) and not os.path.exists(source):
            raise UsageError(f"architecture '{source}': no such file, and no such name in the catalog",
                             _nearest(source, [n for n, _ in archs()]) + "sextant.archs() lists the names")
        else:
            self._files = _paths(source)
            self._read(Input(self._files, variables=variables, lenient=lenient, like=like))

    @classmethod
    def from_text(cls, text: str, variables: Optional[Dict[str, Any]] = None, lenient: bool = False,
                  like: Optional[str] = None) -> "Arch":
        """An architecture of YAML or JSON text."""
        self = cls.__new__(cls)
        self._c, self._files, self._text, self._variables = abi.sx_arch(), [], text, variables
        self._lenient, self.like = lenient, like
        self._read(Input(text=text, variables=variables, lenient=lenient, like=like))
        return self

    def _read(self, source: Input) -> None:
        source.read(lib.sx_input_arch, self._c)
        source.check_settings()
        self.energies = (lib.sx_input_energies(source.handle) or b"").decode()

    @property
    def name(self) -> str:
        return self._c.name.decode()

    @property
    def levels(self) -> List[str]:
        """The storage levels, innermost first."""
        return [self._c.level[i].name.decode() for i in range(self._c.n_levels)]

    def to_yaml(self) -> str:
        return text_of(lib.sx_arch_write, ctypes.byref(self._c), abi.SX_YAML)

    def _tensor_names(self) -> List[bytes]:
        """The tensors that levels name, each once."""
        names: List[bytes] = []
        for i in range(self._c.n_levels):
            level = self._c.level[i]
            names += [level.keeps[k].value for k in range(level.n_keeps)]
            names += [level.bypasses[k].value for k in range(level.n_bypasses)]
            names += [level.bandwidth_scale[k].tensor for k in range(level.n_scales)]
        names += [self._c.sparse.name[k].value for k in range(self._c.sparse.n_names)]
        return list(dict.fromkeys(names))

    def constraints(self, problem: Problem, files: Files = (), remainders: bool = False) -> Any:
        """The constraints of the architecture's own files and of others, for a problem; None: there are none."""
        if not self._files and not self._text and not _paths(files):
            return None
        source = Input(self._files + _paths(files), text=self._text, variables=self._variables, remainders=remainders,
                       lenient=self._lenient, like=self.like)
        return source.read(lib.sx_input_constraints, abi.sx_constraints(), ctypes.byref(problem._c),
                           ctypes.byref(self._c))

    def __repr__(self) -> str:
        return f"Arch({self.name!r}, levels={self.levels})"


class Network:
    """Layers, each with how often it occurs: `Network("resnet18")`, `Network("net.graph.yaml")`, or a list of problems
    or of (problem, count). `like="timeloop"`: a file is read as Timeloop reads it (`--like`)."""

    def __init__(self, source: Union[Path, Sequence[Any]], batch: int = 1, training: bool = False,
                 like: Optional[str] = None):
        self._c = abi.sx_network()
        self._layers: Any = None
        self._owned = False
        if isinstance(source, (list, tuple)):
            self._take(source)
            return
        if not isinstance(source, (str, os.PathLike)):
            raise TypeError(f"a network is given by a name, a file or a list, not by {type(source).__name__}")
        text = os.fspath(source)
        if os.path.exists(text):
            graph = Input(text, like=like).read(lib.sx_input_graph, abi.sx_graph())
            try:
                check(lib.sx_graph_network(ctypes.byref(graph), ctypes.byref(self._c)))
            finally:
                lib.sx_graph_fini(ctypes.byref(graph))
        else:
            options = abi.sx_network_options()
            lib.sx_network_options_init(ctypes.byref(options))
            options.batch, options.training = batch, training
            check(lib.sx_catalog_network(text.encode(), ctypes.byref(options), ctypes.byref(self._c)))
        self._owned = True

    def _take(self, source: Sequence[Any]) -> None:
        """Makes the layers of a list."""
        pairs: List[Tuple[Problem, int]] = [s if isinstance(s, tuple) else (s, 1) for s in source]
        if not pairs or not all(isinstance(p, Problem) and isinstance(n, int) and n > 0 for p, n in pairs):
            raise TypeError("a network is a list of Problem, or of (Problem, count)")
        self._layers = (abi.sx_layer * len(pairs))()
        for i, (problem, count) in enumerate(pairs):
            self._layers[i].name = problem._c.name or f"layer{i + 1}".encode()
            self._layers[i].count = count
            self._layers[i].problem = problem._c
            self._layers[i].problem.name = self._layers[i].name
        self._c.name = b"network" if len(pairs) > 1 else self._layers[0].name
        self._c.n_layers = len(pairs)
        self._c.layer = ctypes.addressof(self._layers)

    def _layer(self, index: int) -> Any:
        return ctypes.cast(self._c.layer, ctypes.POINTER(abi.sx_layer))[index]

    @property
    def name(self) -> str:
        return self._c.name.decode()

    @property
    def layers(self) -> Dict[str, Tuple[Problem, int]]:
        """The problem of every layer and how often it occurs, by the layer's name."""
        found = [self._layer(i) for i in range(self._c.n_layers)]
        return {layer.name.decode(): (Problem._of(layer.problem), layer.count) for layer in found}

    def layer(self, name: str) -> Problem:
        """The problem of a layer."""
        if name not in self.layers:
            raise UsageError(f"network {self.name} has no layer '{name}'",
                             _nearest(name, self.layers) + f"it has {self._c.n_layers} layers")
        return self.layers[name][0]

    def bound_to(self, arch: Arch) -> "Network":
        """The network with the names of tensors that the architecture uses."""
        bound = Network([(problem.bound_to(arch), count) for problem, count in self.layers.values()])
        for i, name in enumerate(self.layers):
            bound._layers[i].name = name.encode()
        bound._c.name = self._c.name
        return bound

    def __len__(self) -> int:
        return int(self._c.n_layers)

    def __repr__(self) -> str:
        return f"Network({self.name!r}, {len(self)} layers)"

    def __del__(self) -> None:
        if getattr(self, "_owned", False):
            lib.sx_network_fini(ctypes.byref(self._c))


def archs() -> List[Tuple[str, str]]:
    """The architectures of the catalog, each with a line about it."""
    return list(names_of(lib.sx_catalog_arch_name))


def problems() -> List[Tuple[str, str]]:
    """The problems of the catalog, each with a line about it."""
    return list(names_of(lib.sx_catalog_problem_name))


def networks() -> List[Tuple[str, str]]:
    """The networks of the catalog, each with a line about it."""
    return list(names_of(lib.sx_catalog_network_name))


def objectives() -> List[Tuple[str, str]]:
    """The objectives, each with a line about it."""
    return list(names_of(lib.sx_objective_name))


def mappers() -> List[Tuple[str, str]]:
    """The mappers, each with a line about it."""
    return [(name, about) for name, about in names_of(lib.sx_navigator_name)
            if lib.sx_navigator_space(name.encode()) in (None, b"map")]
