"""The map space of a model, and searching it: by the model, by an objective of one's own, by a cost function of one's
own, with a callback that watches."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from . import _abi as abi
from ._library import Guard, check, handle_of, lib
from .figures import Figure, curves, front
from .mappings import Mapping, Mappings
from .model import Model, Score, processors
from .nouns import Arch, Files, Problem

Objective = Union[str, Callable[[Score], float]]
DEFAULT_EVALS = 100000  # of mappers that do not end by themselves
OWN_BATCH = 64  # mappings that a cost function gets at once


@dataclass(frozen=True)
class Progress:
    """How far a search is."""

    evaluations: int
    limit: int
    seconds: float
    best: float
    bound: float
    layer: Optional[str] = None


@dataclass(frozen=True)
class Found:
    """A mapping that a search found; `value` is that of the objective."""

    mapping: Mapping = field(repr=False)
    value: float
    score: Score
    evaluation: int


@dataclass(frozen=True)
class SearchResult:
    """What a search found. `trace` has (evaluations, seconds, value) of every improvement."""

    best: Optional[Found]
    all: List[Found] = field(repr=False)
    front: List[Found] = field(repr=False)
    trace: List[Tuple[int, float, float]] = field(repr=False)
    evaluations: int
    valid: int
    seconds: float
    stop: str
    lower_bound: float
    optimal: bool
    mapper: str
    objective: str

    def frame(self) -> Any:
        """A pandas frame of the trace."""
        import pandas
        return pandas.DataFrame(self.trace, columns=["evaluations", "seconds", "value"])

    def plot(self, title: str = "convergence") -> Figure:
        """The best value against evaluations, or the Pareto front where one was asked for."""
        if self.front:
            return front([(f.score.energy_pj, f.score.cycles) for f in self.front], title)
        values = [t[2] for t in self.trace]
        return curves([(self.mapper.split(":")[0], [t[0] for t in self.trace], values)], title, y_label=self.objective,
                      log_y=all(v > 0 for v in values))


def progress_callback(callback: Optional[Callable[[Progress], Any]], guard: Guard,
                      layer: Callable[[], Optional[str]] = lambda: None) -> Any:
    """The C function that calls a Python one with the progress; False stops the search, so does an exception."""
    kind = dict(abi.sx_run_options._fields_)["progress"]
    if callback is None:
        return kind()
    if not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")

    def call(_user: Any, pointer: int) -> None:
        c = abi.sx_progress.from_address(pointer)
        if guard.exception is not None:
            return
        try:
            if callback(Progress(c.evaluations, c.limit, c.seconds, c.best, c.bound, layer())) is False:
                guard.stop()
        except BaseException as exception:  # raised again when the search has ended
            guard.fail(exception)

    return kind(call)


def fill_budget(options: Any, mapper: str, evals: Optional[int], time: float, target: float, patience: int, seed: int,
                threads: Optional[int]) -> None:
    """Sets the limits of a run; a mapper that does not end by itself gets DEFAULT_EVALS."""
    limited = evals or time or target or patience
    if evals is None:
        evals = 0 if limited or lib.sx_navigator_complete(mapper.encode()) else DEFAULT_EVALS
    for name, value in (("evals", evals), ("time", time), ("patience", patience), ("seed", seed)):
        if value < 0:
            raise ValueError(f"{name} is {value}; it must not be negative")
    options.evaluations, options.seconds, options.target, options.patience = evals, time, target, patience
    options.seed, options.threads = seed, threads or processors()


def own_objective(function: Callable[[Score], float], options: Any, guard: Guard) -> Any:
    """Makes a Python function of the score the objective; returns what must be kept alive."""
    kind = dict(abi.sx_objective._fields_)["function"]

    def call(_user: Any, pointer: int) -> float:
        if guard.exception is not None:
            return math.inf
        try:
            return float(function(Score(*abi.sx_metrics.from_address(pointer).value[:4])))
        except BaseException as exception:  # raised again when the search has ended
            guard.fail(exception)
            return math.inf

    options.objective = abi.sx_objective(n_criteria=1, function=kind(call))
    options.objective.criterion[0].kind = abi.SX_FUNCTION
    options.objective.name = getattr(function, "__name__", "function").encode()
    return options.objective.function


class OwnCost:
    """A model of points that asks a Python function."""

    METRICS = ((b"cost", b""), (b"energy_pj", b"pJ"), (b"cycles", b"cycles"))

    def __init__(self, cost: Callable[..., Any], space: "Space", vectorized: bool, guard: Guard):
        if not callable(cost):
            raise TypeError(f"cost must be a function, not {type(cost).__name__}")
        self.cost, self.space, self.vectorized, self.guard = cost, space, vectorized, guard
        self.metrics = (abi.sx_metric_about * len(self.METRICS))(*[(n, u, None) for n, u in self.METRICS])
        self.kind = abi.sx_point_model_type(name=b"python", metrics=ctypes.addressof(self.metrics),
                                            n_metrics=len(self.METRICS), batch=OWN_BATCH)
        self.kind.front[:] = (1, 2)
        self.kind.score_batch = dict(abi.sx_point_model_type._fields_)["score_batch"](self.score)
        self.model = abi.sx_point_model(type=ctypes.addressof(self.kind))

    def score(self, _model: Any, _workspace: Any, points: int, n: int, _goal: Any, _cutoff: float, out: int) -> Any:
        """Scores n points; an exception becomes the search's error."""
        try:
            if self.guard.exception is None:
                self._score(points, n, (abi.sx_outcome * n).from_address(out))
                return None
        except BaseException as exception:  # raised again when the search has ended
            self.guard.fail(exception)
        text = f"the cost function raised {type(self.guard.exception).__name__}".encode()
        return ctypes.cast(lib.sx_error_new(abi.SX_ERR_PROGRAM, text), ctypes.c_void_p).value

    def _score(self, points: int, n: int, out: Any) -> None:
        size = lib.sx_space_point_size(self.space._handle)
        mappings = Mappings(n, self.space.model.problem, self.space.model.arch)
        for i in range(n):
            ctypes.memmove(mappings._address + i * mappings.stride, points + i * size, mappings.stride)
        scores = self.space.model.evaluate_batch(mappings, threads=1)
        values = self.cost(mappings, scores) if self.vectorized else \
            [self.cost(mappings[i], scores[i]) for i in range(n)]
        if len(values) != n:
            raise ValueError(f"the cost function returned {len(values)} values for {n} mappings")
        for i, value in enumerate(values):
            number = math.inf if value is None else float(value)
            out[i].reason = 0 if math.isfinite(number) else abi.SX_REFUSED
            out[i].metrics.value[:3] = (number, scores.energy_pj[i], scores.cycles[i])


class Space:
    """The legal mappings of a model. `remainders`: tile sizes need not divide; `keep_all`: bypassing is not searched;
    `split_axes`: a dimension may lie on both axes of an array; `constraints`: files in Timeloop's format, beside what
    the architecture's own files say."""

    def __init__(self, model: Model, constraints: Files = (), remainders: bool = False, keep_all: bool = False,
                 banks: bool = True, split_axes: bool = False):
        if not isinstance(model, Model):
            raise TypeError(f"a space is made of a Model, not of {type(model).__name__}")
        self.model = model
        options = abi.sx_map_space_options(remainders, keep_all, not banks, split_axes)
        limits = model.arch.constraints(model.problem, constraints, remainders)
        self._handle = handle_of(lib.sx_map_space_new, model._handle, ctypes.byref(limits) if limits else None,
                                 ctypes.byref(options))

    def sample(self, n: int, seed: int = 0, first: int = 0) -> Mappings:
        """Draws n legal mappings: those of the seed's sequence from number `first` on."""
        if not isinstance(n, int) or n < 0:
            raise TypeError(f"n is {n!r}; it must be a whole number")
        out = Mappings(n, self.model.problem, self.model.arch)
        check(lib.sx_map_space_draw(self._handle, seed, first, n, out.stride, out._address))
        return out

    def legal(self, mapping: Mapping) -> Tuple[bool, Optional[str]]:
        """Whether a mapping is in the space; where not, why."""
        point = ctypes.create_string_buffer(lib.sx_space_point_size(self._handle))
        text = ctypes.create_string_buffer(512)
        if not lib.sx_map_space_point(self._handle, ctypes.byref(mapping._c), point):
            return False, "the space does not hold this mapping"
        if lib.sx_space_legal(self._handle, point, text, 512):
            return True, None
        return False, text.value.decode()

    def search(self, mapper: Optional[str] = None, objective: Objective = "edp", evals: Optional[int] = None,
               time: float = 0, target: float = 0, patience: int = 0, seed: int = 0, threads: Optional[int] = None,
               k_best: int = 1, pareto: bool = False, starts: Sequence[Mapping] = (),
               callback: Optional[Callable[[Progress], Any]] = None, cost: Optional[Callable[..., Any]] = None,
               vectorized: bool = False) -> SearchResult:
        """Searches the space by a mapper ("name" or "name:key=value,..."; `auto`, or `gamma` with a cost function).

        `objective`: a name such as "edp" or "energy", or a function of a Score. `cost`: a function of (Mapping, Score)
        that returns what is minimised, None for a mapping that cannot run; with `vectorized`, of (Mappings, Scores),
        returning as many values. `callback` gets a Progress at most ten times a second; False stops the search. What a
        function raises stops the search and is raised here.
        """
        mapper = mapper or ("gamma" if cost or callable(objective) else "auto")
        guard, options = Guard(), abi.sx_run_options()
        lib.sx_run_options_init(ctypes.byref(options))
        fill_budget(options, mapper, evals, time, target, patience, seed, threads)
        options.k_best, options.pareto = k_best, pareto
        options.cancel = ctypes.addressof(guard.cancel)
        options.progress = progress_callback(callback, guard)
        own = OwnCost(cost, self, vectorized, guard) if cost is not None else None
        keep = self._set_objective(options, objective, own, guard)
        keep = (keep, self._set_starts(options, starts))
        run = handle_of(lib.sx_run_new, self._handle, ctypes.byref(own.model) if own else None, ctypes.byref(options))
        try:
            guard.run(lib.sx_run_search, run, mapper.encode())
            return self._result(run, mapper, "cost" if own else objective, own)
        finally:
            lib.sx_run_free(run)
            del keep

    def _set_objective(self, options: Any, objective: Objective, own: Optional[OwnCost], guard: Guard) -> Any:
        if own:
            check(lib.sx_objective_parse_metrics(b"cost", own.metrics, len(own.METRICS),
                                                 ctypes.byref(options.objective)))
        elif callable(objective):
            return own_objective(objective, options, guard)
        elif isinstance(objective, str):
            check(lib.sx_objective_parse(objective.encode(), ctypes.byref(options.objective)))
        else:
            raise TypeError(f"objective must be a text or a function, not {type(objective).__name__}")
        return None

    def _set_starts(self, options: Any, starts: Sequence[Mapping]) -> Any:
        size = lib.sx_space_point_size(self._handle)
        points = ctypes.create_string_buffer(max(size * len(starts), 1))
        for i, mapping in enumerate(starts):
            lib.sx_map_space_point(self._handle, ctypes.byref(mapping._c), ctypes.addressof(points) + i * size)
        options.starts, options.n_starts = ctypes.addressof(points), len(starts)
        return points

    def _found(self, run: Any, function: Any, own: Optional[OwnCost]) -> List[Found]:
        out: List[Found] = []
        found, c = abi.sx_found(), None
        while function(run, len(out), ctypes.byref(found)):
            c = abi.sx_mapping()
            lib.sx_map_space_mapping(self._handle, found.point, ctypes.byref(c))
            mapping = Mapping._of(c, self.model.problem, self.model.arch)
            score = self.model.evaluate_batch([mapping], threads=1)[0] if own else Score(*found.metrics.value[:4])
            out.append(Found(mapping, found.value, score, found.evaluation))
        return out

    def _result(self, run: Any, mapper: str, objective: Any, own: Optional[OwnCost]) -> SearchResult:
        summary, point = lib.sx_run_result(run), abi.sx_trace_point()
        trace: List[Tuple[int, float, float]] = []
        while lib.sx_run_trace(run, len(trace), ctypes.byref(point)):
            trace.append((point.evaluations, point.seconds, point.value))
        best = self._found(run, lib.sx_run_best, own)
        name = objective if isinstance(objective, str) else getattr(objective, "__name__", "function")
        return SearchResult(best[0] if best else None, best, self._found(run, lib.sx_run_front, own), trace,
                            summary.evaluations, summary.valid, summary.seconds,
                            lib.sx_stop_name(summary.stop).decode(), summary.lower_bound, summary.optimal, mapper, name)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.sx_space_free(self._handle)


def search(problem: Problem, arch: Arch, constraints: Files = (), remainders: bool = False, keep_all: bool = False,
           **options: Any) -> SearchResult:
    """Searches the mappings of a problem onto an architecture. Options are those of Space.search."""
    return Space(Model(problem, arch), constraints, remainders, keep_all).search(**options)
