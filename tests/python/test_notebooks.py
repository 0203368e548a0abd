"""The notebooks of examples/notebooks run from top to bottom, and what they end cells with shows itself."""
import ast
import contextlib
import io
import json
import pathlib
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def run_cell(source, name, space):
    """Runs a cell and returns the value of its last expression, None where it ends with a statement."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)
    return eval(compile(ast.Expression(last.value), name, "eval"), space) if last else None


class Notebooks(unittest.TestCase):
    def test_all_run(self):
        notebooks = sorted((TOP / "examples/notebooks").glob("*.ipynb"))
        self.assertEqual(len(notebooks), 6)
        for path in notebooks:
            cells = json.loads(path.read_text())["cells"]
            self.assertEqual(cells[0]["cell_type"], "markdown")
            space = {"__name__": path.stem}
            for number, cell in enumerate(cells):
                if cell["cell_type"] != "code":
                    continue
                with self.subTest(notebook=path.name, cell=number), contextlib.redirect_stdout(io.StringIO()):
                    shown = run_cell("".join(cell["source"]), f"{path.name}, cell {number}", space)
                    if hasattr(shown, "_repr_html_"):
                        self.assertTrue(shown._repr_html_().startswith("<"))


if __name__ == "__main__":
    unittest.main()
