"""A bar for searches that take longer: by tqdm where it is installed, in terminals and notebooks, else a line of text."""
from __future__ import annotations

import importlib
import math
import sys
from typing import Any, Callable, Optional

from .search import Progress

SHOWN_AFTER = 1.0  # seconds


def wanted(progress: Optional[bool]) -> bool:
    """Whether a bar is shown: as asked or, where nothing is said, in terminals and notebooks."""
    if progress is not None:
        return progress
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", lambda: False)())


def text_of(seen: Progress) -> str:
    """How far a search is, in words."""
    parts = [f"{seen.layer}:"] if seen.layer else []
    if math.isfinite(seen.best):
        parts.append(f"best {seen.best:.4g}")
        if seen.bound > 0:
            parts.append(f"gap {100 * (seen.best / seen.bound - 1):.2g} %")
    return " ".join(parts) or "searching"


class Bar:
    """A bar over the evaluations of one search. It is a callback, and passes on what the user's own one says."""

    def __init__(self, also: Optional[Callable[[Progress], Any]] = None):
        self._also, self._width = also, 0
        self._bar: Any = None
        try:
            self._tqdm: Any = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            self._tqdm = None

    def __call__(self, seen: Progress) -> Any:
        if seen.seconds >= SHOWN_AFTER:
            self._show(seen)
        return self._also(seen) if self._also else None

    def _show(self, seen: Progress) -> None:
        if self._tqdm is None:
            line = f"{seen.seconds:.0f} s, {seen.evaluations:,} evaluations, {text_of(seen)}"
            print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(line)
            return
        if self._bar is None:
            self._bar = self._tqdm(total=seen.limit or None, unit=" evaluations", unit_scale=True, leave=False)
        self._bar.set_description_str(text_of(seen), refresh=False)
        self._bar.update(seen.evaluations - self._bar.n)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_exception: Any) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
