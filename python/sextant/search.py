"""The map space of a model, and searching it: by the model, by an objective of one's own, by a cost function of one's
own, with a callback that watches."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _abi as abi
from . import html
from ._library import Guard, Handle, check, lib, taken
from .figures import Figure, curves, front
from .mappings import Mapping, Mappings
from .model import TOTALS, Model, Score, Scores, processors
from .nouns import Arch, Files, Problem
from .options import Options

Objective = Union[str, Callable[[Score], float]]


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
    """What a search found. `trace` has (evaluations, seconds, value) of every improvement; `stop` is why it ended, such as
    "callback" or "interrupt"."""

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

    def _repr_html_(self) -> str:
        found = self.front or self.all
        rows = [(f.value, f.score.cycles, f.score.energy_pj / 1e6, f.score.utilization, f.evaluation) for f in found]
        known = "proven" if self.optimal else f"lower bound {self.lower_bound:.6g}"
        return html.table([self.objective, "cycles", "energy, uJ", "utilisation", "found at"], rows,
                          f"{'front' if self.front else 'best'} by {self.mapper}; {known}")

    def plot(self, title: str = "convergence") -> Figure:
        """The best value against evaluations, or the Pareto front where one was asked for."""
        if self.front:
            return front([(f.score.energy_pj, f.score.cycles) for f in self.front], title)
        values = [t[2] for t in self.trace]
        return curves([(self.mapper.split(":")[0], [t[0] for t in self.trace], values)], title, y_label=self.objective,
                      log_y=all(v > 0 for v in values))


WATCH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
OBJECTIVE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double), ctypes.c_size_t)
COST = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double),
                        ctypes.c_size_t, ctypes.POINTER(ctypes.c_double))


def watch(options: Options, callback: Optional[Callable[[Progress], Any]], guard: Guard,
          layers: Sequence[str] = ()) -> None:
    """Lets a Python function see the progress; False stops the search, so does an exception."""
    lib.sx_options_set_cancel(options.handle, guard.cancel)
    options.kept.append(guard)
    if callback is None:
        return
    if not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    tell: Callable[[Progress], Any] = callback

    def call(_user: Any, progress: int) -> None:
        if guard.exception is not None:
            return
        try:
            evaluations, limit, seconds, best, bound, layer = (
                lib.sx_progress_figure_of(progress, figure) for figure in (
                    abi.SX_PROGRESS_EVALUATIONS, abi.SX_PROGRESS_LIMIT, abi.SX_PROGRESS_SECONDS, abi.SX_PROGRESS_BEST,
                    abi.SX_PROGRESS_BOUND, abi.SX_PROGRESS_LAYER))
            name = layers[int(layer)] if layers else None
            if tell(Progress(int(evaluations), int(limit), seconds, best, bound, name)) is False:
                guard.stop()
        except BaseException as exception:  # raised again when the search has ended
            guard.fail(exception)

    options.kept.append(WATCH(call))
    lib.sx_options_set_watch(options.handle, options.kept[-1], None)


def budget(evals: Optional[int], time: float, target: float, patience: int, seed: int,
           threads: Optional[int]) -> Dict[str, Any]:
    """The options that limit a search."""
    for name, value in (("evals", evals or 0), ("time", time), ("patience", patience), ("seed", seed)):
        if value < 0:
            raise ValueError(f"{name} is {value}; it must not be negative")
    return {"evals": evals, "time": time, "target": target, "patience": patience, "seed": seed,
            "threads": threads or processors()}


def own_objective(function: Callable[[Score], float], options: Options, guard: Guard) -> None:
    """Makes a Python function of the score the objective."""

    def call(_user: Any, totals: Any, _n: int) -> float:
        if guard.exception is not None:
            return math.inf
        try:
            return float(function(Score(*totals[:TOTALS])))
        except BaseException as exception:  # raised again when the search has ended
            guard.fail(exception)
            return math.inf

    options.kept.append(OBJECTIVE(call))
    name = getattr(function, "__name__", "function").encode()
    check(lib.sx_options_set_objective(options.handle, name, options.kept[-1], None))


class OwnCost:
    """A cost function of one's own."""

    def __init__(self, cost: Callable[..., Any], space: "Space", vectorized: bool, guard: Guard):
        if not callable(cost):
            raise TypeError(f"cost must be a function, not {type(cost).__name__}")
        self.cost, self.space, self.vectorized, self.guard = cost, space, vectorized, guard

    def call(self, _user: Any, c: int, totals: Any, stride: int, out: Any) -> Any:
        """Scores packed mappings; an exception becomes the search's error."""
        try:
            if self.guard.exception is None:
                self._score(c, totals, stride, out)
                return None
        except BaseException as exception:  # raised again when the search has ended
            self.guard.fail(exception)
        text = f"the cost function raised {type(self.guard.exception).__name__}".encode()
        return lib.sx_error_new(abi.SX_ERR_PROGRAM, text)

    def _score(self, c: int, totals: Any, stride: int, out: Any) -> None:
        model = self.space.model
        mappings = Mappings._copy(c, model.problem, model.arch)
        n = len(mappings)
        known = [totals[i * stride + k] for i in range(n) for k in range(TOTALS)]  # the library may have more of them
        scores = Scores((ctypes.c_double * (n * TOTALS))(*known), mappings, model)
        values = self.cost(mappings, scores) if self.vectorized else \
            [self.cost(mappings[i], scores[i]) for i in range(n)]
        if len(values) != n:
            raise ValueError(f"the cost function returned {len(values)} values for {n} mappings")
        for i, value in enumerate(values):
            out[i] = math.inf if value is None else float(value)


AT_ONCE = 16384  # mappings drawn by one call of the library


class Space:
    """The legal mappings of a model. `remainders`: tile sizes need not divide; `keep_all`: bypassing is not searched;
    `split_axes`: a dimension may lie on both axes of an array; `constraints`: files in Timeloop's format, beside what
    the architecture's own files say."""

    def __init__(self, model: Model, constraints: Files = (), remainders: bool = False, keep_all: bool = False,
                 banks: bool = True, split_axes: bool = False):
        if not isinstance(model, Model):
            raise TypeError(f"a space is made of a Model, not of {type(model).__name__}")
        self.model = model
        options = Options({"remainders": remainders, "keep-all": keep_all, "no-banks": not banks,
                           "split-axes": split_axes})
        limits = model.arch.constraints(model.problem, constraints, remainders)
        self._handle = Handle(lib.sx_space_free, lib.sx_mapping_space_new, model._handle, limits, options.handle)

    def sample(self, n: int, seed: int = 0, first: int = 0) -> Mappings:
        """Draws n legal mappings: those of the seed's sequence from number `first` on."""
        if not isinstance(n, int) or n < 0:
            raise TypeError(f"n is {n!r}; it must be a whole number")
        out = Mappings(n, self.model.problem, self.model.arch)
        if n <= AT_ONCE:
            check(lib.sx_space_draw(self._handle, seed, first, out._c))
            return out
        for begin in range(0, n, AT_ONCE):  # in parts, so that Ctrl-C is heard
            out._fill(begin, self.sample(min(AT_ONCE, n - begin), seed, first + begin))
        return out

    def legal(self, mapping: Mapping) -> Tuple[bool, Optional[str]]:
        """Whether a mapping is in the space; where not, why."""
        holds, why = ctypes.c_bool(), ctypes.c_void_p()
        check(lib.sx_space_holds(self._handle, mapping._c, ctypes.byref(holds), ctypes.byref(why)))
        return (True, None) if holds.value else (False, taken(why))

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
        guard = Guard()
        options = Options({**budget(evals, time, target, patience, seed, threads), "mapper": mapper, "k-best": k_best,
                           "pareto": pareto})
        watch(options, callback, guard)
        if cost is not None:
            options.kept.append(COST(OwnCost(cost, self, vectorized, guard).call))
            lib.sx_options_set_cost(options.handle, options.kept[-1], None)
        elif callable(objective):
            own_objective(objective, options, guard)
        elif isinstance(objective, str):
            options.set("objective", objective)
        else:
            raise TypeError(f"objective must be a text or a function, not {type(objective).__name__}")
        for mapping in starts:
            check(lib.sx_options_add_start(options.handle, mapping._c))
        out = ctypes.c_void_p()
        guard.run(lib.sx_space_search, self._handle, options.handle, ctypes.byref(out))
        found = self._result(Handle.of(lib.sx_result_free, out), mapper, "cost" if cost is not None else objective)
        return replace(found, stop=guard.stopped_by) if guard.stopped_by and found.stop == "signal" else found

    def _found(self, result: Handle, function: Any) -> List[Found]:
        out: List[Found] = []
        while True:
            answer = function(result, 0, len(out))
            if answer is None:
                return out
            mapping = Mapping._copy(lib.sx_answer_mapping(answer), self.model.problem, self.model.arch)
            score = Score(*[lib.sx_answer_total(answer, k) for k in range(TOTALS)])
            out.append(Found(mapping, lib.sx_answer_value(answer), score, lib.sx_answer_evaluation(answer)))

    def _result(self, result: Handle, mapper: str, objective: Any) -> SearchResult:
        trace: List[Tuple[int, float, float]] = []
        at, seconds, value = ctypes.c_uint64(), ctypes.c_double(), ctypes.c_double()
        while lib.sx_result_trace(result, 0, len(trace), ctypes.byref(at), ctypes.byref(seconds), ctypes.byref(value)):
            trace.append((at.value, seconds.value, value.value))
        best = self._found(result, lib.sx_result_best)
        name = objective if isinstance(objective, str) else getattr(objective, "__name__", "function")
        evaluations, valid, time, bound, optimal = (
            lib.sx_result_figure_of(result, 0, figure) for figure in (
                abi.SX_RESULT_EVALUATIONS, abi.SX_RESULT_VALID, abi.SX_RESULT_SECONDS, abi.SX_RESULT_LOWER_BOUND,
                abi.SX_RESULT_OPTIMAL))
        return SearchResult(best[0] if best else None, best, self._found(result, lib.sx_result_front), trace,
                            int(evaluations), int(valid), time, lib.sx_result_stop(result, 0).decode(), bound,
                            bool(optimal), mapper, name)


def search(problem: Problem, arch: Arch, constraints: Files = (), remainders: bool = False, keep_all: bool = False,
           latency: Optional[str] = None, **options: Any) -> SearchResult:
    """Searches the mappings of a problem onto an architecture. Options are those of Space.search; `latency` as of Model."""
    return Space(Model(problem, arch, latency=latency), constraints, remainders, keep_all).search(**options)
