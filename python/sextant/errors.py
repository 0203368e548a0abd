"""What can go wrong, as exceptions with place and hint, and as warnings."""
from __future__ import annotations

from typing import Optional


class Error(Exception):
    """A failure of the library: `message`, and where they are known `file`, `line`, `column` and `hint`."""

    def __init__(self, message: str, hint: Optional[str] = None, file: Optional[str] = None, line: int = 0,
                 column: int = 0):
        place = f"{file}:{line}:{column}: " if file and line else f"{file}: " if file else ""
        super().__init__(f"{place}{message}" + (f"\n  hint: {hint}" if hint else ""))
        self.message, self.hint, self.file, self.line, self.column = message, hint, file, line, column


class InputError(Error, ValueError):
    """The text of a problem, an architecture, a mapping or a result is wrong."""


class UsageError(Error, ValueError):
    """The call is wrong."""


class FileError(Error):
    """The operating system refused a file, or a database is in use."""


class LimitError(Error):
    """A documented limit is exceeded."""


class WriteError(Error):
    """What was found could not be written."""


class OutOfMemory(Error, MemoryError):
    """Memory is out."""


class InternalError(Error):
    """A promise of the library is broken."""


class ProgramError(Error):
    """A program outside cannot be run, or fails."""


class LibraryError(Error, ImportError):
    """The shared library is missing, or is not of this package's version."""


class InputWarning(UserWarning):
    """Something in a file may make an answer another one than was meant."""


class Interrupted(UserWarning):
    """Ctrl-C ended a search, whose answer is the best so far."""


# In the order of sx_code, and what JSON calls them.
NAMES = ("input", "usage", "file", "limit", "write", "memory", "internal", "program")
BY_CODE = (InputError, UsageError, FileError, LimitError, WriteError, OutOfMemory, InternalError, ProgramError)
