"""The options of models, spaces and searches."""
from __future__ import annotations

from typing import Any, Dict

from ._library import Handle, check, lib


class Options:
    """Options by their names on the command line; those that are None are as preset there."""

    def __init__(self, values: Dict[str, Any]):
        self.handle = Handle(lib.sx_options_free, lib.sx_options_new)
        self.kept: Any = []  # what the library has the addresses of
        for name, value in values.items():
            if value is not None:
                self.set(name, value)

    def set(self, name: str, value: Any) -> None:
        text = ("on" if value else "off") if isinstance(value, bool) else str(value)
        check(lib.sx_options_set(self.handle, name.encode(), text.encode()))
