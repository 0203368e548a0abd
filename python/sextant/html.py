"""What notebooks show of the package's objects: HTML without scripts, in the colours of the page around it."""
from __future__ import annotations

from html import escape
from typing import Any, Iterable, List, Sequence

_BOX = "border:1px solid currentColor;border-radius:4px;padding:.3em .6em;margin:.2em 0;display:inline-block"


def text(said: str) -> str:
    return f"<pre>{escape(said)}</pre>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> str:
    """A table whose numbers are to the right."""
    def cell(value: Any, tag: str = "td") -> str:
        side = "left" if isinstance(value, str) else "right"
        shown = f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
        return f'<{tag} style="text-align:{side}">{escape(shown)}</{tag}>'
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    lines = "".join("<tr>" + "".join(cell(v) for v in row) + "</tr>" for row in rows)
    return f"<table>{caption}<thead><tr>{''.join(cell(h, 'th') for h in head)}</tr></thead><tbody>{lines}</tbody></table>"


def boxes(names: Sequence[str], title: str) -> str:
    """Boxes within boxes, the first the outermost."""
    inner = ""
    for name in reversed(names):
        inner = f'<div style="{_BOX}">{escape(name)}{"<br>" + inner if inner else ""}</div>'
    return f"<div><b>{escape(title)}</b><br>{inner}</div>"


def tree(title: str, value: Any, depth: int = 0) -> str:
    """A value of JSON: what is nested can be opened."""
    if isinstance(value, dict) and value or isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        items = value.items() if isinstance(value, dict) else ((str(i), v) for i, v in enumerate(value))
        inner = "".join(tree(str(key), v, depth + 1) for key, v in items)
        opened = " open" if depth == 0 else ""
        return f'<details{opened} style="margin-left:{min(depth, 1)}em"><summary>{escape(title)}</summary>{inner}</details>'
    shown = str(value)
    return f'<div style="margin-left:1em">{escape(title)}: {escape(shown if len(shown) < 200 else shown[:200] + "...")}</div>'


def nest(lines: List[str], title: str) -> str:
    """The loops of a mapping."""
    return f"<div><b>{escape(title)}</b>{text(chr(10).join(lines))}</div>"
