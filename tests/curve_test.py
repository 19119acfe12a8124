"""Latency curves from outside."""

import json
import pathlib
import unittest

import onbeat


def curve(*words, code=0):
    result = onbeat.run("curve", *words, "--json", "--quiet", "--allow-invalid")
    if result.returncode != code:
        raise AssertionError(f"exit {result.returncode} instead of {code}\n{result.stderr}")
    return json.loads(result.stdout)


class Curve(unittest.TestCase):
    def test_the_steps_are_the_run(self):
        with onbeat.Target() as target, onbeat.folder() as folder:
            stream = pathlib.Path(folder, "stream")
            report = curve(target.url, "--rates", "50,100,200", "-d", "500ms", "--stream", str(stream))
            events = [event for line in stream.read_text().splitlines() for event in json.loads(line).get("events", [])]
        onbeat.books(self, report)
        steps = report["steps"]
        self.assertEqual([(step["kind"], step["rate"]) for step in steps], [("curve", 50), ("curve", 100), ("curve", 200)])
        self.assertEqual([step["counts"]["planned"] for step in steps], [25, 50, 100])
        for key in ("planned", "started", "ok"):
            self.assertEqual(sum(step["counts"][key] for step in steps), report["counts"][key])
        self.assertEqual(report["duration_ns"]["issue"], sum(step["duration_ns"]["issue"] for step in steps))
        self.assertEqual(set(report["curve"]), {"knee", "why_not"})
        self.assertEqual(report["curve"]["knee"] is None, report["curve"]["why_not"] is not None)
        self.assertEqual([event for event in events if event.startswith("step ")],
                         ["step 1, curve at 50/s", "step 2, curve at 100/s", "step 3, curve at 200/s"])
        self.assertEqual(report["load"]["text"], "latency curve, even, 3 rates from 50/s to 200/s, 500 ms each")

    def test_every_format(self):
        with onbeat.Target() as target, onbeat.folder() as folder:
            files = {name: pathlib.Path(folder, name) for name in ("html", "markdown", "json")}
            outs = [word for name, path in files.items() for word in ("--out", f"{name}={path}")]
            result = onbeat.run("curve", target.url, "--rates", "50..200", "--steps", "3", "-d", "200ms", "--quiet",
                                "--allow-invalid", *outs)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"(?m)^knee +\S")
            self.assertRegex(result.stdout, r"(?m)^ curve +100/s ")
            self.assertIn("Response time by rate", files["html"].read_text())
            self.assertIn("| curve | 100/s |", files["markdown"].read_text())
            again = onbeat.run("report", str(files["json"]), "--out", f"html={folder}/again")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(pathlib.Path(folder, "again").read_text(), files["html"].read_text())

    def test_dry_run_sends_nothing(self):
        url = f"http://127.0.0.1:{onbeat.free_port()}/"
        result = onbeat.run("curve", url, "--rates", "1k..16k", "--steps", "5", "-d", "2s", "--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        for rate in ("1,000/s", "2,000/s", "4,000/s", "8,000/s", "16,000/s"):
            self.assertRegex(result.stdout, rf"(?m)^step +{rate} for 2 s$")

    def test_refused(self):
        for words, says in (((), "a curve needs the rates to be tried"),
                            (("--rates", "20k..1k"), "the rates must rise"),
                            (("--rates", "1k..1k"), "the rates must rise"),
                            (("--rates", "1k"), "two rates at least"),
                            (("--rates", "nan..2k"), "finite"),
                            (("--rates", "0..2k"), "a rate of 0 sends nothing"),
                            (("--rates", "1..2", "--steps", "0"), "must be at least 2"),
                            (("--rates", "1,2", "--steps", "3"), "a list of rates says by itself"),
                            (("--rates", "1..2", "-d", "0"), "must be longer than 0"),
                            (("--rates", "1..2", "--rate", "5"), "does not apply to `curve`"),
                            (("--rates", "1..2", "--threshold", "p99 < 1s"), "does not apply to `curve`")):
            with self.subTest(words=words):
                result = onbeat.run("curve", "http://127.0.0.1:1/", *words)
                self.assertEqual(result.returncode, 2)
                self.assertIn(says, result.stderr)


class MeasuredCurve(unittest.TestCase):
    def test_the_knee_of_a_single_server_is_its_capacity(self):
        with onbeat.Target("--service-time", "2ms") as target:
            report = curve(target.url, "--rates", "100..2k", "--steps", "6", "-d", "2s")
        rates = [step["rate"] for step in report["steps"]]
        within = [rate for rate in rates if rate <= 500]
        self.assertEqual(report["curve"], {"knee": within[-1], "why_not": None})
        self.assertEqual([step["held"] for step in report["steps"]], [rate <= 500 for rate in rates])

    def test_a_range_without_a_knee_says_so(self):
        with onbeat.Target("--service-time", "2ms") as target:
            report = curve(target.url, "--rates", "50,100,200,400", "-d", "2s")
        self.assertIsNone(report["curve"]["knee"])
        self.assertIn("no knee up to 400/s", report["curve"]["why_not"])


if __name__ == "__main__":
    unittest.main()
