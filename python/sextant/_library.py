"""Finding the shared library, and calling it."""
from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from typing import Any, Callable, Iterator, Optional, Tuple

from . import _abi as abi
from .errors import BY_CODE, LibraryError

VERSION = f"{abi.SX_VERSION_MAJOR}.{abi.SX_VERSION_MINOR}.{abi.SX_VERSION_PATCH}"

_HERE = pathlib.Path(__file__).resolve().parent


def _candidates() -> Iterator[str]:
    """Where the library may be: SEXTANT_LIBRARY, in the package, in the build tree, in the folder lib that the package is
    installed below, or where the loader looks."""
    if "SEXTANT_LIBRARY" in os.environ:
        yield os.environ["SEXTANT_LIBRARY"]
        return
    above = _HERE.parents[2]
    for folder in (_HERE, _HERE.parents[1] / "build", above, *sorted(above.glob("*-linux-gnu*"))):
        path = folder / "libsextant.so.0"
        if path.exists():
            yield str(path)
    yield "libsextant.so.0"


def _load() -> ctypes.CDLL:
    reason = ""
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as error:
            reason = str(error)
    else:
        raise LibraryError(f"cannot load libsextant: {reason}",
                           "install libsextant0, build the library (make build), or set SEXTANT_LIBRARY to its file")
    library.sx_version.restype = ctypes.c_char_p
    found = library.sx_version().decode()
    if found != VERSION:
        raise LibraryError(f"libsextant is version {found}, this package is {VERSION}",
                           "install both from the same release, or set SEXTANT_LIBRARY")
    for name, (result, parameters) in abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library


lib = _load()


def _decode(pointer: Optional[int]) -> Optional[str]:
    return ctypes.string_at(pointer).decode(errors="replace") if pointer else None


def check(status: Any) -> None:
    """Raises the exception of a status that is an error, and frees it."""
    if not status:
        return
    error = status.contents
    kind = BY_CODE[error.code] if error.code < len(BY_CODE) else BY_CODE[-1]
    exception = kind(_decode(error.message) or "unknown error", _decode(error.hint), _decode(error.file), error.line,
                     error.column)
    lib.sx_status_free(status)
    raise exception


def text_of(function: Callable[..., Any], *arguments: Any) -> str:
    """The text that a function writes to its last parameter."""
    out = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    try:
        return _decode(out.value) or ""
    finally:
        lib.sx_free(out)


def handle_of(function: Callable[..., Any], *arguments: Any) -> ctypes.c_void_p:
    """The object that a function makes in its last parameter."""
    out = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    return out


def names_of(entry: Callable[..., Any]) -> Iterator[Tuple[str, str]]:
    """The entries of a catalog: name and a line about it."""
    about = ctypes.c_char_p()
    index = 0
    while True:
        name = entry(index, ctypes.byref(about))
        if name is None:
            return
        yield name.decode(), (about.value or b"").decode()
        index += 1


class Guard:
    """Lets Python functions be called by a search: one that raises stops the search, and the exception is raised
    again when the search has ended."""

    def __init__(self) -> None:
        self.cancel = abi.sx_cancel()
        self.exception: Optional[BaseException] = None

    def stop(self) -> None:
        lib.sx_cancel_set(ctypes.byref(self.cancel))

    def fail(self, exception: BaseException) -> None:
        if self.exception is None:
            self.exception = exception
        self.stop()

    def run(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls a search on a thread of its own, so that Ctrl-C is noticed: it stops the search. Raises what a
        callback raised, or the search's own error."""
        answer = []
        thread = threading.Thread(target=lambda: answer.append(function(*arguments)))
        thread.start()
        while thread.is_alive():
            try:
                thread.join()
            except KeyboardInterrupt as interrupt:
                self.fail(interrupt)
        if self.exception is not None:
            if answer and answer[0]:
                lib.sx_status_free(answer[0])
            raise self.exception
        if not answer:
            raise LibraryError("the search ended without an answer")
        check(answer[0])
