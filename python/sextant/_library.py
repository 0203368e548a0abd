"""Finding the shared library, and calling it."""
from __future__ import annotations

import ctypes
import os
import pathlib
import threading
import warnings
from typing import Any, Callable, Iterator, Optional, Tuple

from . import _abi as abi
from .errors import BY_CODE, Interrupted, LibraryError

VERSION = f"{abi.SX_VERSION_MAJOR}.{abi.SX_VERSION_MINOR}.{abi.SX_VERSION_PATCH}{abi.SX_VERSION_SUFFIX}"

_HERE = pathlib.Path(__file__).resolve().parent


def _candidates() -> Iterator[str]:
    """Where the library may be: SEXTANT_LIBRARY, in the package, in the build tree, in the folder lib that the package is
    installed below, or where the loader looks."""
    if "SEXTANT_LIBRARY" in os.environ:
        yield os.environ["SEXTANT_LIBRARY"]
        return
    above = _HERE.parents[2]
    for folder in (_HERE, _HERE.parents[1] / "build", above, *sorted(above.glob("*-linux-gnu*"))):
        path = folder / "libsextant.so.1"
        if path.exists():
            yield str(path)
    yield "libsextant.so.1"


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
                           "install libsextant1, build the library (make build), or set SEXTANT_LIBRARY to its file")
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


def _decode(text: Any) -> Optional[str]:
    return text.decode(errors="replace") if text else None


def check(status: Any) -> None:
    """Raises the exception of a status that is an error, and frees it."""
    if not status:
        return
    code = lib.sx_status_code(status)
    kind = BY_CODE[code] if code < len(BY_CODE) else BY_CODE[-1]
    line, column = ctypes.c_int(), ctypes.c_int()
    file = _decode(lib.sx_status_place(status, ctypes.byref(line), ctypes.byref(column)))
    exception = kind(_decode(lib.sx_status_message(status)) or "unknown error", _decode(lib.sx_status_hint(status)), file,
                     line.value, column.value)
    lib.sx_status_free(status)
    raise exception


def text_of(function: Callable[..., Any], *arguments: Any) -> str:
    """The text that a function writes to its last parameter."""
    out = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    return taken(out)


def taken(text: ctypes.c_void_p) -> str:
    """A text that the library gave away, which is freed."""
    try:
        return ctypes.string_at(text.value).decode(errors="replace") if text.value else ""
    finally:
        lib.sx_free(text)


class Handle:
    """An object of the library, which is freed with the last reference; functions of the library take it as it is."""

    def __init__(self, free: Callable[..., Any], make: Callable[..., Any], *arguments: Any):
        self._free, self._as_parameter_ = free, ctypes.c_void_p()
        check(make(*arguments, ctypes.byref(self._as_parameter_)))

    @classmethod
    def of(cls, free: Callable[..., Any], pointer: ctypes.c_void_p) -> "Handle":
        """An object that the library has made already."""
        self = cls.__new__(cls)
        self._free, self._as_parameter_ = free, pointer
        return self

    def __del__(self) -> None:
        if getattr(self, "_as_parameter_", None):
            self._free(self._as_parameter_)


def names_of(which: int) -> Iterator[Tuple[str, str]]:
    """The entries of a list (SX_LIST_*): name and a line about it."""
    about = ctypes.c_char_p()
    index = 0
    while True:
        name = lib.sx_list_name(which, index, ctypes.byref(about))
        if name is None:
            return
        yield name.decode(), (about.value or b"").decode()
        index += 1


class Guard:
    """Lets Python functions be called by a search: one that raises stops the search, and the exception is raised
    again when the search has ended."""

    def __init__(self) -> None:
        self.cancel = Handle(lib.sx_cancel_free, lib.sx_cancel_new)
        self.exception: Optional[BaseException] = None
        self.stopped_by: Optional[str] = None

    def stop(self, by: str = "callback") -> None:
        self.stopped_by = self.stopped_by or by
        lib.sx_cancel_set(self.cancel)

    def fail(self, exception: BaseException) -> None:
        if self.exception is None:
            self.exception = exception
        self.stop()

    def run(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls a search on a thread of its own, so that Ctrl-C is noticed: the first stops the search, which then has the
        best so far, with a warning; the second is raised. Raises what a callback raised, or the search's own error."""
        answer, interrupted = [], False
        ended = threading.Event()

        def call() -> None:
            try:
                answer.append(function(*arguments))
            finally:
                ended.set()

        thread = threading.Thread(target=call)
        thread.start()
        while not ended.is_set():  # not by join, after whose interruption the thread counts as ended
            try:
                ended.wait()
            except KeyboardInterrupt as interrupt:
                if interrupted:
                    self.fail(interrupt)
                interrupted = True
                self.stop("interrupt")
        thread.join()
        if self.exception is not None:
            if answer and answer[0]:
                lib.sx_status_free(answer[0])
            raise self.exception
        if not answer:
            raise LibraryError("the search ended without an answer")
        check(answer[0])
        if interrupted:
            warnings.warn("the search was interrupted: this is the best so far", Interrupted, stacklevel=3)
