"""The cost model: what one mapping costs, level by level, and what a million cost."""
from __future__ import annotations

import ctypes
import json
import math
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Union

from ._library import Handle, check, lib, text_of
from .figures import Figure, bars
from .mappings import Mapping, Mappings, numpy as _numpy
from .nouns import Arch, Problem
from .options import Options


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
    latency: float = float("inf")  # cycles of the tile pipeline, or `cycles`

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
    latency: float = float("inf")
    boundaries: List[Dict[str, Any]] = field(default_factory=list, repr=False)

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
        return bars(values, title, "energy (pJ)")


def _tensor(entry: Dict[str, Any]) -> TensorCost:
    names = ("name", "kept", "utilized_capacity", "reads", "fills", "updates", "energy_pj")
    return TensorCost(**{n: entry[n] for n in names}, more={k: v for k, v in entry.items() if k not in names})


def _cost(text: str) -> Cost:
    """Reads the JSON of sx_cost_report_write."""
    data = json.loads(text)
    levels = [LevelCost(e["name"], e["instances_used"], e["energy_pj"], e["cycles"], [_tensor(t) for t in e["tensors"]])
              for e in data["levels"]]
    nets = [NetworkCost(e["name"], e["energy_pj"], e["tensors"]) for e in data["networks"]]
    return Cost(True, data["cycles"], data["energy_pj"], data["edp"], data["utilization"], data["computes"],
                data.get("compute_energy_pj", 0.0), levels, nets, latency=data.get("latency", data["cycles"]),
                boundaries=data.get("boundaries", []))


FIGURES = ("energy_pj", "cycles", "utilization", "last_level_accesses", "latency")
TOTALS = len(FIGURES)


class Scores:
    """The totals of many mappings: numpy arrays, or lists where there is no numpy. An illegal mapping has infinite
    energy and cycles."""

    def __init__(self, totals: Any, mappings: Mappings, model: "Model"):
        self._n, self._mappings, self._model = len(mappings), mappings, model
        if _numpy is not None:
            table = _numpy.frombuffer(totals, dtype=_numpy.float64).reshape(-1, TOTALS)[:self._n]
            self.energy_pj, self.cycles, self.utilization, self.last_level_accesses, self.latency = table.T
            self.edp, self.legal = self.energy_pj * self.cycles, _numpy.isfinite(self.energy_pj)
        else:
            for k, name in enumerate(FIGURES):
                setattr(self, name, [totals[i * TOTALS + k] for i in range(self._n)])
            self.edp = [e * c for e, c in zip(self.energy_pj, self.cycles)]
            self.legal = [math.isfinite(e) for e in self.energy_pj]

    def reason(self, index: int) -> Optional[str]:
        """Why a mapping cannot run; None where it can."""
        return self._model.evaluate(self._mappings[range(self._n)[index]]).reason

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> Score:
        return Score(*(float(getattr(self, name)[index]) for name in FIGURES))

    def frame(self) -> Any:
        """A pandas frame with a row per mapping."""
        import pandas
        return pandas.DataFrame({n: getattr(self, n) for n in ("energy_pj", "cycles", "edp", "utilization",
                                                               "last_level_accesses", "latency", "legal")})


def semantics(arch: Arch, zeros: Optional[str], like: Optional[str]) -> Dict[str, Any]:
    """The options of how zeros are counted and whom to be like, which is as the architecture was read unless said."""
    if zeros not in (None, "exact", "timeloop"):
        raise ValueError(f"sparse_semantics is 'exact' or 'timeloop', not {zeros!r}")
    if like not in (None, "timeloop"):
        raise ValueError(f"like is 'timeloop' or None, not {like!r}")
    return {"sparse-semantics": zeros, "like": like or arch.like}


class Model:
    """The cost model of a problem on an architecture, compiled once. `like="timeloop"`: costs are Timeloop's; unless said,
    as the architecture was read. `latency="tile"`: the latency is that of the tile pipeline (docs/latency.md), and tiles fit
    as it has them."""

    def __init__(self, problem: Problem, arch: Arch, first_read_elision: bool = True, link_transfers: bool = True,
                 sparse_semantics: Optional[str] = None, like: Optional[str] = None, latency: Optional[str] = None):
        if not isinstance(problem, Problem) or not isinstance(arch, Arch):
            raise TypeError("a model is made of a Problem and an Arch")
        self.problem, self.arch = problem.bound_to(arch), arch
        options = Options({"no-first-read-elision": not first_read_elision, "no-link-transfers": not link_transfers,
                           "latency": latency, **semantics(arch, sparse_semantics, like)})
        self._handle = Handle(lib.sx_model_free, lib.sx_cost_model_new, self.problem._c, arch._c, options.handle)

    def evaluate(self, mapping: Mapping) -> Cost:
        """What a mapping costs, level by level; of an illegal one, why it cannot run."""
        if not isinstance(mapping, Mapping):
            raise TypeError(f"evaluate takes a Mapping, not {type(mapping).__name__}; evaluate_batch takes many")
        report = Handle(lib.sx_cost_report_free, lib.sx_cost_report_new, self._handle)
        check(lib.sx_cost_report_fill(report, mapping._c))
        if not lib.sx_cost_report_legal(report):
            return Cost(False, reason=lib.sx_cost_report_reason(report).decode())
        return _cost(text_of(lib.sx_cost_report_write, report))

    def evaluate_batch(self, mappings: Union[Mappings, Iterable[Mapping]], threads: Optional[int] = None) -> Scores:
        """The totals of many mappings, on several threads (one per processor unless said)."""
        packed = mappings if isinstance(mappings, Mappings) else Mappings.of(mappings)
        if len(packed.arch.levels) != len(self.arch.levels):
            raise ValueError(f"the mappings are for {packed.arch.name}, the model is of {self.arch.name}")
        totals = (ctypes.c_double * max(len(packed) * TOTALS, 1))()
        check(lib.sx_model_score(self._handle, packed._c, threads or processors(), TOTALS, totals))
        return Scores(totals, packed, self)

    def __repr__(self) -> str:
        return f"<Model of {self.problem.name or 'a problem'} on {self.arch.name}>"


def evaluate(problem: Problem, arch: Arch, mapping: Union[Mapping, Mappings, Iterable[Mapping]],
             **options: Any) -> Union[Cost, Scores]:
    """What a mapping costs (a Cost), or the totals of many (Scores). Options are those of Model."""
    model = Model(problem, arch, **options)
    return model.evaluate(mapping) if isinstance(mapping, Mapping) else model.evaluate_batch(mapping)
