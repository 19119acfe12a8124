"""Runs that are searched for and compared, from outside."""

import json
import os
import pathlib
import unittest

import jsonschema

import onbeat

SCHEMA = json.loads((onbeat.ROOT / "docs" / "compare.schema.json").read_text())

# What a busy host makes of the generator is not what is tested here.
TRUSTING = [word for limit in ("lag_p99.degraded=1m", "lag_p99.invalid=1m", "busiest_loop.degraded=100%",
                               "loop_turn_p99.degraded=1m", "stalls.degraded=100%", "steal.degraded=100%")
            for word in ("--limit", limit)]


class Adaptive(unittest.TestCase):
    def test_a_gate_on_the_rate_found(self):
        # The threshold is never broken; the highest rate allowed is reached.
        with onbeat.Target("--delay", "5ms") as target:
            words = (target.url, "--mode", "adaptive", "--rate", "50", "--max-rate", "100", "--threshold", "p(50) < 2s",
                     *TRUSTING)
            report = onbeat.report(*words, "--threshold", "rate > 90/s")
            onbeat.books(self, report)
            self.assertEqual(report["search"]["rate"], 100)
            self.assertEqual([step["kind"] for step in report["steps"]], ["probe", "probe", "hold", "hold", "hold"])
            counted = [step for step in report["steps"] if step["counted"]]
            self.assertEqual([step["kind"] for step in counted], ["hold"] * 3)
            for key in ("planned", "started", "ok"):
                self.assertEqual(sum(step["counts"][key] for step in counted), report["counts"][key])
            self.assertEqual(report["duration_ns"]["issue"], sum(step["duration_ns"]["issue"] for step in counted))
            self.assertEqual(report["latency"]["response"]["count"],
                             sum(step["latency"]["response"]["count"] for step in counted))
            self.assertEqual(report["run"]["end_reason"], "converged")
            self.assertAlmostEqual(report["rates"]["planned"], 100, delta=1)

    def test_where_nothing_holds(self):
        with onbeat.Target("--delay", "30ms") as target:
            report = onbeat.report(target.url, "--mode", "adaptive", "-d", "4s", "--rate", "100", "--threshold",
                                   "p(50) < 20ms", *TRUSTING, code=1)
            onbeat.books(self, report)
            self.assertIsNone(report["search"]["rate"])
            self.assertIn("search", onbeat.reasons(report))
            self.assertFalse(any(step["held"] for step in report["steps"]))
            self.assertLess(report["search"]["elapsed_ns"], 4.5e9)

    def test_the_stream_has_all_steps(self):
        with onbeat.Target() as target, onbeat.folder() as folder:
            stream = pathlib.Path(folder, "stream")
            report = onbeat.report(target.url, "--mode", "adaptive", "-d", "3s", "--rate", "100", "--max-rate", "100",
                                   "--threshold", "p(50) < 2s", *TRUSTING, "--stream", str(stream))
            lines = [json.loads(line) for line in stream.read_text().splitlines()]
            intervals = [line for line in lines if line["type"] == "interval"]
            events = [event for line in intervals for event in line["events"]]
            self.assertEqual(len([event for event in events if event.startswith("step ")]), len(report["steps"]))
            ends = [line["end_ns"] for line in intervals]
            self.assertEqual(ends, sorted(ends))

    def test_refused(self):
        result = onbeat.run("http", "http://127.0.0.1:1/", "--mode", "adaptive")
        self.assertEqual(result.returncode, 2)
        self.assertIn("adaptive needs a --threshold", result.stderr)

    def test_dry_run_sends_nothing(self):
        result = onbeat.run("http", f"http://127.0.0.1:{onbeat.free_port()}/", "--mode", "adaptive", "--threshold",
                            "p99 < 1s", "--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("adaptive, even, within 1m", result.stdout)
        self.assertIn("first rate           1,000/s", result.stdout)


class MeasuredAdaptive(unittest.TestCase):
    """ONBEAT_SEARCHES says how many searches are made, of about 20 s each; the rates they found are printed."""

    CAPACITY = 1e6 / 770  # per second; no rate that the probes try

    def test_a_single_server_of_known_capacity(self):
        with onbeat.Target("--service-time", "770us") as target:
            for number in range(int(os.environ.get("ONBEAT_SEARCHES", "1"))):
                with self.subTest(search=number + 1):
                    report = onbeat.report(target.url, "--mode", "adaptive", "--threshold", "p(99) < 50ms",
                                           "--allow-invalid", code=None)
                    search = report["search"]
                    print(f"found {search['rate']:.1f}/s of {self.CAPACITY:.1f}/s, {len(report['steps'])} steps in "
                          f"{search['elapsed_ns'] / 1e9:.1f} s", flush=True)
                    self.assertTrue(search["converged"], search)
                    self.assertAlmostEqual(search["rate"] / self.CAPACITY, 1, delta=0.05)


class Compare(unittest.TestCase):
    """Runs against targets whose answers take 2 and 8 ms: a difference that no noise hides."""

    @classmethod
    def setUpClass(cls):
        cls.folder = onbeat.folder()
        for name, delay in (("base", "2ms"), ("slow", "8ms"), ("again", "2ms")):
            with onbeat.Target("--delay", delay) as target:
                for number in range(4):
                    # What a busy host makes of the figures is not what is tested here.
                    result = onbeat.run("http", target.url, "-c", "20", "-d", "500ms", "--quiet", "--allow-invalid",
                                        "--out", f"json={cls.file(name, number)}")
                    if result.returncode != 0:
                        raise AssertionError(result.stderr + result.stdout)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def file(cls, name, number):
        return str(pathlib.Path(cls.folder.name, f"{name}-{number}.json"))

    def files(self, name, count=4):
        return [self.file(name, number) for number in range(count)]

    def write(self, name, text):
        path = pathlib.Path(self.folder.name, name)
        path.write_text(text)
        return str(path)

    def compare(self, *words):
        return onbeat.run("compare", *words, "--allow-invalid")

    def test_a_regression(self):
        outputs = {name: pathlib.Path(self.folder.name, "out." + name) for name in ("json", "html", "markdown", "text")}
        words = [word for name, path in outputs.items() for word in ("--out", f"{name}={path}")]
        result = self.compare(*self.files("base"), "--to", *self.files("slow"), *words)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertTrue(result.stdout.startswith("WORSE"), result.stdout)
        document = json.loads(outputs["json"].read_text())
        jsonschema.validate(document, SCHEMA)
        metrics = {difference["metric"]: difference for difference in document["differences"]}
        self.assertEqual(metrics["ok_rate"]["change"], "regressed")
        self.assertLess(metrics["ok_rate"]["effect_percent"], -50)
        self.assertLess(metrics["ok_rate"]["interval"]["high"], 0)
        self.assertGreater(metrics["service.p50"]["effect_percent"], 100)
        self.assertNotIn("response.p50", metrics, "of a closed run it is the service time")
        self.assertIn("<html", outputs["html"].read_text())
        self.assertRegex(outputs["markdown"].read_text(), r"\n\| ok.{1,6}rate .*WORSE \|\n")
        self.assertEqual(outputs["text"].read_text(), result.stdout)

    def test_the_other_way_round_it_is_better(self):
        result = self.compare(*self.files("slow"), "--to", *self.files("base"))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("better", result.stdout)

    def test_without_a_difference(self):
        result = self.compare(*self.files("base"), "--to", *self.files("again"), "--min-effect", "60%")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertTrue(result.stdout.startswith("PASSED"), result.stdout)

    def test_too_few_runs(self):
        result = self.compare(*self.files("base"), "--to", *self.files("slow", 3), "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        document = json.loads(result.stdout)
        jsonschema.validate(document, SCHEMA)
        self.assertEqual(document["new"]["runs"], 3)
        self.assertFalse(document["conclusive"])
        self.assertTrue(any("nothing significant can be stated" in text for text in document["warnings"]))

    def test_a_file_may_hold_several_reports(self):
        together = self.write("together.json", "".join(pathlib.Path(name).read_text() for name in self.files("slow")))
        apart = self.compare(*self.files("base"), "--to", *self.files("slow"))
        self.assertEqual(self.compare(*self.files("base"), "--to", together).returncode, 1)
        repeated = [word for name in self.files("slow") for word in ("--to", name)]
        self.assertEqual(self.compare(*self.files("base"), *repeated).stdout, apart.stdout)

    def test_what_is_no_report(self):
        broken, base, slow = self.write("broken.json", "{}"), self.file("base", 0), self.file("slow", 0)
        for words, says in (((broken, "--to", base), "schema: is missing"),
                            (("/no/such", "--to", base), "No such file"),
                            ((base,), "the new reports are missing"),
                            (("--to", base), "the reports to compare with are missing"),
                            ((base, "--to", slow, "--gate", "p98"), "no metric"),
                            ((base, "--to", slow, "--min-effect", "x"), "--min-effect"),
                            ((base, "--to", slow, "--out", "junit=x"), "--out"),
                            ((base, "--to", slow, "--out", "json=/no/such/file"), "--out")):
            with self.subTest(words=words):
                result = self.compare(*words)
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertIn(says, result.stderr)

    def test_invalid_runs_are_refused(self):
        document = json.loads(pathlib.Path(self.file("slow", 0)).read_text())
        document["verdict"]["status"] = "invalid"
        invalid = self.write("invalid.json", json.dumps(document))
        result = onbeat.run("compare", *self.files("base"), "--to", invalid)
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("invalid.json: the measurement is invalid", " ".join(result.stdout.split()))


if __name__ == "__main__":
    unittest.main()
