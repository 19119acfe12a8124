"""`onbeat check` and `onbeat fmt` from outside: files, folders, exit codes, JSON."""

import json
import os
import pathlib
import tempfile
import unittest

from onbeat import run

GOOD = '--- ADDRESS ---\nlocalhost:50051\n\n--- ENDPOINT ---\na.B/C\n\n--- RESPONSE ---\n{ "a": 1 }\n'
UGLY = "--- ENDPOINT ---\na.B/C\n--- ADDRESS ---\nlocalhost:50051\n--- RESPONSE ---\n{a:1,}\n"
BAD = "--- ENDPOINT ---\na.B/C\n--- RESPONSE ---\n{ a: }\n--- ASSERT ---\n"
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("GRPCTESTIFY_")}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)


class Check(Folder):
    def test_a_good_file(self):
        result = run("check", self.write("good.gctf", GOOD), env=PLAIN)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "1 file, 0 errors, 0 warnings\n", ""))

    def test_all_problems_with_their_places(self):
        path = self.write("bad.gctf", BAD)
        result = run("check", path, env=PLAIN)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"error: {path}:4:6: a value is expected\n", result.stderr)
        self.assertIn(f"error: {path}:5:5: unknown section ASSERT\n", result.stderr)
        self.assertIn("did you mean ASSERTS?", result.stderr)
        self.assertIn(f"warning: {path}:1:5: ADDRESS is missing", result.stderr)
        self.assertEqual(result.stdout, "1 file, 2 errors, 1 warning\n")

    def test_warnings_alone_end_with_0(self):
        result = run("check", self.write("x.gctf", GOOD[GOOD.index("--- ENDPOINT"):]), env=PLAIN)
        self.assertEqual((result.returncode, result.stdout), (0, "1 file, 0 errors, 1 warning\n"))
        self.assertIn("ADDRESS is missing", result.stderr)
        quiet = run("check", str(self.folder / "x.gctf"), env={**PLAIN, "GRPCTESTIFY_ADDRESS": "h:1"})
        self.assertEqual(quiet.stderr, "")

    def test_json(self):
        path = self.write("bad.gctf", BAD)
        result = run("check", path, "--json", env=PLAIN)
        self.assertEqual((result.returncode, result.stderr), (2, ""))
        report = json.loads(result.stdout)
        self.assertEqual((report["schema"], report["files"], report["errors"], report["warnings"]), ("onbeat.check/1", 1, 2, 1))
        self.assertEqual(report["problems"][-1],
                         {"file": path, "line": 5, "column": 5, "severity": "error", "code": "unknown_section",
                          "message": "unknown section ASSERT", "hint": "did you mean ASSERTS?"})

    def test_folders_and_standard_input(self):
        self.write("sub/deeper/one.gctf", GOOD)
        self.write("sub/two.gctf", GOOD)
        self.write("sub/three.txt", "nothing of ours")
        self.assertEqual(run("check", str(self.folder), env=PLAIN).stdout, "2 files, 0 errors, 0 warnings\n")
        result = run("check", "-", input=BAD, stdin=None, env=PLAIN)
        self.assertIn("error: standard input:4:6: a value is expected", result.stderr)

    def test_what_cannot_be_read(self):
        (self.folder / "empty").mkdir()
        result = run("check", str(self.folder / "none.gctf"), str(self.folder / "empty"), env=PLAIN)
        self.assertEqual(result.returncode, 2)
        self.assertIn("No such file or directory", result.stderr)
        self.assertIn("has no .gctf file", result.stderr)
        self.assertIn("a file is missing", run("check").stderr)

    def test_sources_and_their_columns(self):
        self.write("items.csv", "sku,tenant\n1,a\n")
        text = ("--- BENCH ---\nsources:\n  - name: item\n    file: items.csv\n" + GOOD +
                '--- REQUEST_HEADERS ---\nx: {{item.tenat}}\n')
        result = run("check", self.write("x.gctf", text), env=PLAIN)
        self.assertIn('x.gctf:14:6: unknown variable "item.tenat"', result.stderr)
        self.assertIn("did you mean item.tenant?", result.stderr)
        self.assertEqual(run("check", self.write("x.gctf", text.replace("tenat", "tenant")), env=PLAIN).returncode, 0)
        self.write("items.csv", "sku,tenant\n1\n")
        self.assertEqual(run("check", str(self.folder / "x.gctf"), env=PLAIN).returncode, 2)
        os.unlink(self.folder / "items.csv")
        missing = run("check", str(self.folder / "x.gctf"), env=PLAIN)
        self.assertEqual(missing.returncode, 0)
        self.assertIn("items.csv is missing", missing.stderr)

    def test_files_that_sections_name(self):
        result = run("check", self.write("x.gctf", "--- TLS ---\nca_file: ca.pem\n--- PROTO ---\nfiles: a.proto\n" + GOOD),
                     env=PLAIN)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"{self.folder}/ca.pem is no file", result.stderr)
        self.assertIn(f"{self.folder}/a.proto is no file", result.stderr)


class Fmt(Folder):
    def test_prints(self):
        path = self.write("ugly.gctf", UGLY)
        result = run("fmt", path)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, GOOD, ""))
        self.assertEqual(pathlib.Path(path).read_text(encoding="utf-8"), UGLY)
        self.assertEqual(run("fmt", "-", input=UGLY, stdin=None).stdout, GOOD)

    def test_writes(self):
        path = self.write("ugly.gctf", UGLY)
        good = self.write("good.gctf", GOOD)
        before = os.stat(good).st_mtime_ns
        result = run("fmt", "-w", str(self.folder))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(pathlib.Path(path).read_text(encoding="utf-8"), GOOD)
        self.assertEqual(os.stat(good).st_mtime_ns, before)

    def test_checks(self):
        path = self.write("ugly.gctf", UGLY)
        self.write("good.gctf", GOOD)
        result = run("fmt", "--check", str(self.folder))
        self.assertEqual((result.returncode, result.stdout), (1, path + "\n"))
        self.assertEqual(pathlib.Path(path).read_text(encoding="utf-8"), UGLY)
        run("fmt", "-w", path)
        self.assertEqual(run("fmt", "--check", str(self.folder)).returncode, 0)

    def test_a_broken_file_stays_as_it_is(self):
        bad = self.write("bad.gctf", BAD)
        ugly = self.write("ugly.gctf", UGLY)
        result = run("fmt", "-w", bad, ugly)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"{bad}:4:6: a value is expected", result.stderr)
        self.assertEqual(pathlib.Path(bad).read_text(encoding="utf-8"), BAD)
        self.assertEqual(pathlib.Path(ugly).read_text(encoding="utf-8"), GOOD, "the others are dealt with")


if __name__ == "__main__":
    unittest.main()
