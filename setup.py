"""Packs the Python package, with the shared library of the build tree where there is one; otherwise the system's is used.

Nothing is compiled and nothing is needed but setuptools: pip install --no-build-isolation .
"""
import pathlib
import re
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

TOP = pathlib.Path(__file__).resolve().parent
LIBRARY = TOP / "build" / "libsextant.so.1"
PROGRAM = TOP / "build" / "sextant"


def version():
    """The version that the C headers say."""
    text = (TOP / "include/sextant/version.h").read_text()
    return ".".join(re.findall(r"^#define SX_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text, re.M))


class BuildWithLibrary(build_py):
    """Copies the shared library and the program into the package."""

    def run(self):
        super().run()
        if LIBRARY.exists():
            for path in (LIBRARY, PROGRAM):
                shutil.copy(path, pathlib.Path(self.build_lib) / "sextant" / path.name)


class Binary(Distribution):
    """A distribution for one kind of machine where it holds the library."""

    def has_ext_modules(self):
        return LIBRARY.exists()


setup(version=version(), cmdclass={"build_py": BuildWithLibrary}, distclass=Binary)
