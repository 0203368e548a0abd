#!/usr/bin/env python3
"""Tests of tools/mutate: what counts as a mutant, what is run for it, and what is read of an earlier run."""
import tempfile
import threading
import unittest
from pathlib import Path
from types import SimpleNamespace

from changes import changes_of
from run import ADDRESS, Compiler, Mutant, Trial, survivors_of

SOURCE = """#include <stdlib.h>
int sum_of(const int *x, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}
int least_of(int x, int y) {
    int least = 0;
    least = x < y ? x : y;
    return least;
}
"""


class MakesMutants(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.folder = Path(self.held.name)
        (self.folder / "a.c").write_text(SOURCE)
        self.compiler = Compiler.__new__(Compiler)
        self.compiler.folder, self.compiler.commands = self.folder, {"a.c": ["gcc", "-O1", "-fPIC"]}
        self.compiler.dependents, self.compiler.users, self.compiler.original = {}, {}, {}

    def tearDown(self):
        self.held.cleanup()

    def mutant(self, after):
        found = [Mutant("a.c", SOURCE, change, 0, 0) for change in changes_of(SOURCE)]
        return next(m for m in found if m.after == after)

    def test_a_mutant_of_the_same_code_in_a_release_build_is_none(self):
        equal = self.mutant("int least = 1;")
        self.assertTrue(self.compiler.is_same_released(equal))
        beyond = self.mutant("for (int i = 0; i <= n; i++) sum += x[i];")
        self.assertFalse(self.compiler.is_same_released(beyond))

    def test_accesses_are_checked_where_asked_for(self):
        beyond = self.mutant("for (int i = 0; i <= n; i++) sum += x[i];")
        self.assertTrue(self.compiler.make(beyond))
        self.assertNotIn(b"__asan_report", (self.folder / "libmutant.so").read_bytes())
        self.assertTrue(self.compiler.make(beyond, ADDRESS))
        self.assertIn(b"__asan_report", (self.folder / "libmutant.so").read_bytes())


class ListsChanges(unittest.TestCase):
    def changed(self, body):
        source = "int f(int *x, int n) {\n" + body + "\n}\n"
        return [source[: c.start] + c.text + source[c.end :] for c in changes_of(source)]

    def test_nothing_is_changed_where_memory_is_out(self):
        self.assertEqual(self.changed("if (!x) return sx_arena_error(n);"), [])
        self.assertEqual(self.changed("return sx_error_memory();"), [])
        self.assertEqual(self.changed("if (!x) x = sx_error_memory();"), [])
        self.assertNotEqual(self.changed("if (!x) return sx_error_new(n);"), [])

    def test_arguments_are_swapped_where_it_matters(self):
        self.assertFalse(any("sx_larger(n, x)" in text for text in self.changed("g = sx_larger(x, n);")))
        self.assertTrue(any("h(n, x)" in text for text in self.changed("g = h(x, n);")))


class RunsTests(unittest.TestCase):
    def trial(self, failing):
        trial = Trial.__new__(Trial)
        trial.over, self.ran = False, []

        def run(name, _compiler, more):
            self.ran.append(name)
            return name == failing and not more, 4.0

        trial.run = run
        return trial

    def test_ends_with_the_first_that_fails(self):
        self.assertEqual(self.trial("b").first_failing(["a", "b", "c"], None, 30), ("b", 2))
        self.assertEqual(self.ran, ["a", "b"])

    def test_waits_without_a_limit_of_time(self):
        trial = self.trial("")
        trial.end = float("inf")
        self.assertTrue(1e6 < trial.seconds_left() < threading.TIMEOUT_MAX)

    def test_says_that_not_all_were_run(self):
        self.assertEqual(self.trial("d").first_failing(["a", "b", "c", "d"], None, 7), ("", 2))
        self.assertEqual(self.trial("").first_failing(["a", "b"], None, 30), ("", 2))

    def test_accesses_are_checked_of_survivors_with_unit_and_property_tests(self):
        made = []
        trial = self.trial("")
        trial.options = SimpleNamespace(limit=9)
        trial.is_left_out, trial.tests_of = lambda _: False, lambda _: ["unit/a", "cli/b", "property/c", "unit/d"]
        trial.free = [SimpleNamespace(make=lambda _, more=(): made.append(more) or True, is_same_released=lambda _: False)]
        self.assertEqual(trial.try_one(None), ("", "3 of 4 tests, limit reached"))
        self.assertEqual(made, [(), ADDRESS])
        self.assertEqual(self.ran, ["unit/a", "cli/b", "property/c", "unit/a", "property/c"])


class ReadsEarlierRuns(unittest.TestCase):
    def test_survivors(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("killed by unit/a: src/a.c:1: guard dropped: if (x) return; => ;\n"
                       "SURVIVED 3 of 4 tests, limit reached: src/b/c.c:12: operator changed: x ? a : b => y ? a : b\n")
            file.flush()
            self.assertEqual(survivors_of(file.name), {"src/b/c.c | x ? a : b | y ? a : b"})


if __name__ == "__main__":
    unittest.main()
