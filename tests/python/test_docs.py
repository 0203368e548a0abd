"""The Python code of docs/python.md runs and prints what its comments say, a task in at most ten lines; so does the tour."""
import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def run(code, folder):
    """What code prints, run in a folder from which examples/ is seen."""
    here, out = os.getcwd(), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(code, "docs/python.md", "exec"), {"__name__": "docs"})
    finally:
        os.chdir(here)
    return out.getvalue().splitlines()


class Docs(unittest.TestCase):
    def test_tasks(self):
        blocks = re.findall(r"^```python\n(.*?)^```", (TOP / "docs/python.md").read_text(), re.M | re.S)
        self.assertEqual(len(blocks), 3)
        for block in blocks:
            self.assertLessEqual(len(block.splitlines()), 10)
            expected = [line for said in re.findall(r"  # (.*)", block) for line in said.split(" | ")]
            self.assertTrue(expected)
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(TOP / "examples", os.path.join(folder, "examples"))
                self.assertEqual(run(block, folder), expected)

    def test_tour(self):
        with tempfile.TemporaryDirectory() as folder:
            said = run((TOP / "examples/python/tour.py").read_text(), folder)
        self.assertIn("stopped by callback: True", said)


if __name__ == "__main__":
    unittest.main()
