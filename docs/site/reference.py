"""Writes the reference pages that are made from the code: a page for each command, the C API and the Python package.

usage: reference.py PROGRAM INCLUDE FOLDER
"""
import pathlib
import re
import subprocess
import sys


def said(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def commands(program):
    """The commands and a line about each, as `sextant help` lists them."""
    listed = said(program, "help").split("\ncommands:\n")[1].split("\n\n")[0]
    return [line.split(None, 1) for line in listed.splitlines()]


def escaped(text):
    """Text of a terminal as Markdown: backquotes stay, what would be markup or a link does not."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*_<>\[\]|\\])", r"\\\1", p) for p in parts)


def options(lines):
    """The options of a help text as a definition list."""
    out = []
    for line in lines:
        named = re.match(r" {2,6}(-\S.*?)(?: {2,}(\S.*))?$", line)
        if named and not line.startswith(" " * 20):
            out += ["", f"`{named[1]}`", ": " + escaped(named[2] or "")]
        elif line.strip():
            out[-1] += (" " if out[-1] != ": " else "") + escaped(line.strip())
    return out


def command_page(program, name):
    usage, about, *rest = said(program, "help", name).split("\n\n", 2)
    head, _, tail = (rest[0] if rest else "").partition("\n\n")
    about = about.strip()
    page = [f"# sextant {name}", "", escaped(about[0].upper() + about[1:]) + ".", "", "```", usage.removeprefix("usage: "), "```", ""]
    page += ["## Options"] + options(head.splitlines()[1:]) + [""]
    if tail.strip():
        page += ["## Notes", "", "```", tail.rstrip(), "```", ""]
    return "\n".join(page)


def comment_text(comment):
    return re.sub(r"\n \* ?", "\n", comment[2:-2]).strip()


def header_page(path):
    """A header as a page: its comments as text, its declarations as code."""
    text = path.read_text()
    page = [f"## {path.name}", ""]
    opened = text.index("#ifndef")
    page += [escaped(comment_text(text[:opened].strip())), ""]
    body = text[opened:]
    pieces = re.split(r"(?ms)^(/\*.*?\*/)$", body)
    code = []

    def flush():
        kept = "\n".join(code)
        kept = re.sub(r"(?m)^#.*(\\\n.*)*$|^extern \"C\" \{$|^\}$(?=\n*\Z)", "", kept)
        kept = re.sub(r"\n{2,}", "\n", kept).strip()
        if kept:
            page.extend(["```c", kept, "```", ""])
        code.clear()

    for piece in pieces:
        section = re.fullmatch(r"/\* --- (.*) --- \*/", piece)
        if section:
            flush()
            page.extend([f"### {section[1][0].upper()}{section[1][1:]}", ""])
        elif piece.startswith("/*") and piece.endswith("*/"):
            flush()
            page.extend([escaped(comment_text(piece)), ""])
        else:
            code.append(piece)
    flush()
    return "\n".join(page)


def python_page():
    modules = [("Searching and evaluating", "search"), ("Problems, architectures, networks", "nouns"), ("Mappings", "mappings"),
               ("The model and the map space", "model"), ("Commands", "commands"), ("Figures", "figures"), ("Errors", "errors")]
    page = ["# Python reference", "", "Made from the docstrings of the package; [python.md](../python.md) is the way in.", ""]
    for title, name in modules:
        page += [f"## {title}", "", "```{eval-rst}", f".. automodule:: sextant.{name}", "   :members:", "   :undoc-members:", "```", ""]
    return "\n".join(page)


def main(program, include, folder):
    folder = pathlib.Path(folder)
    (folder / "commands").mkdir(parents=True, exist_ok=True)
    index = ["# Commands", "", "| command | |", "|---|---|"]
    names = commands(program)
    for name, about in names:
        index.append(f"| [{name}](commands/{name}.md) | {escaped(about)} |")
        (folder / "commands" / f"{name}.md").write_text(command_page(program, name) + "\n")
    index += ["", "```{toctree}", ":hidden:", ""] + [f"commands/{name}" for name, _ in names] + ["```", ""]
    (folder / "commands.md").write_text("\n".join(index))
    headers = sorted(pathlib.Path(include).glob("*.h"))
    c_page = ["# C reference", "", "Made from the headers; [api.md](../api.md) is the way in.", ""]
    (folder / "c.md").write_text("\n".join(c_page) + "\n" + "\n".join(header_page(h) for h in headers if h.name != "sextant.h"))
    (folder / "python.md").write_text(python_page())


main(*sys.argv[1:])
