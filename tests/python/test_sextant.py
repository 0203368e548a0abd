"""The Python package: what it finds and costs, callbacks, errors, files."""
import contextlib
import dataclasses
import io
import json
import math
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import sextant
from sextant import _abi as abi
from sextant._library import check, lib

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = TOP / "examples"
EINSUM = "O[m,n] += A[m,k]*B[k,n] {m:64,n:48,k:32}"

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None


class Nouns(unittest.TestCase):
    def test_a_variable_that_no_problem_uses_is_an_error(self):
        text = ("problem: {shape: {name: p, dimensions: [M], data_spaces: [{name: A, projection: [M]}, "
                "{name: Z, projection: [M], read_write: true}]}, instance: {M: 2 * n}}")
        self.assertEqual(sextant.Problem.from_text(text, variables={"n": 4}).dims, {"M": 8})
        for make in (lambda: sextant.Problem.from_text(text, variables={"n": 4, "m": 5}),
                     lambda: sextant.Problem("fc", variables={"m": 5})):
            with self.assertRaisesRegex(sextant.UsageError, "'m' is set to '5', but nothing uses it"):
                make()

    def test_a_variable_that_no_architecture_uses_is_an_error(self):
        text = ("architecture: {version: 0.4, nodes: [!Component {name: M, class: SRAM, attributes: {depth: 8 * n, width: 8, "
                "datawidth: 8}, constraints: {temporal: {factors: [('k=' + str(limit))]}}}, "
                "!Component {name: mac, class: intmac, attributes: {datawidth: 8}}]}")
        arch = sextant.Arch.from_text(text, variables={"n": 4, "limit": 2})
        self.assertEqual(arch.levels, ["M"])
        for make in (lambda: sextant.Arch.from_text(text, variables={"n": 4, "limit": 2, "m": 5}),
                     lambda: sextant.Arch.from_text(text, variables={"n": 4, "limit": 2, "m": 5, "lim": 1}),
                     lambda: sextant.Arch("eyeriss", variables={"m": 5})):
            with self.assertRaisesRegex(sextant.UsageError, "'m' is set to '5', but nothing uses it"):
                make()

    def test_like_timeloop(self):
        cases = TOP / "tests/cli/cases"
        problem = sextant.Problem(EINSUM, like="timeloop")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            plain = sextant.Arch(cases / "like-hyphens/arch.yaml")
            like = sextant.Arch(cases / "like-hyphens/arch.yaml", like="timeloop")
        self.assertIn("is written with hyphens and ignored, as by Timeloop", str(seen[-1].message))
        self.assertNotEqual(plain.to_yaml(), like.to_yaml())
        found = sextant.map(problem, like, mapper="random", evals=10)
        self.assertEqual(found.raw["repeat"]["like"], "timeloop")
        self.assertNotIn("like", sextant.map(problem, plain, mapper="random", evals=10).raw["repeat"])
        with self.assertRaisesRegex(ValueError, "like is 'timeloop' or None, not 'zigzag'"):
            sextant.Arch(cases / "like-hyphens/arch.yaml", like="zigzag")

    def test_semantics_of_zeros_are_those_of_the_program(self):
        einsum, sparse = "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:8,n:8,k:8}", sextant.Arch("accel-b-sparse")
        problem = sextant.Problem.from_text(sextant.Problem(einsum).to_yaml().replace(
            "instance:", "instance:\n    densities: {Inputs: 0.5}", 1))
        energies = {}
        for options in ({}, {"sparse_semantics": "exact"}, {"sparse_semantics": "timeloop"}, {"like": "timeloop"}):
            found = sextant.map(problem, sparse, mapper="random", evals=50, **options)
            self.assertEqual(found.layers[0].cost().energy_pj, found.energy_pj)
            energies[str(options)] = found.energy_pj
        exact, exactly, timeloop, like = energies.values()
        self.assertEqual([exact, like], [exactly, timeloop])
        self.assertNotEqual(exact, timeloop)

    def test_problem_by_text_name_layer_and_file(self):
        problem = sextant.Problem(EINSUM)
        self.assertEqual(problem.dims, {"m": 64, "n": 48, "k": 32})
        self.assertEqual(set(problem.tensors), {"O", "A", "B"})
        self.assertEqual(problem.computes, 64 * 48 * 32)
        self.assertEqual(sextant.Problem(problem.einsum).dims, problem.dims)
        self.assertEqual(sextant.Problem("resnet-conv4").dims["C"], 256)
        self.assertEqual(sextant.Problem("resnet18/conv1").dims["R"], 7)
        self.assertEqual(sextant.Problem(EXAMPLES / "problems/matmul.yaml").name, "matmul")
        self.assertEqual(sextant.Problem.from_text(problem.to_yaml()), problem)

    def test_arch_by_name_and_files(self):
        arch = sextant.Arch("eyeriss")
        self.assertIn("DRAM", arch.levels)
        self.assertEqual(sextant.Arch.from_text(arch.to_yaml()).levels, arch.levels)
        grid = sextant.Arch([EXAMPLES / "archs/grid.yaml", EXAMPLES / "archs/grid.ert.yaml"])
        self.assertIn("grid.ert.yaml", grid.energies)

    def test_warnings(self):
        tree = TOP / "tests/cli/cases/map-constraints-of-targets/tree.yaml"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            arch, problem = sextant.Arch(tree), sextant.Problem("alexnet/conv1")
        with self.assertWarnsRegex(sextant.InputWarning, r"tree\.yaml:29:69: .* C=4 .* exceeds the size 3") as caught:
            arch.constraints(problem)
        self.assertEqual((len(caught.warnings), caught.filename), (1, __file__))

    def test_misspelt_keys(self):
        file = TOP / "tests/cli/cases/key-misspelt/arch.yaml"
        with self.assertRaisesRegex(sextant.InputError, "read_bw.*\n.*read_bandwidth"):
            sextant.Arch(file)
        with self.assertWarns(sextant.InputWarning) as caught:
            sextant.Arch(file, lenient=True)
        self.assertEqual(["read_bw" in str(w.message) for w in caught.warnings], [True, False])

    def test_networks(self):
        network = sextant.Network("resnet18")
        self.assertEqual(len(network), len(network.layers))
        self.assertIn("conv1", network.layers)
        own = sextant.Network([(sextant.Problem(EINSUM), 3)])
        self.assertEqual([count for _, count in own.layers.values()], [3])
        with self.assertRaisesRegex(sextant.InputError, "no layer 'conv01'.*\n.*conv1"):
            sextant.Problem("resnet18/conv01")

    def test_names_as_on_the_command_line(self):
        self.assertEqual(sextant.Problem("8x4x2").dims, {"i": 8, "j": 4, "k": 2})
        self.assertEqual(len(sextant.Network("llama-3-8b", phase="decode", context=64)),
                         len(sextant.Network("llama-3-8b", phase="prefill")))
        folder = sextant.Network(TOP / "examples/problems")
        self.assertGreater(len(folder), 1)
        for wrong, said in (("resnet18", "names 21 layers"), ("resnt18/conv1", "did you mean 'resnet18/conv1'")):
            with self.assertRaisesRegex(sextant.Error, said):
                sextant.Problem(wrong)
        with self.assertRaisesRegex(sextant.UsageError, "did you mean --batch"):
            sextant.Network("resnet18", batchh=2)

    def test_energies_beside_an_architecture(self):
        arch = sextant.Arch(TOP / "examples/archs/grid.yaml")
        self.assertIn("grid.ert.yaml", arch.energies)
        both = sextant.Arch([TOP / "examples/archs/grid.yaml", TOP / "examples/archs/grid.ert.yaml"])
        self.assertEqual(arch.to_yaml(), both.to_yaml())

    def test_catalogs(self):
        for catalog in (sextant.archs, sextant.problems, sextant.networks, sextant.objectives, sextant.mappers):
            self.assertTrue(all(name and about for name, about in catalog()))
        self.assertIn("optimal", dict(sextant.mappers()))
        self.assertRegex(sextant.__version__, r"^\d+\.\d+\.\d+(-dev)?$")

    def test_mapping_reads_back(self):
        problem, arch = sextant.Problem("resnet-conv4"), sextant.Arch("accel-a")
        mapping = sextant.Mapping(EXAMPLES / "mappings/resnet-conv4.accel-a.yaml", problem, arch)
        again = sextant.Mapping.from_text(mapping.to_yaml(), problem, arch)
        self.assertEqual(mapping, again)
        factors = {}
        for loop in mapping.loops:
            factors[loop.dim] = factors.get(loop.dim, 1) * loop.factor
        self.assertEqual(factors, {d: n for d, n in problem.dims.items() if n > 1})
        self.assertIn("par-for", str(mapping))
        self.assertIn("mapping", mapping.to_dict())

    def test_mapping_is_printed_as_the_program_prints_it(self):
        program = os.environ.get("SEXTANT_PROGRAM")
        if not program:
            self.skipTest("SEXTANT_PROGRAM is not set")
        mapping = sextant.map("13x254x7", "glb128", evals=1000, seed=1).mapping
        rounds = [loop for loop in mapping.loops if loop.last != loop.factor]
        self.assertTrue(rounds and all(0 < loop.last < loop.factor for loop in rounds))
        sizes = {}
        for loop in mapping.loops:
            sizes[loop.dim] = (sizes.get(loop.dim, 1) - 1) * loop.factor + loop.last
        self.assertEqual(sizes, mapping.problem.dims)
        self.assertEqual(list(mapping.keeps), ["DRAM", "GLB", "RF"])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "map.yaml"
            mapping.save(file)
            said = subprocess.run([program, "eval", "-p", "13x254x7", "-a", "glb128", "-m", str(file)],
                                  capture_output=True, text=True, check=True).stdout
        self.assertIn("\n".join(f"  {line}" for line in str(mapping).splitlines()) + "\n  MAC\n", said)


class Evaluating(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.problem, cls.arch = sextant.Problem("resnet-conv4"), sextant.Arch("accel-a")
        cls.model = sextant.Model(cls.problem, cls.arch)
        cls.space = sextant.Space(cls.model)

    def test_cost_level_by_level(self):
        mapping = sextant.Mapping(EXAMPLES / "mappings/resnet-conv4.accel-a.yaml", self.problem, self.arch)
        cost = sextant.evaluate(self.problem, self.arch, mapping)
        self.assertTrue(cost.legal and cost)
        self.assertEqual(cost.cycles, 7225344)
        total = sum(level.energy_pj for level in cost.levels) + sum(n.energy_pj for n in cost.networks)
        self.assertAlmostEqual((total + cost.compute_energy_pj) / cost.energy_pj, 1, places=9)
        self.assertIn("total_reads", cost.levels[0].tensors[0].more)
        self.assertIn("</svg>", cost.plot().svg)

    def test_illegal_mapping_says_why(self):
        mapping = sextant.Mapping.outermost(self.problem, self.arch)
        check(lib.sx_mapping_set_factor(mapping._c, 0, abi.SX_LOOPS_TEMPORAL, 0, 1000))
        cost = self.model.evaluate(mapping)
        self.assertFalse(cost)
        self.assertIn("R", cost.reason)
        self.assertTrue(math.isinf(cost.edp))

    def test_batch_equals_single(self):
        mappings = self.space.sample(200, seed=3)
        scores = self.model.evaluate_batch(mappings, threads=2)
        self.assertEqual((len(mappings), len(scores)), (200, 200))
        for i in (0, 17, 199):
            cost = self.model.evaluate(mappings[i])
            self.assertEqual((scores[i].energy_pj, scores[i].cycles), (cost.energy_pj, cost.cycles))
            self.assertIsNone(scores.reason(i))
        listed = sextant.evaluate(self.problem, self.arch, list(mappings)[:5])
        self.assertEqual([listed[i] for i in range(5)], [scores[i] for i in range(5)])
        self.assertEqual(mappings[-1], mappings[199])
        with self.assertRaises(IndexError):
            mappings[200]

    @unittest.skipUnless(numpy, "there is no numpy")
    def test_arrays(self):
        parts = self.space.sample(40000, seed=5)  # more than one call of the library draws
        self.assertEqual([parts[i] for i in (0, 16384, 39999)], [self.space.sample(1, seed=5, first=i)[0] for i in (0, 16384, 39999)])
        mappings = self.space.sample(100)
        scores = self.model.evaluate_batch(mappings)
        self.assertEqual(scores.edp.shape, (100,))
        self.assertTrue(scores.legal.all())
        temporal, spatial = mappings.array["level"]["temporal"], mappings.array["level"]["spatial"]
        product = (temporal.prod(axis=1, dtype="u8") * spatial.prod(axis=1, dtype="u8"))[:, :len(self.problem.dims)]
        self.assertTrue((product == list(self.problem.dims.values())).all())
        mappings.array["level"]["temporal"][7, 0, 0] += 1  # a view: the mapping itself changes
        scores = self.model.evaluate_batch(mappings)
        self.assertEqual(list(numpy.flatnonzero(~scores.legal)), [7])
        self.assertTrue(scores.reason(7))

    def test_wrong_types(self):
        for call in (lambda: sextant.Problem(7), lambda: sextant.Arch(None), lambda: sextant.Network(3.5),
                     lambda: sextant.Model("resnet-conv4", self.arch), lambda: self.model.evaluate("map.yaml"),
                     lambda: sextant.Space(self.problem), lambda: self.space.sample("many"),
                     lambda: self.space.search(objective=7), lambda: self.space.search(callback=3),
                     lambda: self.space.search(cost="energy"), lambda: sextant.map(EINSUM, 7),
                     lambda: self.model.evaluate_batch([]), lambda: sextant.Network([])):
            with self.assertRaises(TypeError):
                call()
        other = sextant.Space(sextant.Model(self.problem, sextant.Arch("eyeriss"))).sample(2)
        with self.assertRaisesRegex(ValueError, "accel-a"):
            self.model.evaluate_batch(other)

    @unittest.skipUnless(pandas, "there is no pandas")
    def test_frames(self):
        result = sextant.map(EINSUM, "accel-b", mapper="random", evals=50)
        self.assertEqual(len(result.frame()), 1)
        self.assertIn("tensor", result.layers[0].cost().frame())
        self.assertEqual(len(self.model.evaluate_batch(self.space.sample(9)).frame()), 9)


class Searching(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = sextant.Model(sextant.Problem(EINSUM), sextant.Arch("accel-b"))
        cls.space = sextant.Space(cls.model)

    def test_search_repeats_and_keeps_its_promises(self):
        first = self.space.search(mapper="gamma", evals=2000, seed=4, threads=1, k_best=3)
        second = self.space.search(mapper="gamma", evals=2000, seed=4, threads=2, k_best=3)
        self.assertEqual(first.best.mapping, second.best.mapping)
        self.assertEqual(first.evaluations, 2000)
        self.assertEqual(len(first.all), 3)
        self.assertEqual(self.model.evaluate(first.best.mapping).edp, first.best.value)
        self.assertEqual(first.trace[-1][2], first.best.value)
        self.assertEqual(self.space.legal(first.best.mapping), (True, None))
        self.assertIn("gamma", first.plot().svg)
        warm = self.space.search(mapper="random", evals=1, starts=[first.best.mapping])
        self.assertEqual(warm.best.value, first.best.value)

    def test_proof(self):
        result = self.space.search(mapper="optimal")
        self.assertTrue(result.optimal)
        self.assertEqual(result.lower_bound, result.best.value)

    def test_own_objective_and_own_cost_agree(self):
        objective = self.space.search(mapper="random", evals=300, objective=lambda s: s.cycles ** 2 * s.energy_pj)
        cost = self.space.search(mapper="random", evals=300, cost=lambda m, s: s.cycles ** 2 * s.energy_pj)
        both = self.space.search(mapper="random", evals=300, vectorized=True,
                                 cost=lambda m, s: [c * c * e for c, e in zip(s.cycles, s.energy_pj)])
        known = self.space.search(mapper="random", evals=300, objective="ed2p")
        for result in (objective, cost, both):
            self.assertEqual(result.best.mapping, known.best.mapping)
            self.assertEqual(result.best.score, known.best.score)

    def test_cost_may_look_at_loops_and_refuse(self):
        def cost(mapping, score):
            outer = [loop.dim for loop in mapping.loops if loop.level == "DRAM"]
            return None if "k" in outer else score.energy_pj

        result = self.space.search(mapper="genetic", evals=600, cost=cost)
        self.assertTrue(all(loop.dim != "k" for loop in result.best.mapping.loops if loop.level == "DRAM"))
        self.assertLess(result.valid, result.evaluations)

    def test_a_callback_that_raises_stops_the_search(self):
        class Mine(Exception):
            pass

        def fail(*_):
            raise Mine("enough")

        for options in ({"cost": fail}, {"objective": fail}, {"cost": fail, "vectorized": True}):
            with self.assertRaisesRegex(Mine, "enough"):
                self.space.search(mapper="random", evals=10 ** 9, **options)
        for call in (lambda: self.space.search(mapper="random", evals=10 ** 9, callback=fail),
                     lambda: sextant.map(EINSUM, "accel-b", mapper="random", evals=10 ** 9, callback=fail)):
            with self.assertRaisesRegex(Mine, "enough"):
                call()
        with self.assertRaisesRegex(ValueError, "2 values for"):
            self.space.search(mapper="random", evals=100, cost=lambda m, s: [1, 2], vectorized=True)

    def test_a_callback_sees_progress_and_stops(self):
        seen = []

        def watch(progress):
            seen.append(progress)
            return False if len(seen) == 2 else None

        result = self.space.search(mapper="random", evals=10 ** 9, callback=watch)
        self.assertEqual(result.stop, "callback")
        self.assertEqual(len(seen), 2)
        self.assertGreater(seen[1].evaluations, seen[0].evaluations)
        self.assertIsNotNone(result.best)

    def test_interrupt_gives_the_best_so_far(self):
        code = ("import sextant, signal, os, sys, threading, warnings\n"
                "for wait in map(float, sys.argv[2:]):\n"
                "    threading.Timer(wait, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                "warnings.simplefilter(sys.argv[1], sextant.Interrupted)\n"
                f"try: print(sextant.map('{EINSUM}', 'accel-b', mapper='random', evals=10**9).found)\n"
                "except sextant.Interrupted as warning: print('interrupted')\n")
        for action, said in (("always", "True"), ("error", "interrupted")):
            done = subprocess.run([sys.executable, "-c", code, action, "0.3"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout.strip(), said, done.stderr)
            self.assertEqual("best so far" in done.stderr, action == "always")

    def test_figures_by_matplotlib(self):
        result = self.space.search(mapper="random", evals=300, pareto=True)
        self.assertIn("front by random", result._repr_html_())
        axes = mock.MagicMock()
        figure = result.plot("a front")
        self.assertIs(figure.matplotlib(axes), axes)
        _, x, y = figure.drawn.series[0]
        axes.plot.assert_called_once_with(x, y, "o", label="front")
        axes.set.assert_called_once_with(title="a front", xlabel="energy (pJ)", ylabel="cycles")
        self.space.search(mapper="random", evals=300).plot().matplotlib(axes)
        axes.set_yscale.assert_called_with("log")
        self.assertTrue(axes.step.called)
        with self.assertRaisesRegex(ValueError, "several parts"):
            sextant.map("8x8x8", "accel-a").plot().matplotlib(axes)

    def test_bar(self):
        from sextant import progress
        seen = sextant.Progress(1200, 5000, 2.0, 1.5e6, 1e6, "conv1")
        self.assertEqual(progress.text_of(seen), "conv1: best 1.5e+06 gap 50 %")
        own, said = [], io.StringIO()
        with contextlib.redirect_stderr(said), mock.patch.dict(sys.modules, {"tqdm.auto": None}):
            with progress.Bar(own.append) as bar:
                bar(dataclasses.replace(seen, seconds=0.5))
                self.assertEqual(said.getvalue(), "")
                bar(seen)
        self.assertIn("2 s, 1,200 evaluations, conv1", said.getvalue())
        self.assertTrue(said.getvalue().endswith(" \r"))
        self.assertEqual(len(own), 2)
        tqdm = mock.MagicMock()
        with mock.patch.dict(sys.modules, {"tqdm.auto": tqdm}), progress.Bar() as bar:
            bar(seen)
        tqdm.tqdm.assert_called_once_with(total=5000, unit=" evaluations", unit_scale=True, leave=False)
        tqdm.tqdm.return_value.close.assert_called_once_with()
        self.assertEqual([progress.wanted(p) for p in (True, False)], [True, False])


class Latency(unittest.TestCase):
    GEMM = "16x16x32"

    def test_every_way_to_a_latency_gives_the_same(self):
        result = sextant.map(self.GEMM, "gemmini", mapper="optimal", objective="latency,energy", latency="tile")
        self.assertTrue(result.optimal)
        self.assertNotEqual(result.latency, result.cycles)
        self.assertEqual(result.total["latency"], result.latency)
        cost = result.layers[0].cost()
        self.assertEqual(cost.latency, result.latency)
        self.assertEqual(len(cost.boundaries), 1)
        problem, arch = sextant.Problem(self.GEMM), sextant.Arch("gemmini")
        found = sextant.search(problem, arch, mapper="optimal", objective="latency,energy", latency="tile")
        self.assertEqual(found.best.score.latency, result.latency)
        scores = sextant.evaluate(problem, arch, [result.mapping], latency="tile")
        self.assertEqual(scores[0].latency, result.latency)
        self.assertEqual(sextant.evaluate(problem, arch, [result.mapping])[0].latency, result.cycles)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            result.save(path)
            self.assertEqual(sextant.MapResult.load(path).layers[0].cost().latency, result.latency)

    def test_commands_know_it(self):
        common = {"problem": self.GEMM, "arch": sextant.Arch("gemmini"), "latency": "tile"}
        best = sextant.map(self.GEMM, "gemmini", mapper="optimal", objective="latency,energy", latency="tile")
        compared = sextant.compare(mapper="optimal", objective="latency,energy", seeds=1, **common)
        self.assertEqual([row["best"]["latency"] for row in compared["rows"]], [best.latency])
        self.assertEqual(sextant.eval(mapping=best.mapping, **common)["latency"], best.latency)
        self.assertTrue(sextant.space(**common)["complete"])
        designs = sextant.codesign(choose="Scratchpad=131072,262144", objective="latency", evals=50, **common)
        self.assertEqual(designs["best"]["total"]["latency"], best.latency)

    def test_what_does_not_suit_is_refused(self):
        with self.assertRaisesRegex(sextant.UsageError, "needs --latency tile"):
            sextant.map(self.GEMM, "gemmini", objective="latency")
        with self.assertRaisesRegex(sextant.InputError, "no level of 'eyeriss' has a map of `latency` keys"):
            sextant.Model(sextant.Problem(EINSUM), sextant.Arch("eyeriss"), latency="tile")
        with self.assertRaisesRegex(sextant.UsageError, "'late' is not a valid value|late"):
            sextant.map(self.GEMM, "gemmini", latency="late")


class NothingIsDropped(unittest.TestCase):
    def test_options_that_have_no_effect_are_refused(self):
        for options in ({"exchange": "GLB"}, {"orders": 2}, {"row_loops": 2}, {"window": "retain"}, {"k_best": 0}):
            with self.assertRaisesRegex(ValueError, next(iter(options))):
                sextant.map(EINSUM, "glb128", mapper="random", evals=5, **options)
        with self.assertRaisesRegex(sextant.UsageError, "no setting 'gap'"):
            sextant.map(EINSUM, "glb128", mapper="random", gap=0.1)
        with self.assertRaisesRegex(sextant.UsageError, "--fuse cannot be used with --pareto"):
            files = pathlib.Path(__file__).resolve().parents[2] / "tests/cli/files/fused"
            sextant.map(str(files / "two.yaml"), str(files / "two.arch.yaml"), fuse=True, pareto=True)

    def test_a_dimension_without_tensors_is_a_warning(self):
        with self.assertWarnsRegex(sextant.InputWarning, "'q' .* is in no tensor"):
            sextant.map("Z[m] += A[m] {m:8,q:4}", "accel-b", mapper="random", evals=5)


class Estimates(unittest.TestCase):
    def test_estimators_give_their_energies(self):
        own, by = sextant.Arch("accel-b"), sextant.Arch("accel-b", estimator="accelergy-0.3")
        self.assertEqual(by.energies, "estimate (accelergy-0.3)")
        printed = sextant.estimate("accel-b", estimator="accelergy-0.3").raw
        added = {"complete": True, "interrupted": False, "warnings": []}
        self.assertEqual({**by.estimates(), **added}, printed)
        self.assertEqual(own.estimates()["estimator"], "timeloop")
        self.assertIn("ERT", by.tables())
        energies = [sextant.map(EINSUM, arch, evals=50, mapper="random").energy_pj for arch in (own, by)]
        self.assertNotEqual(*energies)
        self.assertEqual(sextant.map(EINSUM, "accel-b", evals=50, mapper="random", estimator="accelergy-0.3").energy_pj,
                         energies[1])
        with self.assertRaisesRegex(sextant.UsageError, "accelergy-0.5"):
            sextant.Arch("accel-b", estimator="accelergy-0.5")
        with self.assertRaisesRegex(ValueError, "estimator"):
            sextant.map(EINSUM, own, estimator="published")


class Fused(unittest.TestCase):
    def test_a_fused_network_has_a_certificate(self):
        files = pathlib.Path(__file__).resolve().parents[2] / "tests/cli/files"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "proof.json"
            with self.assertWarnsRegex(sextant.InputWarning, "tiles that leave remainders are not searched"):
                result = sextant.map(str(files / "block.graph.yaml"), "glb128", objective="energy", fuse=True, certificate=path)
            self.assertEqual(json.loads(path.read_text())["fused_certificate"]["value"], result.fused["energy_pj"])
            self.assertEqual(sextant.verify(str(path)).exit_code, 0)
        with self.assertRaisesRegex(ValueError, "certificate is of map with fuse"):
            sextant.map("alexnet", "glb128", certificate="proof.json")

    def test_map_fuses_a_network(self):
        files = pathlib.Path(__file__).resolve().parents[2] / "tests/cli/files/fused"
        result = sextant.map(str(files / "two.yaml"), str(files / "two.arch.yaml"), mapper="optimal", objective="energy",
                             fuse=True, k_best=2)
        self.assertLess(result.fused["energy_pj"], result.total["energy_pj"])
        self.assertEqual(result.fused["unfused"]["energy_pj"], result.total["energy_pj"])
        self.assertEqual(len(result.fused["k_best"]), 1)
        named = sextant.map(str(files / "two.yaml"), str(files / "two.arch.yaml"), mapper="optimal", objective="energy",
                            fuse=["a"])
        self.assertEqual(named.fused["groups"][0]["tensors"][0]["name"], "a")
        both = sextant.map(str(files / "branches.yaml"), str(files / "levels.arch.yaml"), mapper="optimal", objective="energy",
                           fuse=True, exchange="GLB,L1", orders=3, row_loops=2)
        self.assertEqual(set(both.fused["peak"]), {"GLB", "L1"})
        self.assertEqual(both.fused["orders"], 3)
        with self.assertRaises(sextant.UsageError):
            sextant.map(str(files / "two.yaml"), str(files / "two.arch.yaml"), fuse=["b"])
        with self.assertRaises(TypeError):
            sextant.map(sextant.Problem("O[m] += A[m,k]*B[k] {m:4,k:4}"), "glb128", fuse=True)
        self.assertIsNone(sextant.map("O[m] += A[m,k]*B[k] {m:4,k:4}", "glb128").fused)

    def test_tokens_per_second(self):
        config = pathlib.Path(__file__).resolve().parents[2] / "tests/cli/files/llm/config.json"
        one = sextant.map(str(config), "a100", mapper="random", evals=20, phase="decode", context=15)
        two = sextant.map(str(config), "a100", mapper="random", evals=20, phase="decode", context=15, chips=2)
        self.assertGreater(one.serving["tokens_per_second"], 0)
        self.assertEqual(two.serving["chips"], 2)
        self.assertLess(two.serving["weight_bytes"], one.serving["weight_bytes"])
        self.assertEqual(two["q"].problem.dims["M"] * 2, one["q"].problem.dims["M"])
        with self.assertRaises(ValueError):
            sextant.map(str(config), "a100", fuse=True, phase="decode")


class Mapping(unittest.TestCase):
    def test_remainders_are_tried_beside_tiles_that_divide(self):
        layer = sextant.map("O[m,n] += A[m,k]*B[k,n] {m:197,n:197,k:64}", "accel-a").layers[0]
        self.assertTrue(layer.remainders)
        self.assertLess(layer.value * 1.4, layer.raw["dividing"]["objective"])
        self.assertTrue(0 < layer.any_lower_bound <= layer.value)
        self.assertEqual(layer.any_optimal, layer.raw["any_tiles"]["optimal"])
        other = sextant.map("O[m,n] += A[m,k]*B[k,n] {m:16,n:16,k:16}", "accel-a", mapper="optimal").layers[0]
        self.assertFalse(other.remainders or other.any_optimal or other.any_lower_bound)
        divided = sextant.map("O[m,n] += A[m,k]*B[k,n] {m:197,n:197,k:64}", "accel-a", no_remainders=True).layers[0]
        self.assertFalse(divided.remainders or divided.any_lower_bound)
        self.assertAlmostEqual(divided.value / layer.raw["dividing"]["objective"], 1)
        with self.assertRaisesRegex(ValueError, "contradict"):
            sextant.map("O[m] += A[m,k]*B[k] {m:4,k:4}", "glb128", remainders=True, no_remainders=True)

    def test_the_program_finds_the_same(self):
        result = sextant.map("resnet18/conv1", "eyeriss", mapper="gamma", evals=1000, seed=2)
        program = os.environ.get("SEXTANT_PROGRAM")
        if not program:
            self.skipTest("SEXTANT_PROGRAM is not set")
        said = subprocess.run([program, "map", "-p", "resnet18/conv1", "-a", "eyeriss", "--mapper", "gamma", "-n",
                               "1000", "-s", "2", "--json"], capture_output=True, text=True, check=True).stdout
        best = json.loads(said)["results"][0]
        self.assertEqual(best["best"]["edp"], result.edp)
        self.assertEqual(best["mapping"], result.mapping.to_dict())

    def test_shipped_surrogates_are_found(self):
        result = sextant.map("resnet-conv4", "accel-a", mapper="gradient", evals=50)
        self.assertTrue(result.found)

    def test_network_total_and_figure(self):
        layers = [(sextant.Problem(EINSUM), 2), (sextant.Problem(EINSUM.replace("64", "32")), 1)]
        result = sextant.map(layers, "accel-b", mapper="gamma", evals=300)
        self.assertEqual(result.total["cycles"], result[0].cycles * 2 + result[1].cycles)
        self.assertTrue(result.found)
        self.assertIn("MACs per byte", result.plot().svg)
        self.assertIn("evaluations", result.plot("convergence").svg)
        with self.assertRaisesRegex(ValueError, "'cost' or 'convergence'"):
            result.plot("pie")
        with self.assertRaisesRegex(ValueError, "2 layers"):
            result.mapping

    def test_results_are_saved_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            result = sextant.map(EINSUM, "accel-b", mapper="random", evals=100, pareto=True)
            result.save(path)
            again = sextant.MapResult.load(path)
            self.assertEqual((again.edp, again.mapping), (result.edp, result.mapping))
            self.assertEqual(again.layers[0].cost().edp, result.edp)
            self.assertIn("front", again.layers[0].plot().svg)
            self.assertEqual([p.value for p in again.pareto], [p.value for p in result.layers[0].pareto])
            self.assertEqual(again.plot().svg, result.plot().svg)

    def test_lists_are_results(self):
        result = sextant.map(EINSUM, "accel-b", mapper="random", evals=300, k_best=3)
        self.assertEqual(len(result.k_best), 3)
        self.assertEqual((result.k_best[0].mapping, result.k_best[0].value), (result.mapping, result.edp))
        self.assertTrue(result.k_best[0].value <= result.k_best[1].value <= result.k_best[2].value)
        self.assertEqual(sextant.evaluate(sextant.Problem(EINSUM), sextant.Arch("accel-b"), result.k_best[2].mapping).edp, result.k_best[2].score.edp)
        self.assertEqual(result.pareto, [])

    def test_constraints_hold(self):
        arch = EXAMPLES / "archs/lanes.yaml"
        free = sextant.map(EXAMPLES / "problems/matmul.yaml", arch, mapper="random", evals=300)
        held = sextant.map(EXAMPLES / "problems/matmul.yaml", arch, mapper="random", evals=300,
                           constraints=EXAMPLES / "constraints/lanes.yaml")
        self.assertNotEqual(free.mapping, held.mapping)

    def test_database_keeps_proofs(self):
        if "SQLite" not in sextant.features():
            self.skipTest("the library has no SQLite")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.db")
            first = sextant.map(EINSUM, "accel-b", db=path)
            second = sextant.map(EINSUM, "accel-b", db=path)
            self.assertTrue(first.optimal and second.optimal)
            self.assertTrue(second.layers[0].raw.get("proven_before"))


class Errors(unittest.TestCase):
    def test_place_and_hint(self):
        with self.assertRaises(sextant.InputError) as caught:
            sextant.Problem("O[m,n] += A[m,k]*B[k,n] {m:64,n:64}")
        self.assertTrue(caught.exception.message)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arch.yaml")
            pathlib.Path(path).write_text("architecture:\n  version: 0.4\n  nodes: [\n")
            with self.assertRaises(sextant.InputError) as caught:
                sextant.Arch(path)
            self.assertEqual(caught.exception.file, path)
            self.assertGreaterEqual(caught.exception.line, 3)
        with self.assertRaisesRegex(sextant.UsageError, "did you mean 'eyeriss'"):
            sextant.Arch("eyerist")
        with self.assertRaisesRegex(sextant.Error, "gama.*\n.*gamma"):
            sextant.map(EINSUM, "eyeriss", mapper="gama")
        with self.assertRaisesRegex(ValueError, "evals is -1"):
            sextant.map(EINSUM, "eyeriss", evals=-1)

    def test_result_of_another_version(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            sextant.map(EINSUM, "accel-b", mapper="random", evals=20).save(path)
            data = json.loads(pathlib.Path(path).read_text())
            newer = {**data, "architecture": 7, "repeat": {**data["repeat"], "version": "9.1.0"}}
            pathlib.Path(path).write_text(json.dumps(newer))
            with self.assertRaisesRegex(sextant.InputError, "result.json:1.*\n.*written by Sextant 9.1.0, this is 0"):
                sextant.MapResult.load(path)
            for change in ({"results": [{"problem": "x"}]}, {}, {**data, "architecture": 7}):
                pathlib.Path(path).write_text(json.dumps(change))
                with self.assertRaises(sextant.InputError) as caught:
                    sextant.MapResult.load(path)
                self.assertEqual(caught.exception.file, path)
            pathlib.Path(path).write_text("{")
            with self.assertRaisesRegex(sextant.InputError, "result.json:2:1"):
                sextant.MapResult.load(path)
            with self.assertRaises(FileNotFoundError):
                sextant.MapResult.load(os.path.join(folder, "none.json"))

    def test_database_in_use_or_of_others(self):
        if "SQLite" not in sextant.features():
            self.skipTest("the library has no SQLite")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.db")
            sextant.map(EINSUM, "accel-b", mapper="random", evals=20, db=path)
            other = sqlite3.connect(path)
            other.execute("BEGIN EXCLUSIVE")
            with self.assertRaisesRegex(sextant.FileError, "in use.*\n.*try again"):
                sextant.map(EINSUM, "accel-b", mapper="random", evals=20, db=path, db_wait=0.1)
            other.close()
            pathlib.Path(path).write_text("this is no database at all\n" * 100)
            with self.assertRaisesRegex(sextant.Error, "results.db"):
                sextant.map(EINSUM, "accel-b", mapper="random", evals=20, db=path)

    def test_library_missing_or_of_another_version(self):
        code = "import sextant"
        for library, said in (("/nowhere/libsextant.so.1", "cannot load libsextant"), ("libm.so.6", "sx_version")):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env={**os.environ, "SEXTANT_LIBRARY": library})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


class WithoutNumpy(unittest.TestCase):
    def test_lists_instead_of_arrays(self):
        code = ("import sys; sys.modules['numpy'] = None\n"
                "import sextant\n"
                f"model = sextant.Model(sextant.Problem('{EINSUM}'), sextant.Arch('accel-b'))\n"
                "mappings = sextant.Space(model).sample(20)\n"
                "scores = model.evaluate_batch(mappings)\n"
                "assert isinstance(scores.edp, list) and all(scores.legal)\n"
                "assert scores.edp[3] == model.evaluate(mappings[3]).edp\n"
                "print(len(scores))\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "20", done.stderr)


if __name__ == "__main__":
    unittest.main()
