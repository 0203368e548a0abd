"""Commands as functions, and what notebooks show."""
import os
import signal
import threading
import time
import unittest
import warnings

import sextant

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "files")
PROBLEM = "O[m,n] += A[m,k]*B[k,n] {m:8,n:8,k:8}"


class Commands(unittest.TestCase):
    def test_answers_are_the_programs_json(self):
        answer = sextant.space(arch="glb128", problem=PROBLEM)
        self.assertEqual(answer.exit_code, 0)
        self.assertEqual(answer["arch"], "glb128")
        self.assertIn("<details", answer._repr_html_())

    def test_objects_are_arguments(self):
        chosen = sextant.codesign(arch=sextant.Arch("glb128"), problem=sextant.Problem(PROBLEM), choose="GLB=1024,131072", evals=200)
        self.assertTrue(chosen["best"])
        result = sextant.map(PROBLEM, "glb128", evals=500)
        cost = sextant.commands.eval(arch="glb128", problem=PROBLEM, mapping=result.mapping)
        self.assertEqual(cost["cycles"], result.cycles)

    def test_lists_and_flags(self):
        once = sextant.compare(arch="glb128", problem=PROBLEM, mapper=["random", "gamma"], evals=50, seeds=2)
        self.assertEqual({row["mapper"] for row in once["rows"]}, {"random", "gamma"})

    def test_every_command_is_a_function_with_its_options(self):
        for name in ("codesign", "compare", "systolic", "place", "train", "verify", "calibrate", "report", "space"):
            call = getattr(sextant.commands, name)
            self.assertEqual(call.__name__, name)
            self.assertIn("output", call.__signature__.parameters)
            self.assertTrue(call.__doc__)

    def test_errors_have_hints(self):
        with self.assertRaises(sextant.UsageError) as caught:
            sextant.codesign(arch="glb128", problm=PROBLEM)
        self.assertIn("did you mean problem?", str(caught.exception))
        with self.assertRaises(sextant.FileError) as caught:
            sextant.space(arch="glb129", problem=PROBLEM)
        self.assertIn("glb128", str(caught.exception))
        with self.assertRaises(AttributeError):
            sextant.mapp

    def test_errors_have_places_and_kinds(self):
        with self.assertRaises(sextant.InputError) as caught:
            sextant.list(os.path.join(FILES, "cycle.graph.yaml"))
        self.assertEqual((caught.exception.line, caught.exception.column), (8, 5))
        self.assertTrue(caught.exception.file.endswith("cycle.graph.yaml"))
        with self.assertRaises(sextant.WriteError):
            sextant.list("placers", output="/dev/full")

    def test_every_answer_says_whether_it_is_complete(self):
        answer = sextant.list("placers")
        self.assertEqual((answer["complete"], answer["interrupted"], answer["warnings"]), (True, False, []))

    def test_no_legal_answer_is_an_answer(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = sextant.commands.map(arch="glb128", problem=PROBLEM, mapper="random", evals=1, target=1)
        self.assertIn(answer.exit_code, (0, 1))

    def test_ctrl_c_gives_the_best_so_far(self):
        def interrupt():
            time.sleep(1.5)
            os.killpg(0, signal.SIGINT)

        os.setpgrp()  # only this test and its command have the signal
        threading.Thread(target=interrupt).start()
        answer = sextant.commands.map(arch="eyeriss", problem="resnet18/conv1", mapper="random", evals=10**12)
        self.assertTrue(answer.interrupted)
        self.assertTrue(answer["results"][0]["best"])


class Sources(unittest.TestCase):
    def test_what_the_program_takes(self):
        self.assertEqual(sextant.Problem("16x8x4").computes, 512)
        model = os.path.join(os.path.dirname(__file__), "../golden/onnx/alexnet.dynamo.onnx")
        network = sextant.Network(model)
        name = next(iter(network.layers))
        self.assertEqual(sextant.Problem(f"{model}/{name}").computes, network.layer(name).computes)
        self.assertGreater(len(sextant.map(model, "glb128", mapper="sunstone").layers), 5)
        decode = sextant.Network("llama-3-8b", phase="decode", context=4096)
        self.assertEqual(decode.layer("q").computes, 4096 * 4096)


class Shown(unittest.TestCase):
    def test_every_object_has_html(self):
        result = sextant.map(PROBLEM, "glb128", evals=500)
        self.assertIn("GLB", sextant.Arch("glb128")._repr_html_())
        self.assertIn("<td", sextant.Problem(PROBLEM)._repr_html_())
        self.assertIn("conv1", sextant.Network("resnet18")._repr_html_())
        self.assertIn("in [0:", result.mapping._repr_html_())
        self.assertIn("<table", result._repr_html_())

    def test_names_are_text(self):
        self.assertNotIn("<b>", sextant.commands.html.table(["<b>"], [("<b>", 1)]))


if __name__ == "__main__":
    unittest.main()
