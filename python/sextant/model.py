"""The cost model: what one mapping costs, level by level, and what a million cost."""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from . import _abi as abi
from ._library import check, handle_of, lib, text_of
from .figures import Figure, bars
from .mappings import Mapping, Mappings, numpy
from .nouns import Arch, Problem


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Score:
    """The totals that decide a search."""

    energy_pj: float
    cycles: float
    utilization: float
    last_level_accesses: float

    @property
    def edp(self) -> float:
        """Energy times delay, pJ * cycles."""
        return self.energy_pj * self.cycles


@dataclass(frozen=True)
class TensorCost:
    """A tensor at a level; counts are per instance, energy is over all. `more` has the other keys of docs/eval.md."""

    name: str
    kept: bool
    utilized_capacity: int
    reads: int
    fills: int
    updates: int
    energy_pj: float
    more: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class LevelCost:
    """A storage level."""

    name: str
    instances_used: int
    energy_pj: float
    cycles: int
    tensors: List[TensorCost] = field(repr=False)


@dataclass(frozen=True)
class NetworkCost:
    """The network between a level and the next inner one; `tensors` as in docs/eval.md."""

    name: str
    energy_pj: float
    tensors: List[Dict[str, Any]] = field(repr=False)


@dataclass(frozen=True)
class Cost:
    """What a mapping costs, or (`legal` is False) why it cannot run. Levels are innermost first."""

    legal: bool
    cycles: float = float("inf")
    energy_pj: float = float("inf")
    edp: float = float("inf")
    utilization: float = 0.0
    computes: int = 0
    compute_energy_pj: float = 0.0
    levels: List[LevelCost] = field(default_factory=list, repr=False)
    networks: List[NetworkCost] = field(default_factory=list, repr=False)
    reason: Optional[str] = None

    def __bool__(self) -> bool:
        return self.legal

    def frame(self) -> Any:
        """A pandas frame with a row per level and tensor."""
        import pandas
        return pandas.DataFrame([{"level": level.name, "instances_used": level.instances_used, "tensor": t.name,
                                  "kept": t.kept, "utilized_capacity": t.utilized_capacity, "reads": t.reads,
                                  "fills": t.fills, "updates": t.updates, "energy_pj": t.energy_pj}
                                 for level in self.levels for t in level.tensors])

    def plot(self, title: str = "energy by level") -> Figure:
        """A bar of energy for every level, the networks and the compute units."""
        values = [(level.name, level.energy_pj) for level in self.levels]
        values.append(("networks", sum(n.energy_pj for n in self.networks)))
        values.append(("compute", self.compute_energy_pj))
        return bars(values, title, "energy (pJ)", name="energy")


def _tensor(entry: Dict[str, Any]) -> TensorCost:
    names = ("name", "kept", "utilized_capacity", "reads", "fills", "updates", "energy_pj")
    return TensorCost(*(entry[n] for n in names), more={k: v for k, v in entry.items() if k not in names})


def _cost(text: str) -> Cost:
    """Reads the JSON of sx_cost_write."""
    data = json.loads(text)
    levels = [LevelCost(e["name"], e["instances_used"], e["energy_pj"], e["cycles"], [_tensor(t) for t in e["tensors"]])
              for e in data["levels"]]
    nets = [NetworkCost(e["name"], e["energy_pj"], e["tensors"]) for e in data["networks"]]
    return Cost(True, data["cycles"], data["energy_pj"], data["edp"], data["utilization"], data["computes"],
                data.get("compute_energy_pj", 0.0), levels, nets)


class Scores:
    """The totals of many mappings: numpy arrays, or lists where there is no numpy. An illegal mapping has infinite
    energy and cycles."""

    def __init__(self, scores: Any, verdicts: Any, n: int, model: "Model"):
        self._verdicts, self._n, self._model = verdicts, n, model
        if numpy is not None:
            table = numpy.frombuffer(scores, dtype=numpy.float64).reshape(-1, 4)[:n]
            reasons = numpy.frombuffer(verdicts, dtype=numpy.dtype(abi.sx_verdict))["reason"][:n]
            self.energy_pj, self.cycles, self.utilization, self.last_level_accesses = table.T
            self.edp, self.legal = self.energy_pj * self.cycles, reasons == 0
        else:
            for name in ("energy_pj", "cycles", "utilization", "last_level_accesses"):
                setattr(self, name, [getattr(scores[i], name) for i in range(n)])
            self.edp = [e * c for e, c in zip(self.energy_pj, self.cycles)]
            self.legal = [verdicts[i].reason == 0 for i in range(n)]

    def reason(self, index: int) -> Optional[str]:
        """Why a mapping cannot run; None where it can."""
        verdict = self._verdicts[range(self._n)[index]]
        return None if verdict.reason == 0 else self._model._reason(verdict)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> Score:
        return Score(float(self.energy_pj[index]), float(self.cycles[index]), float(self.utilization[index]),
                     float(self.last_level_accesses[index]))

    def frame(self) -> Any:
        """A pandas frame with a row per mapping."""
        import pandas
        return pandas.DataFrame({n: getattr(self, n) for n in ("energy_pj", "cycles", "edp", "utilization",
                                                               "last_level_accesses", "legal")})


def set_semantics(options: Any, problems: Sequence[Problem], arch: Arch, semantics: Optional[str],
                  like: Optional[str]) -> None:
    """Sets the semantics of zeros, which for several problems is Timeloop's where it is for each, and whom to be like."""
    if semantics not in (None, "exact", "timeloop"):
        raise ValueError(f"sparse_semantics is 'exact' or 'timeloop', not {semantics!r}")
    if like not in (None, "timeloop"):
        raise ValueError(f"like is 'timeloop' or None, not {like!r}")
    like = like or arch.like
    both = bool(like) and bool(lib.sx_sparse_active(ctypes.byref(arch._c.sparse)))
    options.like_timeloop = bool(like)
    options.sparse_timeloop = semantics == "timeloop" or semantics is None and all(
        both or lib.sx_model_prefers_timeloop(ctypes.byref(p._c), ctypes.byref(arch._c)) for p in problems)


class Model:
    """The cost model of a problem on an architecture, compiled once. `like="timeloop"`: costs are Timeloop's; unless said,
    as the architecture was read."""

    def __init__(self, problem: Problem, arch: Arch, first_read_elision: bool = True, link_transfers: bool = True,
                 sparse_semantics: Optional[str] = None, like: Optional[str] = None):
        if not isinstance(problem, Problem) or not isinstance(arch, Arch):
            raise TypeError("a model is made of a Problem and an Arch")
        self.problem, self.arch = problem.bound_to(arch), arch
        options = abi.sx_model_options()
        lib.sx_model_options_init(ctypes.byref(options))
        options.no_first_read_elision = not first_read_elision
        options.no_link_transfers = not link_transfers
        set_semantics(options, [self.problem], arch, sparse_semantics, like)
        self._options = options
        self._handle = handle_of(lib.sx_model_new, ctypes.byref(self.problem._c), ctypes.byref(arch._c),
                                 ctypes.byref(options))

    def _reason(self, verdict: Any) -> str:
        text = ctypes.create_string_buffer(512)
        lib.sx_verdict_text(ctypes.byref(verdict), ctypes.byref(self.problem._c), ctypes.byref(self.arch._c), text, 512)
        return text.value.decode()

    def evaluate(self, mapping: Mapping) -> Cost:
        """What a mapping costs, level by level; of an illegal one, why it cannot run."""
        if not isinstance(mapping, Mapping):
            raise TypeError(f"evaluate takes a Mapping, not {type(mapping).__name__}; evaluate_batch takes many")
        problem, arch = ctypes.byref(self.problem._c), ctypes.byref(self.arch._c)
        evaluator, cost = handle_of(lib.sx_evaluator_new, self._handle), abi.sx_cost()
        try:
            verdict = lib.sx_evaluate(evaluator, ctypes.byref(mapping._c), ctypes.byref(cost))
        finally:
            lib.sx_evaluator_free(evaluator)
        check(lib.sx_verdict_status(ctypes.byref(verdict), problem, arch))
        if verdict.reason != 0:
            return Cost(False, reason=self._reason(verdict))
        return _cost(text_of(lib.sx_cost_write, ctypes.byref(cost), problem, arch))

    def evaluate_batch(self, mappings: Union[Mappings, Iterable[Mapping]], threads: Optional[int] = None) -> Scores:
        """The totals of many mappings, on several threads (one per processor unless said)."""
        packed = mappings if isinstance(mappings, Mappings) else Mappings.of(mappings)
        n = len(packed)
        if packed.arch._c.n_levels != self.arch._c.n_levels:
            raise ValueError(f"the mappings are for {packed.arch.name}, the model is of {self.arch.name}")
        scores, verdicts = (abi.sx_score * max(n, 1))(), (abi.sx_verdict * max(n, 1))()
        check(lib.sx_evaluate_array(self._handle, packed._address, packed.stride, n, threads or processors(), scores,
                                    verdicts))
        return Scores(scores, verdicts, n, self)

    def __repr__(self) -> str:
        return f"<Model of {self.problem.name or 'a problem'} on {self.arch.name}>"

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.sx_model_free(self._handle)


def evaluate(problem: Problem, arch: Arch, mapping: Union[Mapping, Mappings, Iterable[Mapping]],
             **options: Any) -> Union[Cost, Scores]:
    """What a mapping costs (a Cost), or the totals of many (Scores). Options are those of Model."""
    model = Model(problem, arch, **options)
    return model.evaluate(mapping) if isinstance(mapping, Mapping) else model.evaluate_batch(mapping)
