"""Packs the Python package, with the shared library of the build tree where there is one; otherwise the system's is used.

Nothing is compiled and nothing is needed but setuptools: pip install --no-build-isolation .
"""
import os
import pathlib
import re
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

TOP = pathlib.Path(__file__).resolve().parent
BUILD = TOP / os.environ.get("SEXTANT_BUILD", "build")
LIBRARY = BUILD / "libsextant.so.1"
PROGRAM = BUILD / "sextant"
INSIDE = os.environ.get("SEXTANT_INSIDE", "").split()  # libraries that go into the package with them, by tools/wheel


def version():
    """The version that the C headers say."""
    text = (TOP / "include/sextant/version.h").read_text()
    suffix = re.search(r'^#define SX_VERSION_SUFFIX "(.*)"', text, re.M).group(1)
    numbers = re.findall(r"^#define SX_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text, re.M)
    return ".".join(numbers) + suffix.replace("-dev", ".dev0")


class BuildWithLibrary(build_py):
    """Copies the shared library and the program into the package."""

    def run(self):
        super().run()
        if LIBRARY.exists():
            for path in (LIBRARY, PROGRAM, *map(pathlib.Path, INSIDE)):
                shutil.copy(path, pathlib.Path(self.build_lib) / "sextant" / path.name)


class Binary(Distribution):
    """A distribution for one kind of machine where it holds the library."""

    def has_ext_modules(self):
        return LIBRARY.exists()


def commands():
    """The commands; a wheel holds the library but no module of Python's ABI, so that it serves every Python 3."""
    found = {"build_py": BuildWithLibrary}
    try:
        from wheel.bdist_wheel import bdist_wheel
    except ImportError:
        return found

    class AnyPython(bdist_wheel):
        def get_tag(self):
            return ("py3", "none", super().get_tag()[2])

    return {**found, "bdist_wheel": AnyPython}


setup(version=version(), cmdclass=commands(), distclass=Binary)
