"""Runs that are searched for, repeated and compared, from outside."""

import os
import unittest

import onbeat


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
            import json
            import pathlib
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


if __name__ == "__main__":
    unittest.main()
