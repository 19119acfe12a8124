#!/usr/bin/python3
"""The gates of docs/ci.md, run as the CI systems would: their scripts in a shell, against a real target that is good, and
one that is too slow."""

import os
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree

import yaml

import onbeat

DOCUMENT = (onbeat.ROOT / "docs/ci.md").read_text(encoding="utf-8")


def sample(name):
    return yaml.safe_load(re.search(rf"^```yaml {re.escape(name)}\n(.*?)^```$", DOCUMENT, re.M | re.S).group(1))


def github():
    steps = sample("load-test.yml")["jobs"]["load"]["steps"]
    script, = [step["run"] for step in steps if step.get("name") == "Load"]
    return script


def gitlab():
    return "\n".join(sample("gitlab-ci.yml")["load"]["script"])


class Gates(unittest.TestCase):
    def gate(self, script, target, folder):
        """Runs a script of the document, shortened, with its service at the target: the exit code."""
        for text, instead in (("http://127.0.0.1:8080/", target.url), ("-d 30s", "-d 2s"), ("--warmup 5s", "--warmup 1s")):
            self.assertIn(text, script)
            script = script.replace(text, instead)
        path = pathlib.Path(folder)
        (path / "bin").mkdir(exist_ok=True)
        (path / "bin/onbeat").unlink(missing_ok=True)
        os.symlink(onbeat.ONBEAT, path / "bin/onbeat")
        variables = {"PATH": f"{path}/bin:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(path / "summary.md")}
        return subprocess.run(["sh", "-e", "-c", script], cwd=folder, env=variables, capture_output=True, text=True,
                              timeout=onbeat.LIMIT, check=False)

    def cases(self, folder):
        suite = xml.etree.ElementTree.parse(pathlib.Path(folder) / "onbeat.xml").getroot()
        return [(case.get("name"), case.find("failure") is not None) for case in suite.iter("testcase")]

    def test_a_good_service_passes(self):
        for name, script in (("github", github()), ("gitlab", gitlab())):
            with self.subTest(system=name), onbeat.Target() as target, onbeat.folder() as folder:
                result = self.gate(script, target, folder)
                # A busy host can make the measurement invalid, which is no matter of the gate.
                self.assertIn(result.returncode, (0, 3), result.stdout + result.stderr)
                self.assertIn("PASS    error_rate < 0.1%", result.stdout)
                self.assertFalse(any(failed for case, failed in self.cases(folder) if "error_rate" in case))
                summary = pathlib.Path(folder) / ("summary.md" if name == "github" else "onbeat.md")
                self.assertIn("0.1%", summary.read_text(encoding="utf-8"))
                for kept in ("onbeat.html", "onbeat.json"):
                    self.assertTrue((pathlib.Path(folder) / kept).stat().st_size > 1000)

    def test_a_slow_service_is_held_back(self):
        for name, script in (("github", github()), ("gitlab", gitlab())):
            with self.subTest(system=name), onbeat.Target("--delay", "80ms") as target, onbeat.folder() as folder:
                result = self.gate(script, target, folder)
                self.assertIn(result.returncode, (1, 3), result.stdout + result.stderr)
                self.assertIn("FAIL    p(99) < 50ms", result.stdout)
                self.assertTrue(any(failed for case, failed in self.cases(folder) if "p(99)" in case))

    def test_both_gates_ask_the_same(self):
        flags = [sorted(re.findall(r"--threshold '[^']*'", script)) for script in (github(), gitlab())]
        self.assertEqual(flags[0], flags[1])
        self.assertEqual(len(flags[0]), 3)

    def test_a_measurement_that_is_not_trusted_is_repeated(self):
        self.assertEqual(sample("gitlab-ci.yml")["load"]["retry"], {"max": 1, "exit_codes": [3]})


if __name__ == "__main__":
    unittest.main()
