"""Figures: SVG drawn by the library, the same bytes on every machine."""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional, Sequence, Tuple

from . import _abi as abi
from ._library import Handle, check, lib, text_of
from .nouns import Path


class Drawn(NamedTuple):
    """What a figure of series was drawn from: a (name, x, y) for each."""

    kind: int
    series: Sequence[Tuple[str, Sequence[float], Sequence[float]]]
    title: str
    x_label: str
    y_label: str
    log_x: bool
    log_y: bool


class Figure:
    """A figure: `svg` is its text, `save` writes it, and notebooks show it. `drawn` is the data of curves, fronts and bars, which
    `matplotlib` draws, too; None of others."""

    def __init__(self, svg: str, drawn: Optional[Drawn] = None):
        self.svg, self.drawn = svg, drawn

    def matplotlib(self, axes: Any = None) -> Any:
        """The same data by matplotlib, on axes of yours or on new ones, which are returned."""
        d = self.drawn
        if d is None:
            raise ValueError("this figure has several parts; matplotlib draws curves, fronts and bars")
        if axes is None:
            from matplotlib import pyplot
            axes = pyplot.subplots()[1]
        for name, x, y in d.series:
            if d.kind == abi.SX_CURVES:
                axes.step(x, y, where="post", label=name)
            elif d.kind == abi.SX_FRONT:
                axes.plot(x, y, "o", label=name)
            else:
                axes.bar([name], y)
        axes.set(title=d.title, xlabel=d.x_label, ylabel=d.y_label)
        if d.kind != abi.SX_BARS:
            axes.set_xscale("log" if d.log_x else "linear")
            axes.legend()
        axes.set_yscale("log" if d.log_y else "linear")
        return axes

    def save(self, path: Path) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg


def _doubles(values: Sequence[float]) -> Any:
    return (ctypes.c_double * max(len(values), 1))(*values)


def _draw(kind: int, series: Sequence[Tuple[str, Sequence[float], Sequence[float]]], title: str, x_label: str,
          y_label: str, log_x: bool = False, log_y: bool = False) -> Figure:
    """A figure of series, a (name, x, y) for each."""
    figure = Handle(lib.sx_figure_free, lib.sx_figure_new, kind, title.encode(), x_label.encode(), y_label.encode())
    lib.sx_figure_set_log(figure, log_x, log_y)
    for name, x, y in series:
        check(lib.sx_figure_add(figure, name.encode(), len(x), _doubles(x), _doubles(y)))
    return Figure(text_of(lib.sx_figure_draw, figure), Drawn(kind, series, title, x_label, y_label, log_x, log_y))


def curves(traces: Sequence[Tuple[str, Sequence[float], Sequence[float]]], title: str, x_label: str = "evaluations",
           y_label: str = "objective", log_x: bool = True, log_y: bool = True) -> Figure:
    """Step curves, such as convergence: a (name, x, y) for each."""
    return _draw(abi.SX_CURVES, traces, title, x_label, y_label, log_x, log_y)


def front(points: Sequence[Tuple[float, float]], title: str, x_label: str = "energy (pJ)",
          y_label: str = "cycles") -> Figure:
    """Points of a Pareto front."""
    return _draw(abi.SX_FRONT, [("front", [p[0] for p in points], [p[1] for p in points])], title, x_label, y_label)


def bars(values: Sequence[Tuple[str, float]], title: str, y_label: str, x_label: str = "") -> Figure:
    """Bars side by side: a (name, value) for each."""
    return _draw(abi.SX_BARS, [(name, [0.0], [value]) for name, value in values], title, x_label, y_label)
