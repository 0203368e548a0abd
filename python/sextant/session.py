"""Mapping a problem or a whole network: what `sextant map` does."""
from __future__ import annotations

import ctypes
import json
import math
import os
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _abi as abi
from . import commands
from ._library import VERSION, Guard, Handle, lib, text_of
from .errors import InputError
from .figures import Figure, curves, front
from . import html
from .mappings import Mapping
from .model import Cost, Model, Score, semantics
from .nouns import Arch, Files, Network, Path, Problem
from .options import Options
from .progress import Bar, wanted
from .search import Found, Progress, budget, watch

WARM = ("off", "previous", "similarity")
STORE_WAIT = 60  # seconds that a database may be in use


@dataclass(frozen=True)
class LayerResult:
    """What was found for a layer. `raw` is its entry of `sextant map --json` (docs/map.md)."""

    name: str
    count: int
    problem: Problem = field(repr=False)
    arch: Arch = field(repr=False)
    mapping: Optional[Mapping] = field(repr=False)
    cycles: float
    energy_pj: float
    edp: float
    value: float
    evaluations: int
    seconds: float
    lower_bound: float
    optimal: bool
    trace: List[Tuple[int, float, float]] = field(repr=False)
    raw: Dict[str, Any] = field(repr=False)
    sparse_semantics: Optional[str] = field(default=None, repr=False)
    latency: float = float("inf")
    latency_model: Optional[str] = field(default=None, repr=False)

    @property
    def found(self) -> bool:
        return self.mapping is not None

    @property
    def remainders(self) -> bool:
        """Whether tiles that leave remainders, searched beside those that divide, gave the best. What `lower_bound` and
        `optimal` say then holds for all mappings; otherwise for those of the space that was asked for."""
        return bool(self.raw.get("remainders", False))

    @property
    def any_lower_bound(self) -> float:
        """Where tiles that leave remainders were searched, too: no mapping with or without them is below; 0: not known."""
        return float(self.raw.get("any_tiles", {}).get("lower_bound", 0.0))

    @property
    def any_optimal(self) -> bool:
        """Whether no mapping is better, with remainders or without, where these were searched."""
        return bool(self.raw.get("any_tiles", {}).get("optimal", False))

    @property
    def k_best(self) -> List[Found]:
        """The best mappings, the best first, where `map` was asked for several with `k_best`."""
        return self._list("k_best")

    @property
    def pareto(self) -> List[Found]:
        """The front of energy and cycles, where `map` was asked for it with `pareto`; the least energy first."""
        return self._list("pareto")

    def _list(self, key: str) -> List[Found]:
        out: List[Found] = []
        for entry in self.raw.get(key, []):
            best = entry["best"]
            score = Score(best["energy_pj"], best["cycles"], best["utilization"], best.get("last_level_accesses", math.nan),
                          best.get("latency", best["cycles"]))
            mapping = Mapping.from_text(json.dumps(entry["mapping"]), self.problem, self.arch)
            out.append(Found(mapping, best["objective"], score, best.get("evaluation", 0)))
        return out

    def cost(self) -> Cost:
        """The cost of the mapping, level by level."""
        if self.mapping is None:
            return Cost(False, reason="no legal mapping was found")
        return Model(self.problem, self.arch, sparse_semantics=self.sparse_semantics,
                     latency=self.latency_model).evaluate(self.mapping)

    def plot(self) -> Figure:
        """The Pareto front where there is one, otherwise the best value against evaluations."""
        if self.raw.get("pareto"):
            return front([(p["best"]["energy_pj"], p["best"]["cycles"]) for p in self.raw["pareto"]], self.name)
        mapper = str(self.raw["mapper"]).split(":")[0]
        values = [t[2] for t in self.trace]
        return curves([(mapper, [t[0] for t in self.trace], values)], f"{self.name} on {self.arch.name}",
                      y_label=str(self.raw["objective"]), log_y=all(v > 0 for v in values))


def _other_version(error: InputError, data: bytes) -> InputError:
    """The error of a result that cannot be read, which says where it came from if that was another version."""
    try:
        written_by = json.loads(data)["repeat"]["version"]
    except (ValueError, KeyError, TypeError):
        written_by = VERSION
    if written_by == VERSION:
        return error
    return InputError(error.message, f"the file was written by Sextant {written_by}, this is {VERSION}", error.file,
                      error.line, error.column)


class MapResult:
    """What `map` found: `layers`, and for the best of a single problem also `mapping`, `cycles`, `energy_pj`, `edp`."""

    def __init__(self, json_text: str, problems: List[Problem], arch: Arch):
        self.json, self.arch = json_text, arch
        self.raw: Dict[str, Any] = json.loads(json_text)
        self.layers = [self._layer(entry, problem) for entry, problem in zip(self.raw["results"], problems)]

    @classmethod
    def load(cls, path: Path) -> "MapResult":
        """Reads a result that `save` or `sextant map --json` wrote."""
        with open(path, "rb") as file:
            data = file.read()
        try:
            result = Handle(lib.sx_result_free, lib.sx_result_read, os.fsencode(path), data, len(data))
        except InputError as error:
            raise _other_version(error, data) from None
        arch = Arch.from_text(text_of(lib.sx_arch_write, lib.sx_result_arch(result), abi.SX_YAML))
        layers = Network._copy(lib.sx_result_network(result)).layers.values()
        return cls(text_of(lib.sx_result_write, result), [problem for problem, _ in layers], arch)

    def save(self, path: Path) -> None:
        """Writes the JSON of `sextant map --json`."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.json)

    def _layer(self, entry: Dict[str, Any], problem: Problem) -> LayerResult:
        best, text = entry.get("best") or {}, entry.get("mapping")
        mapping = Mapping.from_text(json.dumps(text), problem, self.arch) if text else None
        infinite = float("inf")
        zeros = "timeloop" if self.raw.get("repeat", {}).get("sparse_timeloop") else "exact"
        return LayerResult(entry["problem"], entry.get("count", 1), problem, self.arch, mapping,
                           best.get("cycles", infinite), best.get("energy_pj", infinite), best.get("edp", infinite),
                           best.get("objective", infinite), entry["evaluations"], entry["seconds"],
                           entry.get("lower_bound", 0.0), entry.get("optimal", False),
                           [(t[0], t[1], t[2]) for t in entry["trace"]], entry, zeros,
                           best.get("latency", best.get("cycles", infinite)), self.raw.get("repeat", {}).get("latency"))

    def _single(self) -> LayerResult:
        if len(self.layers) != 1:
            raise ValueError(f"the result has {len(self.layers)} layers: ask one of .layers, or .total")
        return self.layers[0]

    @property
    def found(self) -> bool:
        """Whether every layer has a mapping."""
        return all(layer.found for layer in self.layers)

    @property
    def fused(self) -> Optional[Dict[str, Any]]:
        """What `map` with `fuse` found: sums, groups, tensors that stay, memory by layer; None where nothing was to be fused."""
        return self.raw.get("fused")

    @property
    def serving(self) -> Optional[Dict[str, Any]]:
        """Of a run of a language model: tokens per second, joules per token, bytes, operators and what limits them, as in the
        program's JSON; of `phase="both"`, see `raw["runs"]`. None of other results."""
        return self.raw.get("serving")

    @property
    def total(self) -> Dict[str, float]:
        """Cycles, energy, their product and the latency over all layers and how often they occur."""
        cycles = sum(layer.cycles * layer.count for layer in self.layers)
        energy = sum(layer.energy_pj * layer.count for layer in self.layers)
        return {"cycles": cycles, "energy_pj": energy, "edp": cycles * energy,
                "latency": sum(layer.latency * layer.count for layer in self.layers)}

    @property
    def mapping(self) -> Optional[Mapping]:
        """The best mapping of a single problem; None where none was found."""
        return self._single().mapping

    @property
    def cycles(self) -> float:
        """Cycles of a single problem's best mapping."""
        return self._single().cycles

    @property
    def energy_pj(self) -> float:
        """Energy of a single problem's best mapping."""
        return self._single().energy_pj

    @property
    def edp(self) -> float:
        """Energy times delay of a single problem's best mapping."""
        return self._single().edp

    @property
    def latency(self) -> float:
        """Cycles of the tile pipeline of a single problem's best mapping, or `cycles`."""
        return self._single().latency

    @property
    def k_best(self) -> List[Found]:
        """The best mappings of a single problem, the best first; of `map` with `k_best`."""
        return self._single().k_best

    @property
    def pareto(self) -> List[Found]:
        """The front of energy and cycles of a single problem; of `map` with `pareto`."""
        return self._single().pareto

    @property
    def optimal(self) -> bool:
        """Whether all is proven optimal: each layer or, with an objective of the network, the choice of their mappings."""
        if self.raw["total"].get("objective_of") == "network":
            return bool(self.gap == 0)
        return all(layer.optimal for layer in self.layers)

    @property
    def value(self) -> float:
        """What was minimised: the sum of the layers' objectives, each as often as it runs, or an objective of the network."""
        if len(self.layers) == 1:
            return self.layers[0].value * self.layers[0].count
        return float(self.raw["total"].get("objective", float("nan")))

    @property
    def lower_bound(self) -> float:
        """What no mappings of the layers bring `value` below; 0: not known."""
        if len(self.layers) == 1:
            return self.layers[0].lower_bound * self.layers[0].count
        return float(self.raw["total"].get("lower_bound", 0.0))

    @property
    def gap(self) -> float:
        """By which share `value` may be above the least; infinite: not known."""
        return max(0.0, self.value / self.lower_bound - 1) if self.lower_bound > 0 else float("inf")

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[LayerResult]:
        return iter(self.layers)

    def __getitem__(self, name: Union[int, str]) -> LayerResult:
        if isinstance(name, int):
            return self.layers[name]
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(name)

    def frame(self) -> Any:
        """A pandas frame with a row per layer."""
        import pandas
        names = ("name", "count", "cycles", "energy_pj", "edp", "evaluations", "seconds", "lower_bound", "optimal")
        return pandas.DataFrame([{n: getattr(layer, n) for n in names} for layer in self.layers])

    def plot(self, kind: str = "cost") -> Figure:
        """The roofline and energies of `sextant map --svg` ("cost"), or ("convergence") the best value of every layer against
        evaluations."""
        if kind == "convergence":
            traces = [(layer.name, [t[0] for t in layer.trace], [t[2] for t in layer.trace]) for layer in self.layers]
            return curves(traces, f"convergence on {self.arch.name}", y_label=str(self.raw["results"][0]["objective"]),
                          log_y=all(v > 0 for _, _, values in traces for v in values))
        if kind != "cost":
            raise ValueError(f"kind is {kind!r}; it is 'cost' or 'convergence'")
        data = self.json.encode()
        result = Handle(lib.sx_result_free, lib.sx_result_read, b"the result", data, len(data))
        return Figure(text_of(lib.sx_draw_result, result))

    def _repr_html_(self) -> str:
        def known(layer: LayerResult) -> str:
            if layer.optimal or not layer.found:
                return "proven" if layer.optimal else "none found"
            return f"gap {layer.value / layer.lower_bound - 1:.1%}" if layer.lower_bound > 0 else ""
        rows = [(layer.name, layer.count, layer.cycles, layer.energy_pj / 1e6, layer.edp, known(layer)) for layer in self.layers]
        return html.table(["layer", "times", "cycles", "energy, uJ", "EDP, pJ*cycles", "known"], rows, f"on {self.arch.name}")

    def __repr__(self) -> str:
        return f"<MapResult of {len(self.layers)} layers on {self.arch.name}>"


def map(problem: Union[Problem, Network, Sequence[Any], str], arch: Union[Arch, str], mapper: str = "auto",
        objective: str = "edp", evals: Optional[int] = None, time: float = 0, target: float = 0, patience: int = 0,
        seed: int = 0, threads: Optional[int] = None, k_best: int = 1, pareto: bool = False, constraints: Files = (),
        remainders: bool = False, keep_all: bool = False, warm_start: str = "similarity", db: Optional[Path] = None,
        db_wait: float = STORE_WAIT, again: bool = False, checkpoint: Optional[Path] = None,
        callback: Optional[Callable[[Progress], Any]] = None, split_axes: bool = False, sparse_semantics: Optional[str] = None,
        like: Optional[str] = None, fuse: Union[None, bool, str, Sequence[str]] = None, exchange: Optional[str] = None,
        window: Optional[str] = None, softmax: Optional[str] = None, staircase: Optional[str] = None, orders: Optional[int] = None, row_loops: Optional[int] = None,
        certificate: Optional[Path] = None,
        gap: Optional[float] = None, latency: Optional[str] = None, estimator: Optional[str] = None,
        no_remainders: bool = False, progress: Optional[bool] = None, **run: Any) -> MapResult:
    """Finds mappings for a problem, or for every layer of a network, as `sextant map` does.

    `problem` is a Problem, a Network, a list of problems, or a text for either; `arch` an Arch or a text for one.
    Options are those of the command (`estimator` is for an `arch` given as a text); `db_wait` is how many seconds to wait for a database that another program is
    writing to. `callback` gets a Progress at most ten times a second; returning False stops the
    search with the best so far, raising stops it and raises. So does Ctrl-C the first time, with the warning `Interrupted`; the
    second is raised. `progress` shows a bar (by tqdm where it is installed), or not; by itself it is shown in terminals and
    notebooks after a second.

    `fuse` is True (or "auto"), "none", or names of tensors that are to stay on chip: then `problem` is the name or the file of a
    network, the program `sextant` does the search, and `MapResult.fused` is what it found; `exchange`, `window`, `softmax`,
    `staircase`, `orders`, `row_loops`, `gap` and `certificate` (a file that `sextant.verify` checks) are as on the command line.

    `run` are options of a run of a language model, such as `phase="decode", context=4096, batch=8, chips=4, bits="w=4"`: then `problem`
    is its name or its config.json, the program does the search, and `MapResult.serving` has tokens per second.
    """
    planned = {"exchange": exchange, "window": window, "softmax": softmax, "staircase": staircase, "orders": orders, "row_loops": row_loops,
               "certificate": certificate if certificate is None else os.fspath(certificate)}
    if fuse or run:
        if callback or checkpoint or (fuse and run):
            raise ValueError(f"map with {'fuse' if fuse else next(iter(run))} has no callback, no checkpoint"
                             f"{' and no run of a language model' if fuse else ''}")
        names = "auto" if fuse is True else fuse if isinstance(fuse, str) else ",".join(fuse or ()) or None
        others = {"warm_start": warm_start if warm_start != "similarity" else None, "k_best": k_best if k_best != 1 else None}
        return _map_by_program(problem, arch, mapper=mapper, objective=objective, evals=evals, time=time or None, seed=seed,
                               threads=threads, constraints=constraints or None, keep_all=keep_all, latency=latency, estimator=estimator,
                               gap=gap, target=target or None, patience=patience or None, pareto=pareto, remainders=remainders,
                               no_remainders=no_remainders, db=db, again=again, split_axes=split_axes, sparse_semantics=sparse_semantics,
                               like=like, **({"fuse": names} if fuse else {}), **others, **planned, **run)
    idle = [name for name, value in planned.items() if value is not None]
    if idle:
        raise ValueError(f"{idle[0]} is of map with fuse")
    if gap is not None:
        mapper += f"{',' if ':' in mapper else ':'}gap={gap!r}"
    if remainders and no_remainders:
        raise ValueError("remainders and no_remainders contradict each other")
    if isinstance(arch, Arch) and estimator is not None:
        raise ValueError("the estimator is that of Arch(..., estimator=...) here")
    arch = Arch(arch, like=like, estimator=estimator) if isinstance(arch, (str, os.PathLike)) else arch
    if not isinstance(arch, Arch):
        raise TypeError(f"arch must be an Arch or a text, not {type(arch).__name__}")
    if warm_start not in WARM:
        raise ValueError(f"warm_start is {warm_start!r}; it is one of {', '.join(WARM)}")
    if k_best < 1:
        raise ValueError(f"k_best is {k_best}; it must be at least 1")
    if not isinstance(objective, str):
        raise TypeError("the objective of map is a text; Space.search takes functions")
    network, guard = as_network(problem, like or arch.like), Guard()
    options = Options({**budget(evals, time, target, patience, seed, threads), "mapper": mapper, "objective": objective,
                       "k-best": k_best, "pareto": pareto, "remainders": remainders, "no-remainders": no_remainders,
                       "keep-all": keep_all, "split-axes": split_axes, "warm-start": warm_start, "again": again, "latency": latency,
                       **semantics(arch, sparse_semantics, like)})
    if checkpoint:
        options.set("checkpoint", os.fspath(checkpoint))
    bar = Bar(callback) if wanted(progress) else None
    watch(options, bar or callback, guard, list(network.layers))
    source = arch.constraint_input(constraints, remainders)
    if source is not None:
        lib.sx_options_set_input(options.handle, source.handle)
    if db is not None:
        options.kept.append(Handle(lib.sx_store_close, lib.sx_store_open_within, os.fsencode(db), db_wait))
        lib.sx_options_set_store(options.handle, options.kept[-1])
    out = ctypes.c_void_p()
    with bar or nullcontext():
        guard.run(lib.sx_map_network, network._c, arch._c, options.handle, ctypes.byref(out))
    result = Handle.of(lib.sx_result_free, out)
    if source is not None:
        source.warn()
    return MapResult(text_of(lib.sx_result_write, result), [p for p, _ in network.layers.values()], arch)


def _map_by_program(problem: Any, arch: Union[Arch, str], **options: Any) -> MapResult:
    """A network whose graph is needed, fused or as a run of a language model, by the program."""
    if not isinstance(problem, (str, os.PathLike)):
        raise TypeError("a network that is fused or a run is given by its name or its file, which has the graph")
    answer = commands.run("map", problem=problem, arch=arch, **options)
    problems = [p for p, _ in Network(problem).layers.values()] if "fuse" in options else \
        [Problem(layer["einsum"]) for layer in answer.raw["results"]]
    return MapResult(json.dumps(answer.raw), problems, arch if isinstance(arch, Arch) else Arch(arch))


def as_network(problem: Any, like: Optional[str] = None) -> Network:
    """A network of whatever map takes."""
    if isinstance(problem, Network):
        return problem
    if isinstance(problem, Problem):
        return Network([problem])
    if isinstance(problem, (list, tuple)):
        return Network(problem)
    return Network(problem, like=like)
