"""Figures: SVG drawn by the library, the same bytes on every machine."""
from __future__ import annotations

import ctypes
from typing import Any, Optional, Sequence, Tuple

from . import _abi as abi
from ._library import lib, text_of
from .nouns import Path


class Figure:
    """A figure: `svg` is its text, `save` writes it, and notebooks show it."""

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: Path) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg


def _doubles(values: Sequence[float]) -> Any:
    return (ctypes.c_double * max(len(values), 1))(*values)


def _axes(title: str, x: str, y: str, log_x: bool, log_y: bool) -> Any:
    return abi.sx_axes(title.encode(), x.encode(), y.encode(), log_x, log_y)


def curves(traces: Sequence[Tuple[str, Sequence[float], Sequence[float]]], title: str, x_label: str = "evaluations",
           y_label: str = "objective", log_x: bool = True, log_y: bool = True) -> Figure:
    """Step curves, such as convergence: a (name, x, y) for each."""
    keep = [(name.encode(), _doubles(x), _doubles(y), len(x)) for name, x, y in traces]
    array = (abi.sx_curve * max(len(keep), 1))()
    for curve, (name, x, y, n) in zip(array, keep):
        curve.name, curve.n, curve.x, curve.mid = name, n, ctypes.addressof(x), ctypes.addressof(y)
    axes = _axes(title, x_label, y_label, log_x, log_y)
    return Figure(text_of(lib.sx_draw_curves, ctypes.byref(axes), array, len(keep)))


def front(points: Sequence[Tuple[float, float]], title: str, x_label: str = "energy (pJ)", y_label: str = "cycles",
          best: Optional[int] = None) -> Figure:
    """Points of a Pareto front, by their first number."""
    order = (ctypes.c_size_t * max(len(points), 1))(*sorted(range(len(points)), key=lambda i: points[i]))
    x, y = _doubles([p[0] for p in points]), _doubles([p[1] for p in points])
    drawn = abi.sx_front(b"mappings", b"front", b"best", len(points), ctypes.addressof(x), ctypes.addressof(y),
                         len(points), ctypes.addressof(order), len(points) if best is None else best)
    axes = _axes(title, x_label, y_label, False, False)
    return Figure(text_of(lib.sx_draw_front, ctypes.byref(axes), ctypes.byref(drawn)))


def bars(values: Sequence[Tuple[str, float]], title: str, y_label: str, x_label: str = "", name: str = "value") -> Figure:
    """Bars side by side: a (name, value) for each."""
    names = (ctypes.c_char_p * max(len(values), 1))(*[n.encode() for n, _ in values])
    heights = _doubles([v for _, v in values])
    drawn = abi.sx_bars(bar_name=name.encode(), n=len(values), name=ctypes.addressof(names),
                        value=ctypes.addressof(heights), line=float("nan"))
    axes = _axes(title, x_label, y_label, False, False)
    return Figure(text_of(lib.sx_draw_bars, ctypes.byref(axes), ctypes.byref(drawn)))
